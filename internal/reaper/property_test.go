package reaper_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// setLife changes a container's lifetime setting.
func (y *yard) setLife(c *store.Container, change func(*catalog.Definition)) error {
	_, err := y.catalog.ReplaceContainer(ctx, y.now(), c, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		change(&def)
		return def, nil
	})
	return err
}

// write upserts a document of members. It is in a partition of its own if there are several ranges.
func (y *yard) write(c *store.Container, id, members string) {
	y.t.Helper()
	if members != "" {
		members = "," + members
	}
	pk := "p"
	if y.ranges > 1 {
		pk = id
	}
	body, err := doc.FromJSON(nil, fmt.Appendf(nil, `{"id":%q,"pk":%q%s}`, id, pk, members), doc.ParseOptions{})
	y.ok(err)
	key := store.Key{Partition: []doc.Value{doc.String(pk)}, ID: id}
	_, err = y.store.Write(ctx, c, y.now(), store.Op{Verb: store.Upsert, Key: key, Body: body})
	y.ok(err)
}

// living is the ids of the living documents in order of creation, or in that of ids if there are several ranges.
func (y *yard) living(c *store.Container) string {
	y.t.Helper()
	v, err := c.Enter(ctx, y.now())
	y.ok(err)
	var ids []string
	for d, err := range y.store.Scan(ctx, v, access.Access{}) {
		y.ok(err)
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		ids = append(ids, strings.Clone(id))
	}
	return y.listed(ids)
}

// listed is a list of ids as living gives them; ids are in order of creation.
func (y *yard) listed(ids []string) string {
	if y.ranges > 1 {
		slices.Sort(ids)
	}
	return strings.Join(ids, " ")
}

// expectLiving checks who lives, and, once all is reclaimed, that nobody else
// is on disk.
func (y *yard) expectLiving(c *store.Container, want string) {
	y.t.Helper()
	want = y.listed(strings.Fields(want))
	if got := y.living(c); got != want {
		y.t.Errorf("alive are %q, want %q", got, want)
	}
	s, err := y.Stats(ctx)
	y.ok(err)
	if dead := int64(y.count(c, 'd') - len(strings.Fields(want))); s.Backlog != dead {
		y.t.Errorf("a backlog of %d, with %d dead on disk", s.Backlog, dead)
	}
	y.ok(y.ReclaimNow(ctx))
	if got := y.living(c); got != want {
		y.t.Errorf("after reclaiming, alive are %q, want %q", got, want)
	}
	y.swept(c, len(strings.Fields(want)))
}

const property = "/from/at"

// at is a member that says from when a life counts, in seconds from the start of the clock.
func at(seconds int) string { return fmt.Sprintf(`"from":{"at":%d}`, 1_000_000+seconds) }

func TestProperty(t *testing.T) { withRanges(t, testProperty) }

func testProperty(t *testing.T, ranges int) {
	y := newYard(t, func(y *yard) { y.ranges = ranges })
	c := y.container("c")
	y.ok(y.setLife(c, func(def *catalog.Definition) { def.TTLProperty = property }))
	y.write(c, "born-dead", at(-10))
	y.write(c, "past", at(-5))
	y.write(c, "now", at(0))
	y.write(c, "future", at(100))
	y.write(c, "absent", ``)
	y.write(c, "no-number", `"from":{"at":"1"}`)
	y.write(c, "no-object", `"from":1`)
	y.write(c, "fraction", `"from":{"at":1000002.9}`)
	y.write(c, "endless", `"from":{"at":1e300}`)
	y.write(c, "own", at(100)+`,"ttl":3`)
	y.write(c, "own-past", at(-1)+`,"ttl":3`)
	y.write(c, "never", at(-1000)+`,"ttl":-1`)
	steps := []struct {
		at   time.Duration
		want string
	}{
		{0, "past now future absent no-number no-object fraction endless own own-past never"},
		{time.Second, "past now future absent no-number no-object fraction endless own own-past never"},
		{2 * time.Second, "past now future absent no-number no-object fraction endless own never"},
		{5 * time.Second, "now future absent no-number no-object fraction endless own never"},
		{9 * time.Second, "now future absent no-number no-object fraction endless own never"},
		{10 * time.Second, "future fraction own never"},
		{11 * time.Second, "future fraction own never"},
		{12 * time.Second, "future own never"},
		{102 * time.Second, "future own never"},
		{103 * time.Second, "future never"},
		{109 * time.Second, "future never"},
		{110 * time.Second, "never"},
		{1000 * time.Hour, "never"},
	}
	for _, step := range steps {
		y.ok(y.clock.Set(time.Unix(1_000_000, 0).Add(step.at)))
		y.expectLiving(c, step.want)
		if step.at == 10*time.Second {
			y.reopen()
			c = y.only()
		}
	}
}

