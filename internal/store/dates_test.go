package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// A datedRule is a TTL index of the model, and a dated one of its documents: TestDates plays
// random changes against a list of every rule that was ever in force.
type datedRule struct {
	name    string
	path    string
	seconds int64
	partial bool

	closed  bool
	until   expiry.Stamp
	written int // documents written up to then
}

type dated struct {
	id      int
	wrote   expiry.Stamp
	written int
	body    bson.D
}

// datesUnder lists the dates, in milliseconds, that a rule for a path looks at.
func datesUnder(v any, path []string) (list []int64) {
	if len(path) == 0 {
		if array, ok := v.(bson.A); ok {
			for _, element := range array {
				if at, ok := element.(bson.DateTime); ok {
					list = append(list, int64(at))
				}
			}
		} else if at, ok := v.(bson.DateTime); ok {
			list = append(list, int64(at))
		}
		return list
	}
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			if e.Key == path[0] {
				return datesUnder(e.Value, path[1:])
			}
		}
	case bson.A:
		if i, err := strconv.Atoi(path[0]); err == nil {
			if i < len(v) {
				return datesUnder(v[i], path[1:])
			}
			return nil
		}
		for _, element := range v {
			if d, ok := element.(bson.D); ok {
				list = append(list, datesUnder(d, path)...)
			}
		}
	}
	return list
}

// deadline is in milliseconds.
func (r *datedRule) deadline(d *dated) (int64, bool) {
	list := datesUnder(d.body, strings.Split(r.path, "."))
	if len(list) == 0 || r.partial && !d.on() {
		return 0, false
	}
	return slices.Min(list) + 1000*r.seconds, true
}

func (d *dated) on() bool {
	return slices.ContainsFunc(d.body, func(e bson.E) bool { return e.Key == "on" && e.Value == true })
}

// A datedModel shares no code with the store.
type datedModel struct {
	documents map[int]*dated
	rules     []*datedRule
	policies  []inForce
	off       bool
	written   int
}

func (m *datedModel) gone(d *dated, now expiry.Stamp) bool {
	for i, p := range m.policies {
		until := p.until
		if i == len(m.policies)-1 {
			until = now
		}
		if life, ends := effective(p.ttl, ""); ends && until >= d.wrote && d.wrote+life <= until {
			return true
		}
	}
	for _, r := range m.rules {
		until := now
		switch {
		case r.closed && d.written > r.written, !r.closed && m.off:
			continue
		case r.closed:
			until = r.until
		}
		if at, ok := r.deadline(d); ok && at <= 1000*until {
			return true
		}
	}
	return false
}

// close ends a rule, and open begins it again.
func (m *datedModel) close(r *datedRule, now expiry.Stamp) {
	if !m.off {
		m.rules = append(m.rules,
			&datedRule{path: r.path, seconds: r.seconds, partial: r.partial, closed: true, until: now,
				written: m.written})
	}
}

func (m *datedModel) open() (list []*datedRule) {
	for _, r := range m.rules {
		if !r.closed {
			list = append(list, r)
		}
	}
	return list
}

