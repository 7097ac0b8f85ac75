package pressure

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	soakFor = flag.Duration("soak", 24*time.Second,
		"how long TestSoak goes on; from 10m on it has all clients, and judges latency")
	soakP99 = flag.Duration("p99", 100*time.Millisecond,
		"what innocent clients may wait at p99 in a soak of 10m and more")
)

const (
	// lagAtMost is for how long an expired document may keep its space: the reaper has 5 s in mind.
	lagAtMost = 30 * time.Second
	// settleFor is how long a mayfly has to become quiet and small again when everybody has gone.
	settleFor = 10 * time.Second
)

// soakLoads are the loads that take turns.
func soakLoads() (loads []load) {
	share := 4
	if *soakFor >= 10*time.Minute {
		share = 1
	}
	loads = []load{
		largeItems(16), sorts(32), lookups(32), maps(32), largeScripts(12, 150), loopingScripts(16),
		unreadPages(200), unreadFinds(100), unfinishedBodies(600), compressedFrames(60), goneClients(16),
	}
	for i := range loads {
		loads[i].clients = max(2, loads[i].clients/share)
	}
	return loads
}

// TestSoak writes documents that live for 1 to 5 seconds as fast as it can while
// one load after the other comes on top, and innocent clients read beside them.
// A line for each turn says what it was like; the end is judged.
//
//	go test -run Soak -v -soak 10m -timeout 1h ./pressure
func TestSoak(t *testing.T) {
	if *memoryLimit == "" {
		*memoryLimit = "1GiB"
	}
	long := *soakFor >= 10*time.Minute
	opened := time.Now()
	s := start(t)
	g := watch(t, s)
	ctx := t.Context()
	must(t, s.seed(ctx))
	c, k := &churn{server: s}, &keeper{server: s}
	must(t, c.prepare(ctx))
	must(t, k.prepare(ctx))
	loads := soakLoads()
	for _, l := range loads {
		must(t, l.prepare(ctx, s))
	}
	in := beside(t, s, 50, 0)
	must(t, sleep(ctx, time.Second))
	calm := s.read(ctx)

	began := time.Now()
	t.Logf("filled in %v", began.Sub(opened).Round(time.Second))
	writing, stop := context.WithCancel(ctx)
	var writers sync.WaitGroup
	writers.Go(func() { c.run(writing) })
	writers.Go(func() { k.run(writing) })
	t.Logf("| load | clients | memory at most | goroutines | files | lag | backlog | disk | innocent p99 | worst | " +
		"answers |")
	var all tally
	turn := min(30*time.Second, *soakFor/time.Duration(len(loads)+1))
	t.Log(s.turn(g, in, "churn alone", 0, &c.tally, func() { must(t, sleep(ctx, turn)) }))
	for n := 0; time.Since(began)+turn/2 < *soakFor; n++ {
		l := loads[n%len(loads)]
		var told tally
		t.Log(s.turn(g, in, l.name, l.clients, &told, func() {
			loading, done := context.WithTimeout(ctx, turn)
			defer done()
			for loading.Err() == nil {
				l.burst(loading, s, l.clients, &told)
			}
		}))
		if told.failed > 0 {
			t.Errorf("%s: %v: %s", l.name, &told, told.example)
		}
		all.merge(&told)
		if err, gone := s.ended(); gone {
			t.Fatalf("mayfly ended: %v", err)
		}
	}
	stop()
	writers.Wait()
	s.hangUp(t)
	over := time.Now()
	must(t, sleep(ctx, settleFor))
	for r := s.read(ctx); r.backlog > 0 && time.Since(over) < 2*time.Minute; r = s.read(ctx) {
		must(t, sleep(ctx, time.Second))
	}
	settled := time.Since(over)
	end := s.read(ctx)
	in.stop()
	lost, err := k.lost(ctx)
	must(t, err)

	readings := g.between(began, over)
	peak, limit := s.status("VmHWM"), size(t, *memoryLimit)
	v := in.between("", "", began, over)
	t.Logf("written %d documents and %d that stay; churn: %v; loads: %v; %d looked at around their ends",
		c.written.Load(), len(k.rest)+len(k.wire), &c.tally, &all, c.looked.Load())
	t.Logf("memory %s at most, %s %v after, of %s; goroutines %d, %d before; files %d, %d before; disk %s", mib(peak),
		mib(end.resident), settled.Round(time.Second), mib(limit),
		end.goroutines, calm.goroutines, end.files, calm.files, mib(end.disk))
	t.Logf("lag %.1f s at most; backlog %.0f at most; innocent clients: %d requests, p99 %s, worst %s, %d failed",
		most(readings, lagOf), most(readings, backlogOf), v.requests, ms(v.p99), ms(v.worst), v.failed)

	judge := func(good bool, format string, args ...any) {
		t.Helper()
		if !good {
			t.Errorf(format, args...)
		}
	}
	judge(peak <= limit+limit/10, "memory was %s, more than a tenth above its limit of %s", mib(peak), mib(limit))
	judge(lost == 0, "%d acknowledged documents are lost", lost)
	judge(c.expired.Load() == 0, "%d expired documents were answered", c.expired.Load())
	judge(c.missing.Load() == 0, "%d living documents were answered as missing", c.missing.Load())
	judge(most(readings, lagOf) <= lagAtMost.Seconds(),
		"an expired document waited %.1f s to be reclaimed, more than %v", most(readings, lagOf), lagAtMost)
	judge(end.backlog == 0, "%d expired documents are not reclaimed %v after the last was written", end.backlog,
		settled)
	for who, told := range map[string]*tally{"churn": &c.tally, "kept documents": &k.tally} {
		judge(told.failed == 0, "%s: %v: %s", who, told, told.example)
	}
	judge(v.failed == 0, "innocent clients: %d of %d requests failed: %s", v.failed, v.requests, v.example)
	judge(c.written.Load() > 0 && c.looked.Load() > 0 && len(k.rest) > 0 && len(k.wire) > 0 && v.requests > 0,
		"somebody did nothing")
	judge(end.goroutines <= calm.goroutines+100, "%d goroutines are left, of %d before", end.goroutines,
		calm.goroutines)
	judge(end.files <= calm.files+200, "%d files and connections are left open, of %d before", end.files, calm.files)
	if !long {
		s.stop(t)
		return
	}
	judge(v.p99 <= *soakP99, "innocent clients waited %s at p99, more than %v", ms(v.p99), *soakP99)
	half := began.Add(over.Sub(began) / 2)
	first, second := g.between(began, half), g.between(half, over)
	judge(most(second, lagOf) <= 2*max(most(first, lagOf), 5),
		"lag grows: %.1f s at most in the first half, %.1f s in the second", most(first, lagOf), most(second, lagOf))
	judge(most(second, diskOf) <= 1.5*most(first, diskOf),
		"disk grows: %.0f bytes at most in the first half, %.0f in the second", most(first, diskOf),
		most(second, diskOf))
	s.stop(t)
}

// turn does something and says in a row of a table what it was like.
func (s *server) turn(g *gauge, in *innocents, name string, clients int, told *tally, do func()) string {
	from := time.Now()
	do()
	to := time.Now()
	readings := g.between(from, to)
	v := in.between("", "", from, to)
	of := func(what func(reading) float64) float64 { return most(readings, what) }
	return fmt.Sprintf("| %s | %d | %s | %.0f | %.0f | %.1f s | %.0f | %s | %s | %s | %v |", name, clients,
		mib(g.peak(from, to)),
		of(func(r reading) float64 { return float64(r.goroutines) }),
		of(func(r reading) float64 { return float64(r.files) }),
		of(lagOf), of(backlogOf), mib(int64(of(diskOf))), ms(v.p99), ms(v.worst), told)
}

// merge adds what others were told.
func (t *tally) merge(o *tally) {
	t.done, t.refused, t.stopped, t.failed = t.done+o.done, t.refused+o.refused, t.stopped+o.stopped, t.failed+o.failed
}

// size reads a number of bytes as --memory-limit has it.
func size(t testing.TB, text string) int64 {
	t.Helper()
	shift := 0
	for unit, s := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			text, shift = number, s
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	must(t, err)
	return n << shift
}
