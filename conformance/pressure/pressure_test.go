package pressure

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"
)

var churnFor = flag.Duration("churn", 5*time.Minute, "how long BenchmarkPressure/P3 writes")

// BenchmarkPressure puts a mayfly of its own under each load alone, with 50
// point reads a second of an innocent client of each API beside it:
//
//	go test -run XXX -bench Pressure/P4 -benchtime 1x -timeout 1h ./pressure
func BenchmarkPressure(b *testing.B) {
	for _, r := range []struct {
		row  string
		load load
		most time.Duration // how long to wait for answers, or to keep the server waiting
	}{
		{"P1/4", largeItems(4), 3 * time.Minute},
		{"P1/16", largeItems(16), 3 * time.Minute},
		{"P1/64", largeItems(64), 3 * time.Minute},
		{"P4/frames", compressedFrames(100), 15 * time.Second},
		{"P4/pages", unreadPages(600), 15 * time.Second},
		{"P4/bodies", unfinishedBodies(1000), 15 * time.Second},
		{"P4/finds", unreadFinds(200), 15 * time.Second},
		{"P4/lookup", lookups(64), 2 * time.Minute},
		{"P4/sort", sorts(64), 2 * time.Minute},
		{"P4/map", maps(64), 2 * time.Minute},
		{"P5", largeScripts(12, 450), 2 * time.Minute},
		{"P7/scripts", loopingScripts(64), 30 * time.Second},
	} {
		b.Run(r.row, func(b *testing.B) { alone(b, r.row, r.load, r.most) })
	}
	for i := range long {
		row := fmt.Sprint("P2/", i+1)
		b.Run(row, func(b *testing.B) { alone(b, row, longExpression(i, 1), 20*time.Second) })
	}
	b.Run("P2/gone", func(b *testing.B) { alone(b, "P2/gone", goneClients(2*len(long)), 2*time.Second) })
	b.Run("P3", steady)
	for _, n := range []int{100_000, 300_000, 1_000_000} {
		b.Run(fmt.Sprint("P8/", n), func(b *testing.B) { wave(b, n) })
		b.Run(fmt.Sprint("P8/pausing/", n), func(b *testing.B) { pausing(b, n) })
	}
}

// busyFor is for how long a mayfly is looked at that is still busy when everybody has gone.
const busyFor = 45 * time.Second

// alone has one burst of a load and looks at what is left ten seconds later,
// and for how long the processor stays busy.
func alone(b *testing.B, row string, l load, atMost time.Duration) {
	s := start(b)
	ctx := b.Context()
	must(b, s.seed(ctx))
	must(b, l.prepare(ctx, s))
	g := watch(b, s)
	in := beside(b, s, 50, 0)
	quiet(ctx, b, s)
	calm := time.Now()
	must(b, sleep(ctx, 5*time.Second))
	before := s.read(ctx)

	burst, done := context.WithTimeout(ctx, atMost)
	defer done()
	var t tally
	began := time.Now()
	l.burst(burst, s, l.clients, &t)
	over := time.Now()
	if took := over.Sub(began); took < 3*time.Second { // enough requests for a p99
		must(b, sleep(ctx, 3*time.Second-took))
	}
	until := time.Now()
	must(b, sleep(ctx, 10*time.Second-time.Since(over)))
	after := s.read(ctx)
	idle, ok := g.idle(over)
	for ; !ok && time.Since(over) < busyFor; idle, ok = g.idle(over) {
		must(b, sleep(ctx, time.Second))
	}
	busy := fmt.Sprintf("idle %.0f s after", idle.Seconds())
	if !ok {
		busy = fmt.Sprintf("busy for %v and more after", busyFor)
	}
	in.stop()
	if err, gone := s.ended(); gone {
		busy = fmt.Sprint("ended: ", err)
	}
	was, v := in.between("", "", calm, began), in.between("", "", began, until)
	b.ReportMetric(float64(g.peak(began, until)>>20), "peak-MiB")
	b.ReportMetric(float64(after.resident>>20), "later-MiB")
	b.ReportMetric(float64(v.p99.Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(v.worst.Microseconds())/1000, "worst-ms")
	what := t.String()
	if v.failed > 0 {
		what += fmt.Sprintf("; %d of %d others failed", v.failed, v.requests)
	}
	table.add(fmt.Sprintf("%s: %d %s", row, l.clients, l.name), ms(over.Sub(began)),
		fmt.Sprintf("%s, %s before", mib(max(g.peak(began, until), s.status("VmHWM"))), mib(before.resident)),
		mib(after.resident),
		fmt.Sprintf("%s, %s alone", ms(v.p99), ms(was.p99)), ms(v.worst), what+"; "+busy)
	if t.example != "" {
		b.Logf("%s: %s", row, t.example)
	}
	b.Logf("%s: slowest by second: %s", row, in.bySecond(began, until))
	if v.example != "" {
		b.Logf("%s: an innocent client: %s", row, v.example)
	}
}

// steady writes short-lived documents as fast as it can and says whether the reaper keeps up.
func steady(b *testing.B) {
	s := start(b)
	ctx := b.Context()
	must(b, s.seed(ctx))
	c := &churn{server: s}
	must(b, c.prepare(ctx))
	g := watch(b, s)
	in := beside(b, s, 50, 0)
	writing, done := context.WithTimeout(ctx, *churnFor)
	defer done()
	began := time.Now()
	ended := make(chan struct{})
	go func() { c.run(writing); close(ended) }()
	settled := *churnFor / 5
	must(b, sleep(ctx, settled))
	third := (*churnFor - settled) / 3
	amplification := func() string {
		from, bytes, documents := s.read(ctx), c.bytes.Load(), c.written.Load()
		must(b, sleep(ctx, third-time.Second))
		to := s.read(ctx)
		return fmt.Sprintf("%.1f (%d/s)", float64(to.written-from.written)/float64(c.bytes.Load()-bytes),
			int(float64(c.written.Load()-documents)/to.at.Sub(from.at).Seconds()))
	}
	first := amplification()
	must(b, sleep(ctx, third))
	last := amplification()
	<-ended
	over := time.Now()
	readings := g.between(began.Add(settled), over)
	end := s.read(ctx)
	v := in.between("", "", began, over)
	table.add(fmt.Sprintf("P3: churn of %d + %d writers", restWriters, wireWriters), ms(over.Sub(began)),
		mib(s.status("VmHWM")), mib(end.resident), ms(v.p99), ms(v.worst),
		fmt.Sprintf("%d documents: %v; lag %.0f s at the end, %.0f at most, %+.2f s/s; backlog %d, %+.0f/s; write "+
			"amplification %s, then %s; disk %s",
			c.written.Load(), &c.tally, end.lag.Seconds(), most(readings, lagOf), slope(readings, lagOf), end.backlog,
			slope(readings, backlogOf), first, last, mib(end.disk)))
	if c.expired.Load()+c.missing.Load() > 0 {
		b.Errorf("%d expired documents were answered, %d living ones were missing, of %d", c.expired.Load(),
			c.missing.Load(), c.looked.Load())
	}
	if v.failed > 0 {
		b.Errorf("%d of %d requests of innocent clients failed: %s", v.failed, v.requests, v.example)
	}
	if c.tally.example != "" {
		b.Log(c.tally.example)
	}
}