func (m *datedModel) living(now expiry.Stamp) (ids []int) {
	for id, d := range m.documents {
		if !m.gone(d, now) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// A datedPlayer does the same to a world and to the model.
type datedPlayer struct {
	*world
	m     datedModel
	rng   *rand.Rand
	names int
	log   []string
}

// TestDates holds random documents with dates, under TTL indexes that come, change and go, against the model.
// A failure names the seed: replay it with -seed.
func TestDates(t *testing.T) {
	for range times(*runs) {
		s := *seed
		if s == 0 {
			s = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) { playDates(t, s) })
		if *seed != 0 {
			return
		}
	}
}

// onlyOn compiles the one filter that the indexes of this test have.
func onlyOn(doc.Doc) (func(doc.Doc) bool, error) {
	return func(d doc.Doc) bool {
		on, _ := doc.AsBool(doc.Lookup(d, "on"))
		return on
	}, nil
}

// newDatedWorld is a world with a container as the API for MongoDB makes it.
func newDatedWorld(t *testing.T) *world {
	t.Helper()
	return newCollectionWorld(t, onlyOn)
}

// newCollectionWorld has a collection whose partial indexes have that condition.
func newCollectionWorld(t *testing.T, condition catalog.Condition) *world {
	t.Helper()
	w := &world{t: t, fs: vfs.NewMem(), now: 1_000_000, condition: condition}
	w.open()
	t.Cleanup(w.close)
	db, err := w.catalog.CreateDatabase(context.Background(), w.now, "d", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(context.Background(), w.now, db, catalog.Definition{
		Name: "c", Dialect: catalog.Mongo,
		Partition: catalog.PartitionKey{Paths: []string{"/_partitionKey"}, Version: 2},
		Indexing:  catalog.Indexing{None: true},
	}, nil)
	w.ok(err)
	return w
}

func playDates(t *testing.T, seed uint64) {
	p := &datedPlayer{world: newDatedWorld(t), rng: rand.New(rand.NewPCG(seed, 1))}
	p.m = datedModel{documents: map[int]*dated{}, policies: []inForce{{from: p.now}}}
	defer func() {
		if t.Failed() {
			t.Logf("last steps:\n%s", strings.Join(p.log[max(0, len(p.log)-30):], "\n"))
		}
	}()
	for range *steps {
		p.step()
		p.compare()
		if t.Failed() {
			t.FailNow()
		}
	}
	p.reclaimed()
	p.consistent()
}

// reclaimed frees everything, and looks whether all of the dead and all closed rules are gone. The first round may be
// the end of a pass over the documents.
func (p *datedPlayer) reclaimed() {
	p.t.Helper()
	for range 2 {
		for more := true; more; {
			done, err := p.store.Reclaim(context.Background(), p.c, p.now, 3)
			p.ok(err)
			more = done.More
		}
	}
	p.compare()
	usage, err := p.store.Usage(context.Background(), p.view())
	p.ok(err)
	if usage.Stored != usage.Documents || len(p.c.State().Policy.PastDates) > 0 {
		p.t.Errorf("%d documents on disk of which %d live, and %d closed rules", usage.Stored, usage.Documents,
			len(p.c.State().Policy.PastDates))
	}
}

func (p *datedPlayer) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf("%d: ", p.now)+fmt.Sprintf(format, args...))
}

func (p *datedPlayer) step() {
	switch n := p.rng.IntN(100); {
	case n < 50:
		p.writeOne()
	case n < 70:
		p.now += expiry.Stamp(p.rng.IntN(4))
		p.note("time passes")
	case n < 77:
		p.addRule()
	case n < 81:
		p.changeRule()
	case n < 85:
		p.dropRule()
	case n < 88:
		p.toggle()
	case n < 90:
		p.policy()
	case n < 95:
		p.reclaim()
	case n < 97:
		p.note("restart")
		p.reopen()
		p.m.off = false
	default:
		p.note("check")
		p.consistent()
	}
}

// date is one near the present, with milliseconds or without.
func (p *datedPlayer) date() any {
	if p.rng.IntN(8) == 0 {
		return []any{"soon", nil, int64(p.now * 1000), bson.DateTime(-1 << 62), bson.Timestamp{T: uint32(p.now)},
			true}[p.rng.IntN(6)]
	}
	ms := p.rng.Int64N(12_000) - 4_000
	if p.rng.IntN(2) == 0 {
		ms = ms / 1000 * 1000
	}
	return bson.DateTime(1000*p.now + ms)
}

func (p *datedPlayer) body(id int) bson.D {
	d := bson.D{{Key: "_id", Value: id}}
	add := func(name string, v any) {
		if p.rng.IntN(3) > 0 {
			d = append(d, bson.E{Key: name, Value: v})
		}
	}
	add("on", p.rng.IntN(2) == 0)
	add("at", p.date())
	add("sub", bson.D{{Key: "at", Value: p.date()}})
	list := bson.A{}
	for range p.rng.IntN(4) {
		switch p.rng.IntN(3) {
		case 0:
			list = append(list, bson.D{{Key: "at", Value: p.date()}})
		case 1:
			list = append(list, bson.A{p.date()})
		default:
			list = append(list, p.date())
		}
	}
	add("list", list)
	return d
}

var datedPaths = []string{"at", "sub.at", "list", "list.at", "list.0", "sub"}

