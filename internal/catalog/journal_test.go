package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
)

// TestJournal changes a catalog through two processes, which a third one follows now and then: it knows the same as
// one that has just loaded everything, whether it was a few changes behind or more than the journal has.
func TestJournal(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("seed %d", s)
	rng := rand.New(rand.NewPCG(s, 0))
	street := newStreet(t, 3)
	following := street.houses[2]
	tenants := []*tenant{}
	for i, h := range street.houses[:2] {
		for j := range 2 {
			tenants = append(tenants, &tenant{h: h, name: fmt.Sprint("db", i, j), rng: rng})
		}
	}
	for range 300 {
		x := tenants[rng.IntN(len(tenants))]
		x.h.ok(x.h.Refresh(ctx))
		if rng.IntN(4) > 0 {
			x.h.ok(x.random())
		} else {
			x.rename()
		}
		if rng.IntN(5) > 0 {
			continue
		}
		following.ok(following.Refresh(ctx))
		fresh, err := catalog.Open(ctx, street.cluster.Process(), nil)
		following.ok(err)
		// The floors that DeclareDead raises are no revision, and no process waits for them.
		floors := regexp.MustCompile(`(Inherit|Own)Floor:\d+`)
		got := floors.ReplaceAllString(picture(following.Catalog), "")
		if want := floors.ReplaceAllString(picture(fresh), ""); got != want {
			t.Fatalf("the process that follows knows\n%s\nand one that has just begun\n%s", got, want)
		}
		for _, name := range []string{"n0", "n1", "n2"} {
			for _, x := range tenants {
				got, want := following.called(x.name, name), (&house{Catalog: fresh}).called(x.name, name)
				if got != want {
					t.Fatalf("%s/%s is container %d, want %d", x.name, name, got, want)
				}
			}
		}
	}
}

// called is the number of the container with a name, 0 if there is none.
func (h *house) called(database, container string) uint32 {
	db, err := h.Database(database)
	if err != nil {
		return 0
	}
	ct, err := h.Container(db, container)
	if err != nil {
		return 0
	}
	return ct.ID
}

// rename gives one of the tenant's containers one of a few names, so that names pass from one to another.
func (x *tenant) rename() {
	db, err := x.h.Database(x.name)
	if err != nil {
		return
	}
	if list := x.h.Containers(db); len(list) > 0 {
		ct, to := list[x.rng.IntN(len(list))], fmt.Sprint("n", x.rng.IntN(3))
		if ct.State().Name != to {
			x.h.ok(x.h.RenameContainer(ctx, ct, to, true))
		}
	}
}

// A process that is further behind than the journal goes loads everything, and one that meets a change of many
// records, too.
func TestJournalEnds(t *testing.T) {
	s := newStreet(t, 2)
	changing, following := s.houses[0], s.houses[1]
	db := changing.database("d")
	for i := range 1_005 {
		changing.container(db, fmt.Sprint("c", i))
	}
	for _, name := range []string{"c0", "c1004"} {
		if _, err := following.find("d", name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	changing.ok(changing.DeleteDatabase(ctx, db))
	if following.ok(following.Refresh(ctx)); len(following.AllContainers()) != 0 || len(following.Databases()) != 0 {
		t.Errorf("%d containers are left of a database that is gone", len(following.AllContainers()))
	}
}
