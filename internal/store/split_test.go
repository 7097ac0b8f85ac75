package store_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// split splits a range and waits for the end.
func (w *world) split(parent uint16) {
	w.t.Helper()
	_, err := w.store.Split(context.Background(), w.c, parent, nil)
	w.ok(err)
	w.splitEnds()
}

// splitEnds waits for the end of the split that is under way.
func (w *world) splitEnds() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for split := w.c.State().Splitting; split != nil; split = w.c.State().Splitting {
		if err := w.c.SplitOver(ctx, split); err != nil {
			w.ok(cmp.Or(w.store.ResumeBuilds(context.Background()), err))
		}
	}
	w.ok(w.store.ResumeBuilds(context.Background()))
}

// splitOne splits any range of the container, unless it has many.
func (w *world) splitOne(rng *rand.Rand) {
	w.t.Helper()
	ranges := w.c.State().Ranges()
	if len(ranges) < 12 {
		w.split(ranges[rng.IntN(len(ranges))].Number)
	}
}

func TestSplit(t *testing.T) {
	def := definition(expiry.Never)
	def.Unique = [][]string{{"/u"}}
	w := newWorld(t, def)
	for i := range 100 {
		_, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "a", fmt.Sprintf(`"u":%d,"n":%d`, i, i%7)))
		w.ok(err)
	}
	before := w.scan(access.Access{})
	numbers := w.numbers()
	w.split(0)
	ranges := w.c.State().Ranges()
	if len(ranges) != 2 || ranges[0].Number != 1 || ranges[1].Number != 2 || fmt.Sprint(ranges[0].Parents) != "[0]" {
		t.Fatalf("ranges %+v", ranges)
	}
	w.consistent()
	if got := w.scan(access.Access{}); got != before {
		t.Errorf("the scan gives %q, and gave %q", got, before)
	}
	if got := w.numbers(); fmt.Sprint(got) != fmt.Sprint(numbers) {
		t.Errorf("numbers %v, were %v", got, numbers)
	}
	w.reopen()
	w.consistent()
	for i := range 100 {
		if !w.alive(fmt.Sprint("p", i), "a") {
			t.Errorf("document %d is gone", i)
		}
		_, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "b", fmt.Sprintf(`"u":%d`, i)))
		if fault.KindOf(err) != fault.Exists {
			t.Errorf("a second document with a unique value: %v", err)
		}
	}
	_, err := w.store.Split(t.Context(), w.c, 0, nil)
	if err != catalog.ErrNoRange {
		t.Errorf("another split of the range: %v", err)
	}
}

// numbers are the numbers of all documents, in the order of a scan.
func (w *world) numbers() (list []uint64) {
	w.t.Helper()
	for d, err := range w.store.Scan(context.Background(), w.view(), access.Access{}) {
		w.ok(err)
		list = append(list, d.Number)
	}
	return list
}

// TestSplitRangesAnswerAlike does the same to containers of which some are split now and then, and asks them the same.
func TestSplitRangesAnswerAlike(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("seed %d", s)
	var worlds []*world
	for _, n := range []int{4, 1, 4} {
		def := definition(1000)
		def.Partitions = n
		def.Indexing.Composite = [][]catalog.CompositePath{{{Path: "/a"}, {Path: "/b", Descending: true}}}
		worlds = append(worlds, newWorld(t, def))
	}
	selections := rangeSelections(worlds[0])
	splits := rand.New(rand.NewPCG(s, 99))
	for round := range times(4) {
		for i, w := range worlds {
			churn(w, rand.New(rand.NewPCG(s, uint64(round))))
			if i > 0 {
				w.splitOne(splits)
			}
		}
		for name, of := range selections {
			want := worlds[0].listOf(of)
			for _, w := range worlds[1:] {
				got := w.listOf(of)
				if diff := differ(want, got); diff != "" {
					t.Errorf("round %d, %s over %d ranges: %s", round, name, len(w.ranges()), diff)
				}
				w.pagesLike(name, of, got)
				n, ok, err := w.store.Count(context.Background(), w.view(), access.Access{Of: of})
				w.ok(err)
				if ok && n != uint64(len(want)) {
					t.Errorf("round %d, %s over %d ranges: counts %d, has %d",
						round, name, len(w.ranges()), n, len(want))
				}
			}
		}
		for _, w := range worlds {
			w.consistent()
			if round == 2 {
				w.reopen()
			}
		}
		if t.Failed() {
			return
		}
	}
}

// TestPagesGoOnOverASplit reads half of the pages of each selection before a split, and the rest after it.
func TestPagesGoOnOverASplit(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint("ranges=", n), func(t *testing.T) {
			def := definition(expiry.Never)
			def.Partitions = n
			def.Indexing.Composite = [][]catalog.CompositePath{{{Path: "/a"}, {Path: "/b", Descending: true}}}
			w := newWorld(t, def)
			rng := rand.New(rand.NewPCG(7, uint64(n)))
			four := newWorld(t, func() catalog.Definition { d := definition(0); d.Partitions = 4; return d }())
			churn(w, rng)
			w.now++
			churn(w, rng)
			for name, of := range rangeSelections(four) {
				want := w.listOf(of)
				for _, at := range []int{1, len(want) / 2, len(want) - 1} {
					if at < 1 || at >= len(want) {
						continue
					}
					got := w.listAfter(of, nil, at)
					if at == len(want)/2 {
						w.splitOne(rng)
					}
					got = append(got, w.listAfter(of, got[at-1].position, -1)...)
					if a, b := namesOf(want), namesOf(got); a != b {
						t.Fatalf("%s, page of %d: %s, want %s", name, at, b, a)
					}
				}
			}
		})
	}
}

// namesOf are the names of documents, in order.
func namesOf(list []listed) string {
	var names []string
	for _, x := range list {
		names = append(names, x.name)
	}
	return strings.Join(names, " ")
}
