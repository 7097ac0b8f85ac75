package store_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

var (
	seed  = flag.Uint64("seed", 0, "replay TestModel with this seed")
	steps = flag.Int("steps", 400, "steps of each run of TestModel")
	runs  = flag.Int("runs", 6, "runs of TestModel")
)

// The model: documents in a map, and every policy that was ever in force. It
// shares no code with the store.
type model struct {
	documents map[string]*item // by partition and id
	policies  []inForce
	sequence  int
}

type item struct {
	pk, id   string
	wrote    expiry.Stamp
	ttl      string // as JSON, "" if it has none
	order    int    // of creation
	sequence int    // of the last write
}

type inForce struct {
	ttl         expiry.TTL
	from, until expiry.Stamp
}

// effective is the rule as the specification states it.
func effective(container expiry.TTL, ttl string) (int64, bool) {
	if container == expiry.Unset {
		return 0, false
	}
	own := map[string]int64{"-1": -1, "1": 1, "2": 2, "3": 3, "7": 7, "5.0": 5}[ttl]
	if own == 0 {
		own = int64(container)
	}
	return own, own != -1
}

// gone reports whether some policy has ended the document while it was in force.
func (m *model) gone(d *item, now expiry.Stamp) bool {
	for i, p := range m.policies {
		until := p.until
		if i == len(m.policies)-1 {
			until = now
		}
		life, ends := effective(p.ttl, d.ttl)
		if ends && until >= d.wrote && d.wrote+life <= until {
			return true
		}
	}
	return false
}

func (m *model) living(now expiry.Stamp) []*item {
	var list []*item
	for _, d := range m.documents {
		if !m.gone(d, now) {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *item) int { return a.order - b.order })
	return list
}

func idsOf(list []*item) string {
	var ids []string
	for _, d := range list {
		ids = append(ids, d.id)
	}
	return strings.Join(ids, " ")
}

func TestModel(t *testing.T) {
	for range times(*runs) {
		s := *seed
		if s == 0 {
			s = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			withRanges(t, func(t *testing.T, ranges int) { play(t, s, ranges) })
		})
		if *seed != 0 {
			return
		}
	}
}

// A player does the same to a world and to the model, and compares what both
// say after every step.
type player struct {
	*world
	m   model
	rng *rand.Rand
	log []string

	unordered bool // ranges are split, so the order of the container is not that of its ranges
}

func play(t *testing.T, seed uint64, ranges int) {
	def := definition(expiry.Never)
	def.Partitions = ranges
	newPlayer(newWorld(t, def), seed).play(func() {})
}

func newPlayer(w *world, seed uint64) *player {
	p := &player{world: w, rng: rand.New(rand.NewPCG(seed, 0))}
	p.m = model{documents: map[string]*item{}, policies: []inForce{{ttl: expiry.Never, from: p.now}}}
	return p
}

// play does steps, and calls between after each, before the comparison.
func (p *player) play(between func()) {
	t := p.t
	defer func() {
		if t.Failed() {
			t.Logf("last steps:\n%s", strings.Join(p.log[max(0, len(p.log)-25):], "\n"))
		}
	}()
	for range *steps {
		p.step()
		between()
		p.compare()
		if t.Failed() {
			t.FailNow()
		}
	}
	p.consistent()
}

func (p *player) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf("%d: ", p.now)+fmt.Sprintf(format, args...))
}

func (p *player) step() {
	switch n := p.rng.IntN(100); {
	case n < 55:
		p.writeOne()
	case n < 65:
		p.batch()
	case n < 83:
		p.now += expiry.Stamp(p.rng.IntN(4))
		p.note("time passes")
	case n < 88:
		p.policy()
	case n < 92:
		p.reclaim()
	case n < 94:
		p.indexing()
	case n < 97:
		p.note("restart")
		p.reopen()
	default:
		p.note("check")
		p.consistent()
	}
}

func (p *player) key() (pk, id string) {
	return partitionKeys[p.rng.IntN(len(partitionKeys))], fmt.Sprint("d", p.rng.IntN(8))
}

// partitionKeys are in three ranges of four.
var partitionKeys = []string{"p", "q", "r", "i"}

var ttls = []string{"", "", "-1", "1", "2", "3", "7", "5.0", "0", "null", `"9"`, "2.5", "2147483648"}

// operation makes a random operation and says what must become of it.
func (p *player) operation(m *model, taken map[string]bool) (store.Op, func() fault.Kind) {
	pk, id := p.key()
	for taken[pk+id] {
		pk, id = p.key()
	}
	if taken != nil {
		taken[pk+id] = true
	}
	ttl := ttls[p.rng.IntN(len(ttls))]
	rest := fmt.Sprintf(`"n":%d,"deep":{"list":[%d,"x"]}`, p.rng.IntN(5), p.rng.IntN(5))
	if ttl != "" {
		rest += `,"ttl":` + ttl
	}
	verb := []store.Verb{store.Create, store.Create, store.Upsert, store.Upsert, store.Replace, store.Patch,
		store.Delete}[p.rng.IntN(7)]
	op := p.put(verb, pk, id, rest)
	if verb == store.Patch {
		op = store.Op{Verb: verb, Key: op.Key, Edit: func(d access.Document) (doc.Doc, error) { return op.Body, nil }}
		body := p.put(verb, pk, id, rest).Body
		op.Edit = func(access.Document) (doc.Doc, error) { return body, nil }
	}
	p.note("verb %d %s%s ttl %q", verb, pk, id, ttl)
	return op, func() fault.Kind { return m.apply(verb, pk, id, ttl, p.now) }
}

