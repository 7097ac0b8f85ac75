package catalog_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

var (
	crashes = flag.Int("crashes", 2, "lives that TestCrash begins")
	seed    = flag.Uint64("seed", 0, "replay TestCrash with this seed")
)

// TestCrash changes a catalog from several goroutines, copies the file system at
// random moments with a random share of what was not synced, and opens each copy: what was
// acknowledged is there, what was under way is there or not, and nothing in part.
func TestCrash(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("seed %d", s)
	rng := rand.New(rand.NewPCG(s, 0))
	for life := range *crashes {
		liveAndCrash(t, rng, life%2 == 1)
	}
}

// A tenant changes one database; pictures[n] is what it looked like after n changes.
type tenant struct {
	h    *house
	name string
	rng  *rand.Rand

	mu       sync.Mutex
	begun    int
	pictures []string
	gone     []uint32 // containers whose deletion was acknowledged, with the number of changes by then
	goneAt   []int
}

// A stop is a copy of the file system and how far each tenant was around it.
type stop struct {
	fs          *vfs.MemFS
	percent     int
	from, until []int
}

func liveAndCrash(t *testing.T, rng *rand.Rand, plain bool) {
	fs := vfs.NewCrashableMem()
	h := &house{t: t, fs: kvtest.Cloneable{MemFS: fs}, plain: plain}
	h.open()
	tenants := make([]*tenant, 3)
	for i := range tenants {
		tenants[i] = &tenant{h: h, name: fmt.Sprint("db", i), rng: rand.New(rand.NewPCG(rng.Uint64(), 1)),
			pictures: []string{""}}
	}
	var mu sync.Mutex
	var stops []stop
	halt := func(rng *rand.Rand) {
		mu.Lock()
		defer mu.Unlock()
		st := stop{percent: []int{0, 10, 50, 90, 100}[rng.IntN(5)]}
		for _, x := range tenants {
			st.from = append(st.from, x.done())
		}
		st.fs = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: st.percent, RNG: rng})
		for _, x := range tenants {
			st.until = append(st.until, x.started())
		}
		stops = append(stops, st)
	}
	var work sync.WaitGroup
	for _, x := range tenants {
		work.Go(func() {
			for range 120 {
				if err := x.change(); err != nil {
					t.Error(err)
					return
				}
				if x.rng.IntN(25) == 0 {
					halt(x.rng)
				}
			}
		})
	}
	work.Wait()
	h.ok(h.engine.Close())
	for n, st := range stops {
		examine(t, n, st, tenants, plain)
	}
}

func (x *tenant) done() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.pictures) - 1
}

func (x *tenant) started() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.begun
}

// change makes one change of the tenant's database and writes down what came of it.
func (x *tenant) change() error {
	x.mu.Lock()
	x.begun++
	x.mu.Unlock()
	err := x.random()
	x.mu.Lock()
	x.pictures = append(x.pictures, x.picture(x.h.Catalog))
	x.mu.Unlock()
	return err
}

// picture is the tenant's part of a catalog.
func (x *tenant) picture(c *catalog.Catalog) string {
	var mine []string
	for _, part := range strings.Split(picture(c), "\ndatabase ") {
		if strings.Contains(part, "Name:"+x.name+" ") {
			part, _, _ = strings.Cut(part, "\n    o ")
			part, _, _ = strings.Cut(part, "\nclock ")
			mine = append(mine, strings.TrimPrefix(part, "database "))
		}
	}
	return strings.Join(mine, "\n")
}

