package foresight_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
	"github.com/mayflydb/mayfly/internal/store"
)

var (
	seed = flag.Uint64("seed", 0, "replay TestForesight with this seed")
	runs = flag.Int("runs", 40, "runs of TestForesight")
)

// TestForesight asks what will end on random data, then moves the time and counts what has. A failure names the seed:
// replay it with -seed.
func TestForesight(t *testing.T) {
	for run := range *runs {
		s := *seed
		if s == 0 {
			s = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) { play(t, s) })
		if *seed != 0 || run == *runs {
			return
		}
	}
}

// A player does random things to a world.
type player struct {
	*world
	rng   *rand.Rand
	mongo bool
	names int
	log   []string
}

func play(t *testing.T, seed uint64) {
	p := &player{rng: rand.New(rand.NewPCG(seed, 7))}
	p.mongo = p.rng.IntN(2) == 0
	def := noSQL(p.someTTL())
	def.Partitions = []int{1, 4}[p.rng.IntN(2)]
	if p.mongo {
		def = mongo(p.someTTL())
	}
	if p.rng.IntN(5) == 0 {
		p.world = worldOn(t, onDisk(t), def)
	} else {
		p.world = newWorld(t, def)
	}
	defer func() {
		if t.Failed() {
			t.Logf("steps:\n%s", strings.Join(p.log[max(0, len(p.log)-60):], "\n"))
		}
	}()
	for range 1 + p.rng.IntN(3) {
		for range 20 + p.rng.IntN(150) {
			p.step()
		}
		p.explainAll()
		p.lifetimesAll()
		p.expiring()
		p.preview()
		if t.Failed() {
			return
		}
	}
	for range 30 {
		p.step()
	}
	p.forecast()
}

func (p *player) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf("%d: ", p.now)+fmt.Sprintf(format, args...))
}

func (p *player) step() {
	switch n := p.rng.IntN(100); {
	case n < 80:
		p.writeOne()
	case n < 90:
		switch span := p.span(); p.rng.IntN(3) {
		case 0:
			p.now += span
		case 1: // to a full hour
			p.now += 3600 - p.now%3600
		default:
			p.now += span / 8
		}
		p.note("time passes")
	case n < 93:
		p.changeTTL()
	case n < 96:
		p.changeIndexes()
	default:
		p.reclaim()
	}
}

// span is from seconds to months. Some are those of the windows, so that deadlines meet their ends.
func (p *player) span() int64 {
	const hour, day = 3600, 86400
	if p.rng.IntN(3) == 0 {
		return []int64{hour, day, 7 * day, 30 * day}[p.rng.IntN(4)]
	}
	most := []int64{1, 60, hour, 3 * hour, day, 3 * day, 10 * day, 40 * day, 100 * day}[p.rng.IntN(9)]
	return 1 + p.rng.Int64N(most)
}

func (p *player) someTTL() expiry.TTL {
	switch p.rng.IntN(4) {
	case 0:
		return expiry.Unset
	case 1:
		return expiry.Never
	}
	return expiry.TTL(p.span())
}

func (p *player) writeOne() {
	id := p.rng.IntN(60)
	verb := []store.Verb{store.Upsert, store.Upsert, store.Upsert, store.Replace, store.Delete}[p.rng.IntN(5)]
	op := store.Op{Verb: verb, Lenient: true}
	d := bson.D{{Key: "_id", Value: int64(id)}}
	op.Key = store.Identity(doc.Int(int64(id)))
	if !p.mongo {
		pk := string('p' + rune(p.rng.IntN(5))) // in three ranges of four
		d = bson.D{{Key: "id", Value: fmt.Sprint(id)}, {Key: "pk", Value: pk}}
		op.Key = itemKey(pk, fmt.Sprint(id))
	}
	if verb != store.Delete {
		body, err := bson.Marshal(p.body(d))
		p.ok(err)
		op.Body = body
	}
	_, err := p.store.Write(ctx, p.c, p.now, op)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		p.ok(err)
	}
	p.note("verb %d of %s: %s %v", verb, fmt.Sprint(id), doc.AppendJSON(nil, op.Body), err)
}