// TestPastIsForgotten changes a setting that counts from a property: what it
// has ended stays dead until the last of it is reclaimed, and then nobody needs to know why.
func TestPastIsForgotten(t *testing.T) { withRanges(t, testPastIsForgotten) }

func testPastIsForgotten(t *testing.T, ranges int) {
	y := newYard(t, func(y *yard) { y.ranges = ranges })
	c := y.container("c")
	y.ok(y.setLife(c, func(def *catalog.Definition) { def.TTLProperty = property }))
	for i := range 6 {
		y.write(c, fmt.Sprint("dead", i), at(-5))
	}
	y.write(c, "saved", at(50))
	y.write(c, "never", at(-5)+`,"ttl":-1`)
	y.ok(y.clock.Advance(5 * time.Second))
	past := func(when string, count int) {
		t.Helper()
		if st := c.State(); len(st.Policy.Past) != count || st.Policy.Plain() != (count == 0) {
			t.Errorf("%s: the past is %+v", when, st.Policy.Past)
		}
	}
	y.ok(y.setLife(c, func(def *catalog.Definition) { def.TTL, def.TTLProperty = 1000, "" }))
	past("after the change", 1)
	y.write(c, "since", at(-1000))

	for left := 6; left > 0; {
		done, err := y.store.Reclaim(ctx, c, y.now(), 4)
		y.ok(err)
		left -= int(done.Documents)
		if got := y.living(c); got != y.listed([]string{"saved", "never", "since"}) {
			t.Fatalf("with %d left, alive are %q", left, got)
		}
		if left == 2 {
			past("in the middle of the pass", 1)
			y.reopen()
			c = y.only()
			past("after a restart", 1)
		}
	}
	past("after the pass", 0)
	y.expectLiving(c, "saved never since")
	y.reopen()
	c = y.only()
	past("after another restart", 0)
	y.expectLiving(c, "saved never since")
	y.ok(y.clock.Advance(994 * time.Second))
	y.expectLiving(c, "saved never since")
	y.ok(y.clock.Advance(time.Second))
	y.expectLiving(c, "never since")
	y.ok(y.clock.Advance(5 * time.Second))
	y.expectLiving(c, "never")
}

// TestReclaimNowDuringAPass lets a document die that a pass under way has come by already.
func TestReclaimNowDuringAPass(t *testing.T) {
	y := newYard(t, nil)
	c := y.container("c")
	y.ok(y.setLife(c, func(def *catalog.Definition) { def.TTLProperty = property }))
	y.write(c, "dying", at(-5))
	for i := range 6 {
		y.write(c, fmt.Sprint("dead", i), at(-10))
	}
	y.write(c, "alive", at(5))
	done, err := y.store.Reclaim(ctx, c, y.now(), 3)
	y.ok(err)
	if done.Documents != 3 || !done.More {
		t.Fatalf("the first step: %+v", done)
	}
	y.ok(y.clock.Advance(5 * time.Second))
	y.expectLiving(c, "alive")
}

// TestManyPasts changes such a setting as often as may be, and once more after
// the reaper has been there.
func TestManyPasts(t *testing.T) { withRanges(t, testManyPasts) }

func testManyPasts(t *testing.T, ranges int) {
	y := newYard(t, func(y *yard) { y.ranges = ranges })
	c := y.container("c")
	y.ok(y.setLife(c, func(def *catalog.Definition) { def.TTLProperty = property }))
	var alive []string
	longer := func() error { return y.setLife(c, func(def *catalog.Definition) { def.TTL++ }) }
	n := 0
	for ; ; n++ {
		y.write(c, fmt.Sprint("dead", n), at(0))
		y.write(c, fmt.Sprint("alive", n), at(1_000_000))
		alive = append(alive, fmt.Sprint("alive", n))
		y.ok(y.clock.Advance(20 * time.Second))
		err := longer()
		if err == nil {
			continue
		}
		if fault.KindOf(err) != fault.Invalid || n < 2 || n > 100 {
			t.Fatalf("change %d: %v", n, err)
		}
		break
	}
	if got := len(c.State().Policy.Past); got != n {
		t.Errorf("%d pasts after %d changes", got, n)
	}
	y.expectLiving(c, strings.Join(alive, " "))
	if past := c.State().Policy.Past; len(past) != 0 {
		t.Errorf("reclaimed, it still knows of %+v", past)
	}
	y.ok(longer())
	y.expectLiving(c, strings.Join(alive, " "))
}