func (x *tenant) random() error {
	db, err := x.h.Database(x.name)
	if err != nil {
		_, err = x.h.CreateDatabase(ctx, 100, x.name, body(`{"t":1}`))
		return err
	}
	containers := x.h.Containers(db)
	n := x.rng.IntN(20)
	if len(containers) == 0 || n < 3 {
		var offer doc.Doc
		if n == 0 {
			offer = body(`{"t":2}`)
		}
		ct, err := x.h.CreateContainer(ctx, 100, db, definition(fmt.Sprint("c", x.rng.Int())), offer)
		if err == nil {
			err = x.fill(ct)
		}
		return err
	}
	ct := containers[x.rng.IntN(len(containers))]
	owner := catalog.Owner{Database: db.ID, Container: ct.ID}
	switch {
	case n < 9:
		_, err = x.h.ReplaceContainer(ctx, expiry.Stamp(100+n), ct,
			func(st *catalog.State) (catalog.Definition, error) {
				def := st.Definition
				def.TTL = expiry.TTL(x.rng.IntN(50))
				def.Indexing.Excluded = []string{fmt.Sprintf("/x%d/?", x.rng.IntN(2))}
				return def, nil
			})
	case n < 10:
		_, err = x.h.DeclareDead(ctx, ct.State().Stamp+expiry.Stamp(x.rng.IntN(100)), ct)
	case n < 12:
		if b := ct.State().Building; b != nil {
			err = x.h.CompleteIndex(ctx, ct, b.Generation)
		}
	case n < 15:
		_, err = x.h.CreateResource(ctx, 100, catalog.Procedure, owner, fmt.Sprint(x.rng.Int()), body(`{"x":1}`))
	case n < 17:
		if list := x.h.Resources(catalog.Procedure, owner); len(list) > 0 {
			_, err = x.h.ReplaceResource(ctx, 100, list[0], fmt.Sprint(x.rng.Int()), body(`{"y":2}`))
		}
	case n < 18:
		if list := x.h.Resources(catalog.Procedure, owner); len(list) > 0 {
			err = x.h.DeleteResource(ctx, list[len(list)-1])
		}
	case n < 19 || x.rng.IntN(3) > 0:
		if err = x.h.DeleteContainer(ctx, ct); err == nil {
			x.lost(ct.ID)
		}
	default:
		if err = x.h.DeleteDatabase(ctx, db); err == nil {
			for _, ct := range containers {
				x.lost(ct.ID)
			}
		}
	}
	return err
}

func (x *tenant) lost(container uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.gone, x.goneAt = append(x.gone, container), append(x.goneAt, x.begun)
}

// fill puts some keys into a container, so that a deletion has something to delete.
func (x *tenant) fill(ct *catalog.Container) error {
	b := &kv.Batch{NoSync: true}
	for i := range 1500 {
		b.Set(fmt.Appendf(ct.KeysOf(0).AppendPrefix(nil, keys.KindRecord), "%08d", i), nil)
	}
	return x.h.engine.Apply(ctx, b)
}

// examine opens a copy and holds it against what the tenants have been told.
func examine(t *testing.T, n int, st stop, tenants []*tenant, plain bool) {
	t.Helper()
	h := &house{t: t, fs: kvtest.Cloneable{MemFS: st.fs}, plain: plain}
	h.open()
	defer func() { h.ok(h.engine.Close()) }()
	for i, x := range tenants {
		got := x.picture(h.Catalog)
		found := false
		for _, p := range x.pictures[st.from[i] : st.until[i]+1] {
			found = found || p == got
		}
		if !found {
			t.Errorf("crash %d with %d%% of unsynced data: %s is\n%s\nand was, of changes %d to %d,\n%s", n, st.percent,
				x.name, got,
				st.from[i], st.until[i], strings.Join(x.pictures[st.from[i]:st.until[i]+1], "\nor\n"))
		}
		for j, container := range x.gone {
			if x.goneAt[j] > st.from[i] {
				continue
			}
			if left := h.left(container); left > 0 {
				t.Errorf("crash %d: deleted container %d has %d keys", n, container, left)
			}
		}
	}
	if waiting := h.orders(); waiting > 0 {
		t.Errorf("crash %d: %d purges wait after the start", n, waiting)
	}
	var newest uint32
	for _, db := range h.Databases() {
		newest = max(newest, db.ID)
	}
	db, err := h.CreateDatabase(ctx, 100, "new", nil)
	h.ok(err)
	if db.ID <= newest {
		t.Errorf("crash %d: id %d was given out again", n, db.ID)
	}
}