func (p *player) body(d bson.D) bson.D {
	add := func(name string, often int, v any) {
		if p.rng.IntN(often) == 0 {
			d = append(d, bson.E{Key: name, Value: v})
		}
	}
	ttls := []any{int64(-1), p.span(), p.span(), float64(p.span()), int64(0), "60", 20.5, nil, true, int64(1) << 31}
	add("ttl", 2, ttls[p.rng.IntN(len(ttls))])
	add("on", 2, p.rng.IntN(2) == 0)
	add("at", 2, p.date())
	add("from", 2, []any{p.now - p.span(), p.now + p.span(), "soon", float64(p.now) + 0.7}[p.rng.IntN(4)])
	list := bson.A{}
	for range p.rng.IntN(4) {
		list = append(list, p.date())
	}
	add("list", 3, list)
	add("rest", 1, strings.Repeat("x", p.rng.IntN(200)))
	return d
}

// date is one before or after the present, with milliseconds or without.
func (p *player) date() any {
	if p.rng.IntN(8) == 0 {
		return []any{"soon", nil, p.now * 1000, true}[p.rng.IntN(4)]
	}
	ms := 1000*(p.now+p.span()) + int64(p.rng.IntN(2))*p.rng.Int64N(1000)
	if p.rng.IntN(4) == 0 {
		ms -= 2000 * p.span()
	}
	return bson.DateTime(ms)
}

// change is a random change of the policy, with what makes it real.
func (p *player) changeTTL() {
	ttl, property := p.someTTL(), ""
	if !p.mongo && ttl != expiry.Unset && p.rng.IntN(3) == 0 {
		property = "/from"
	}
	p.note("default %d from %q: %v", ttl, property, p.replace(ttl, property))
}

func (p *player) changeIndexes() {
	if !p.mongo {
		return
	}
	st := p.c.State()
	if len(st.Named) > 3 || len(st.Named) > 0 && p.rng.IntN(3) == 0 {
		at := p.rng.IntN(len(st.Named))
		p.note("index %s goes", st.Named[at].Name)
		p.setIndexes(func(list []catalog.NamedIndex) []catalog.NamedIndex { return slices.Delete(list, at, at+1) })
		return
	}
	p.names++
	x := catalog.NamedIndex{
		Name: fmt.Sprint("x", p.names), Expires: p.rng.IntN(4) > 0,
		Columns: []catalog.NamedColumn{{Path: []string{"at", "list"}[p.rng.IntN(2)], Descending: p.rng.IntN(3) == 0}},
	}
	if x.Expires && p.rng.IntN(3) > 0 {
		x.Seconds = int32(p.span())
	}
	if p.rng.IntN(3) == 0 {
		x.Partial = onFilter
	}
	p.note("index %+v: %v", x, p.index(x))
}

func (p *player) setIndexes(change func([]catalog.NamedIndex) []catalog.NamedIndex) error {
	_, err := p.catalog.ReplaceIndexes(ctx, p.now, p.c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
		return change(slices.Clone(st.Named)), nil
	})
	return err
}

func (p *player) reclaim() {
	if p.rng.IntN(2) == 0 {
		return
	}
	_, err := p.store.Reclaim(ctx, p.c, p.now, 1+p.rng.IntN(20))
	p.ok(err)
	if p.rng.IntN(2) == 0 {
		_, err = p.store.Sweep(ctx, p.c, 1+p.rng.IntN(30))
		p.ok(err)
	}
	p.note("reclaim")
}

var onFilter, _ = bson.Marshal(bson.D{{Key: "on", Value: true}})

// An imagined change is what to ask about, and how to make it real.
type imagined struct {
	foresight.Change
	apply func() error
}