func (p *datedPlayer) writeOne() {
	id := p.rng.IntN(7)
	key := store.Identity(doc.Int(int64(id)))
	verb := []store.Verb{store.Create, store.Upsert, store.Upsert, store.Replace, store.Delete}[p.rng.IntN(5)]
	d := &dated{id: id, wrote: p.now, body: p.body(id)}
	op := store.Op{Verb: verb, Key: key, Lenient: true}
	if verb != store.Delete {
		body, err := bson.Marshal(d.body)
		p.ok(err)
		op.Body = body
	}
	p.note("verb %d of %v", verb, d.body)
	_, err := p.write(op)
	old := p.m.documents[id]
	there := old != nil && !p.m.gone(old, p.now)
	want := fault.Kind(0)
	switch {
	case verb == store.Create && there:
		want = fault.Exists
	case (verb == store.Replace || verb == store.Delete) && !there:
		want = fault.NotFound
	case verb == store.Delete:
		delete(p.m.documents, id)
	default:
		p.m.written++
		d.written = p.m.written
		p.m.documents[id] = d
	}
	if kindOf(err) != want {
		p.t.Errorf("%v, want kind %v", err, want)
	}
}

// change changes the indexes; false when too many rules are closed and not done with.
func (p *datedPlayer) change(define func([]catalog.NamedIndex) []catalog.NamedIndex) bool {
	_, err := p.catalog.ReplaceIndexes(context.Background(), p.now, p.c,
		func(st *catalog.State) ([]catalog.NamedIndex, error) {
			return define(slices.Clone(st.Named)), nil
		})
	if kindOf(err) == fault.Invalid && len(p.c.State().Policy.PastDates) >= expiry.MaxPast {
		p.note("too many closed rules")
		return false
	}
	p.ok(err)
	return true
}

func (p *datedPlayer) addRule() {
	if len(p.m.open()) > 4 {
		return
	}
	p.names++
	r := &datedRule{
		name: fmt.Sprint("x", p.names), path: datedPaths[p.rng.IntN(len(datedPaths))],
		seconds: p.rng.Int64N(5), partial: p.rng.IntN(3) == 0,
	}
	x := catalog.NamedIndex{
		Name: r.name, Columns: []catalog.NamedColumn{{Path: r.path, Descending: p.rng.IntN(2) == 0}}, Expires: true,
		Seconds:  int32(r.seconds),
		Building: true, Sparse: !r.partial && p.rng.IntN(2) == 0, Hidden: p.rng.IntN(3) == 0,
	}
	if r.partial {
		x.Partial = doc.Doc{5, 0, 0, 0, 0}
	}
	p.note("index %+v", *r)
	p.change(func(list []catalog.NamedIndex) []catalog.NamedIndex { return append(list, x) })
	p.ok(p.buildNamed())
	p.m.rules = append(p.m.rules, r)
}

func (p *datedPlayer) pick() *datedRule {
	open := p.m.open()
	if len(open) == 0 {
		return nil
	}
	return open[p.rng.IntN(len(open))]
}

func (p *datedPlayer) changeRule() {
	r := p.pick()
	if r == nil {
		return
	}
	seconds := p.rng.Int64N(6)
	p.note("%s: %d to %d s", r.name, r.seconds, seconds)
	changed := p.change(func(list []catalog.NamedIndex) []catalog.NamedIndex {
		i := slices.IndexFunc(list, func(x catalog.NamedIndex) bool { return x.Name == r.name })
		list[i].Seconds, list[i].Hidden = int32(seconds), !list[i].Hidden
		return list
	})
	if changed && seconds != r.seconds {
		p.m.close(r, p.now)
		r.seconds = seconds
	}
}

func (p *datedPlayer) dropRule() {
	r := p.pick()
	if r == nil {
		return
	}
	p.note("drop %s", r.name)
	dropped := p.change(func(list []catalog.NamedIndex) []catalog.NamedIndex {
		return slices.DeleteFunc(list, func(x catalog.NamedIndex) bool { return x.Name == r.name })
	})
	if dropped {
		p.m.close(r, p.now)
		p.m.rules = slices.DeleteFunc(p.m.rules, func(x *datedRule) bool { return x == r })
	}
}