// apply does an operation to the model and gives the failure it must have, 0 for none.
func (m *model) apply(verb store.Verb, pk, id, ttl string, now expiry.Stamp) fault.Kind {
	d := m.documents[pk+id]
	there := d != nil && !m.gone(d, now)
	switch {
	case verb == store.Create && there:
		return fault.Exists
	case verb != store.Create && verb != store.Upsert && !there:
		return fault.NotFound
	case verb == store.Delete:
		delete(m.documents, pk+id)
		m.sequence++
		return 0
	}
	valid := slices.Contains([]string{"", "-1", "1", "2", "3", "7", "5.0"}, ttl)
	if m.policies[len(m.policies)-1].ttl != expiry.Unset && !valid {
		return fault.Invalid
	}
	m.sequence++
	if !there {
		d = &item{pk: pk, id: id, order: m.sequence}
		m.documents[pk+id] = d
	}
	d.wrote, d.ttl, d.sequence = now, ttl, m.sequence
	return 0
}

func (p *player) writeOne() {
	op, expect := p.operation(&p.m, nil)
	_, err := p.write(op)
	if want := expect(); kindOf(err) != want {
		p.t.Errorf("%v, want kind %v", err, want)
	}
}

func kindOf(err error) fault.Kind {
	if err == nil {
		return 0
	}
	return fault.KindOf(err)
}

// batch does several operations on one partition's documents at once.
func (p *player) batch() {
	trial := p.m
	trial.documents = map[string]*item{}
	for k, d := range p.m.documents {
		copied := *d
		trial.documents[k] = &copied
	}
	var ops []store.Op
	var failed fault.Kind
	taken := map[string]bool{}
	for range 1 + p.rng.IntN(4) {
		op, expect := p.operation(&trial, taken)
		ops = append(ops, op)
		if kind := expect(); failed == 0 {
			failed = kind
		}
	}
	_, err := p.store.WriteAll(context.Background(), p.c, p.now, ops)
	if kindOf(err) != failed {
		p.t.Errorf("batch: %v, want kind %v", err, failed)
	}
	if failed == 0 {
		p.m = trial
	}
}

func (p *player) policy() {
	ttl := []expiry.TTL{expiry.Unset, expiry.Never, 1, 2, 5, 9}[p.rng.IntN(6)]
	p.note("container ttl %d", ttl)
	p.setTTL(ttl)
	p.m.policies[len(p.m.policies)-1].until = p.now
	p.m.policies = append(p.m.policies, inForce{ttl: ttl, from: p.now})
}

func (p *player) reclaim() {
	p.note("reclaim")
	_, err := p.store.Reclaim(context.Background(), p.c, p.now, 1+p.rng.IntN(4))
	p.ok(err)
	if p.rng.IntN(2) == 0 {
		p.note("sweep")
		_, err = p.store.Sweep(context.Background(), p.c, 1+p.rng.IntN(30))
		p.ok(err)
	}
}

// indexing changes the policy and waits for the build, which writes meanwhile
// maintain.
func (p *player) indexing() {
	excluded := [][]string{nil, {"/n/?"}, {"/deep/*"}, {"/*"}}[p.rng.IntN(4)]
	p.note("indexing without %v", excluded)
	_, err := p.catalog.ReplaceContainer(context.Background(), p.now, p.c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.Indexing = catalog.Indexing{Included: []string{"/*"}, Excluded: excluded}
			return def, nil
		})
	p.ok(err)
}

// compare asks every read path.
func (p *player) compare() {
	p.t.Helper()
	living := p.m.living(p.now)
	for _, pk := range partitionKeys {
		for n := range 8 {
			id := fmt.Sprint("d", n)
			d := p.m.documents[pk+id]
			if want := d != nil && !p.m.gone(d, p.now); p.alive(pk, id) != want {
				p.t.Errorf("point read of %s%s: alive %v, want %v", pk, id, !want, want)
			}
		}
		mine := slices.DeleteFunc(slices.Clone(living), func(d *item) bool { return d.pk != pk })
		one := access.Access{Of: access.Partition{doc.String(pk)}}
		if got := p.scan(one); got != idsOf(mine) {
			p.t.Errorf("partition %s: %q, want %q", pk, got, idsOf(mine))
		}
		slices.SortFunc(mine, func(a, b *item) int { return a.sequence - b.sequence })
		if got := p.feed(access.ScopeOf(one.Of), 0); got != idsOf(mine) {
			p.t.Errorf("feed of partition %s: %q, want %q", pk, got, idsOf(mine))
		}
	}
	// One range comes after the other, and each has its own order.
	slices.SortStableFunc(living, func(a, b *item) int { return int(p.rangeOf(a.pk)) - int(p.rangeOf(b.pk)) })
	if got := p.scan(access.Access{}); p.inOrder(got) != p.inOrder(idsOf(living)) {
		p.t.Errorf("scan: %q, want %q", got, idsOf(living))
	}
	if numbers := p.numbers(); !slices.IsSorted(numbers) {
		p.t.Errorf("the scan has the numbers %v", numbers)
	}
	usage, err := p.store.Usage(context.Background(), p.view())
	p.ok(err)
	if usage.Documents != uint64(len(living)) {
		p.t.Errorf("usage: %d documents, want %d", usage.Documents, len(living))
	}
	slices.SortFunc(living, func(a, b *item) int {
		return cmp.Or(int(p.rangeOf(a.pk))-int(p.rangeOf(b.pk)), a.sequence-b.sequence)
	})
	if got := p.feed(nil, 0); p.inOrder(got) != p.inOrder(idsOf(living)) {
		p.t.Errorf("feed: %q, want %q", got, idsOf(living))
	}
}

// inOrder is a list of ids that is compared with another one.
func (p *player) inOrder(ids string) string {
	if !p.unordered {
		return ids
	}
	list := strings.Fields(ids)
	slices.Sort(list)
	return strings.Join(list, " ")
}