// imagine makes a random change.
func (p *player) imagine() imagined {
	st := p.c.State()
	if p.mongo && p.rng.IntN(3) > 0 {
		return p.imagineDates(st)
	}
	ttl := p.someTTL()
	x := imagined{apply: func() error { return p.replace(ttl, "") }}
	x.Default, x.Property = &ttl, pointer("")
	switch {
	case p.rng.IntN(6) == 0: // nothing changes
		return imagined{apply: func() error { return nil }}
	case !p.mongo && ttl != expiry.Unset && p.rng.IntN(3) == 0:
		x.Property = pointer("/from")
		x.apply = func() error { return p.replace(ttl, "/from") }
	}
	return x
}

func (p *player) imagineDates(st *catalog.State) imagined {
	ttls := slices.Collect(func(yield func(catalog.NamedIndex) bool) {
		for _, x := range st.Named {
			if x.Expires && !yield(x) {
				return
			}
		}
	})
	seconds := int32(p.span())
	if len(ttls) > 0 && p.rng.IntN(2) == 0 {
		x := ttls[p.rng.IntN(len(ttls))]
		// Another index may have the same rule, which the change is then about as well.
		twin := func(y catalog.NamedIndex) bool {
			return y.Expires && y.Columns[0].Path == x.Columns[0].Path && string(y.Partial) == string(x.Partial)
		}
		if p.rng.IntN(2) == 0 {
			return imagined{
				foresight.Change{Dates: []foresight.DateChange{{Index: x.Name}}},
				func() error {
					return p.setIndexes(func(list []catalog.NamedIndex) []catalog.NamedIndex {
						return slices.DeleteFunc(list, twin)
					})
				},
			}
		}
		if !slices.ContainsFunc(ttls, func(y catalog.NamedIndex) bool { return y.ID != x.ID && twin(y) }) {
			return imagined{
				foresight.Change{Dates: []foresight.DateChange{{Index: x.Name, Seconds: &seconds}}},
				func() error {
					return p.setIndexes(func(list []catalog.NamedIndex) []catalog.NamedIndex {
						list[slices.IndexFunc(list, twin)].Seconds = seconds
						return list
					})
				},
			}
		}
	}
	path := []string{"at", "list"}[p.rng.IntN(2)]
	x := catalog.NamedIndex{Name: "imagined" + fmt.Sprint(p.now), Expires: true, Seconds: seconds,
		Columns: []catalog.NamedColumn{{Path: path}}}
	if p.rng.IntN(3) == 0 {
		x.Partial = onFilter
	}
	if slices.ContainsFunc(ttls, func(y catalog.NamedIndex) bool {
		return y.Columns[0].Path == path && string(y.Partial) == string(x.Partial)
	}) {
		return imagined{apply: func() error { return nil }}
	}
	return imagined{
		foresight.Change{Dates: []foresight.DateChange{{Path: path, Partial: x.Partial, Seconds: &seconds}}},
		func() error { return p.index(x) },
	}
}

// limit is mostly enough, and sometimes far too little.
func (p *player) limit() int { return []int{0, 0, 1, 7, 40, 200, 1000}[p.rng.IntN(7)] }

// preview asks about a change, makes it, and looks what it ends.
func (p *player) preview() {
	x := p.imagine()
	limit := p.limit()
	got, err := p.f.Preview(ctx, p.c, p.now, x.Change, limit)
	before := p.life()
	p.note("preview within %d of %s", limit, show(x.Change))
	if applied := x.apply(); applied != nil || err != nil {
		if (applied == nil) != (err == nil) {
			p.t.Errorf("the preview fails with %v, the change with %v", err, applied)
		}
		return
	}
	p.note("gives %s", show(got))
	if limit == 0 && !got.Exact {
		p.t.Errorf("an estimate, for want of nothing: %s", show(got))
	}
	p.compare("living", got.Living, amountOf(before), got.LivingExact)
	for _, w := range got.Windows {
		p.now = w.Until.Unix
		p.reclaim()
		after := p.life()
		p.compare("within "+w.Name, w.Amount, lost(before, after), w.Exact)
		p.samples(w)
	}
}