// toggle switches all rules off or on.
func (p *datedPlayer) toggle() {
	p.note("dates on: %v", p.m.off)
	err := p.catalog.SetDates(context.Background(), p.now, p.m.off)
	if kindOf(err) == fault.Invalid && !p.m.off {
		if !p.catalog.DatesOn() {
			p.t.Error("refused, and off all the same")
		}
		return
	}
	p.ok(err)
	if !p.m.off {
		for _, r := range p.m.open() {
			p.m.close(r, p.now)
		}
	}
	p.m.off = !p.m.off
}

func (p *datedPlayer) policy() {
	ttl := []expiry.TTL{expiry.Unset, expiry.Unset, expiry.Never, 4, 9}[p.rng.IntN(5)]
	p.note("container ttl %d", ttl)
	p.setTTL(ttl)
	p.m.policies[len(p.m.policies)-1].until = p.now
	p.m.policies = append(p.m.policies, inForce{ttl: ttl, from: p.now})
}

func (p *datedPlayer) reclaim() {
	if p.rng.IntN(4) == 0 {
		p.note("reclaim all")
		p.reclaimed()
		return
	}
	p.note("reclaim")
	for range 1 + p.rng.IntN(3) {
		_, err := p.store.Reclaim(context.Background(), p.c, p.now, 1+p.rng.IntN(4))
		p.ok(err)
	}
	if p.rng.IntN(2) == 0 {
		p.note("sweep")
		_, err := p.store.Sweep(context.Background(), p.c, 1+p.rng.IntN(30))
		p.ok(err)
	}
}

func (p *datedPlayer) ids(a access.Access) (ids []int) {
	p.t.Helper()
	for d, err := range p.store.Scan(context.Background(), p.view(), a) {
		p.ok(err)
		id, _ := doc.AsInt(doc.Lookup(d.Body, "_id"))
		ids = append(ids, int(id))
		p.sameDeadline(int(id), d)
	}
	slices.Sort(ids)
	return ids
}

// sameDeadline compares the end that a living document is said to have.
func (p *datedPlayer) sameDeadline(id int, d access.Document) {
	p.t.Helper()
	x, want := p.m.documents[id], expiry.Stamp(0)
	if x == nil {
		return // reported as a stranger
	}
	if life, ends := effective(p.m.policies[len(p.m.policies)-1].ttl, ""); ends {
		want = x.wrote + life
	}
	for _, r := range p.m.open() {
		at, ok := r.deadline(x)
		if at = (at + 999) / 1000; ok && !p.m.off && (want == 0 || at < want) {
			want = at
		}
	}
	if d.Deadline != want {
		p.t.Errorf("document %d ends at %d, want %d", id, d.Deadline, want)
	}
}

// compare asks every read path.
func (p *datedPlayer) compare() {
	p.t.Helper()
	living := p.m.living(p.now)
	for id := range 7 {
		err := p.store.Read(context.Background(), p.view(), store.Identity(doc.Int(int64(id))),
			func(access.Document) error { return nil })
		if alive := err == nil; alive != slices.Contains(living, id) {
			p.t.Errorf("point read of %d: alive %v, want %v", id, alive, !alive)
		}
	}
	if got := p.ids(access.Access{}); !slices.Equal(got, living) {
		p.t.Errorf("scan: %v, want %v", got, living)
	}
	if got := p.ids(access.Access{Of: &access.IndexScans{{Index: access.Identity}}}); !slices.Equal(got, living) {
		p.t.Errorf("by _id: %v, want %v", got, living)
	}
	for _, x := range p.c.State().Named {
		want := living
		if x.Partial != nil {
			want = slices.DeleteFunc(slices.Clone(living), func(id int) bool { return !p.m.documents[id].on() })
		}
		if got := p.ids(access.Access{Of: &access.IndexScans{{Index: x.ID}}}); !x.Sparse && !slices.Equal(got, want) {
			p.t.Errorf("by index %s: %v, want %v", x.Name, got, want)
		}
	}
	usage, err := p.store.Usage(context.Background(), p.view())
	p.ok(err)
	if usage.Documents != uint64(len(living)) {
		p.t.Errorf("usage: %d documents, want %d", usage.Documents, len(living))
	}
	n, ok, err := p.store.Count(context.Background(), p.view(), access.Access{})
	p.ok(err)
	if !ok || n != uint64(len(living)) {
		p.t.Errorf("count: %d, %v, want %d", n, ok, len(living))
	}
}