func show(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// compare holds a number against what has happened. An estimate is only sane.
func (p *player) compare(what string, got, want foresight.Amount, exact bool) {
	p.t.Helper()
	if exact && got != want {
		p.t.Errorf("%s: foreseen %+v, happened %+v", what, got, want)
	}
	if got.Documents > 1000 || got.Bytes > 1_000_000 {
		p.t.Errorf("%s: %+v is out of all proportion", what, got)
	}
}

// samples must be dead now, and must have lived one second before their deadline.
func (p *player) samples(w foresight.Window) {
	if min(w.Documents, 1) < uint64(min(len(w.Samples), 1)) {
		p.t.Errorf("within %s: samples of nothing", w.Name)
	}
	for _, s := range w.Samples {
		if s.Deadline.Unix > w.Until.Unix {
			p.t.Errorf("within %s: %s ends later", w.Name, show(s))
		}
		if _, err := p.f.Explain(ctx, p.c, p.now, p.keyOf(s.Identity)); fault.KindOf(err) != fault.NotFound {
			p.t.Errorf("within %s: %s is still there: %v", w.Name, show(s), err)
		}
	}
}

func (p *player) keyOf(id foresight.Identity) store.Key {
	if !p.mongo {
		v, err := doc.ValueFromJSON(id.PartitionKey[0])
		p.ok(err)
		return store.Key{Partition: []doc.Value{v}, ID: id.ID}
	}
	v, err := doc.ValueFromJSON(id.MongoID)
	p.ok(err)
	return store.Identity(v)
}

// explainAll holds the explanation of every document against the deadline that the store says.
func (p *player) explainAll() {
	v := p.view()
	for d, err := range p.store.Scan(ctx, v, access.Access{}) {
		p.ok(err)
		var key store.Key
		if p.mongo {
			key = store.Identity(doc.Clone(doc.Lookup(d.Body, "_id")))
		} else {
			id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
			pk, _ := doc.AsString(doc.Lookup(d.Body, "pk"))
			key = itemKey(strings.Clone(pk), strings.Clone(id))
		}
		e, err := p.f.Explain(ctx, p.c, p.now, key)
		p.ok(err)
		var at expiry.Stamp
		if e.Deadline != nil {
			at = e.Deadline.Unix
		}
		if at != d.Deadline || e.Ends != (at != 0) || e.Ends == (e.Reason != "") || e.Ends == (e.Remedy != "") ||
			e.Sentence == "" {
			p.t.Errorf("the store says %d of %s, the explanation %s", d.Deadline, doc.AppendJSON(nil, d.Body), show(e))
		}
	}
}

// forecast moves the time along what it says.
func (p *player) forecast() {
	by := []string{"hour", "day", "month"}[p.rng.IntN(3)]
	parts, limit := p.rng.IntN(60), p.limit()
	scope := []foresight.Scope{{}, {Database: "d"}, {Database: "d", Container: "c"}}[p.rng.IntN(3)]
	got, err := p.f.Forecast(ctx, scope, p.now, by, parts, limit)
	p.ok(err)
	p.note("forecast %+v by %s, %d parts, within %d: %s", scope, by, parts, limit, show(got))
	if limit == 0 && !got.Exact {
		p.t.Errorf("an estimate, for want of nothing: %s", show(got))
	}
	before := p.life()
	p.compare("living", got.Living, amountOf(before), got.Exact)
	sum := got.NoEnd.Documents + got.Beyond.Documents
	for _, b := range got.Buckets {
		sum += b.Documents
		p.now = b.Until.Unix - 1
		p.reclaim()
		after := p.life()
		p.compare(fmt.Sprint("until ", b.Until.Time), b.Amount, lost(before, after), b.Exact)
		before = after
	}
	if sum != got.Living.Documents {
		p.t.Errorf("%d in all parts, %d living", sum, got.Living.Documents)
	}
	p.now += 200 * 365 * 86400
	after := p.life()
	p.compare("beyond", got.Beyond, lost(before, after), got.Exact)
	p.compare("without end", got.NoEnd, amountOf(after), got.Exact)
}
