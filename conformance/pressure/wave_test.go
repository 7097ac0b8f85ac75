package pressure

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// beforeFor is how long requests are measured before a wave.
const beforeFor = 15 * time.Second

// wave lets n documents end in the same second, half of each API, beside 500
// requests a second of innocent clients, of which one in ten writes. One in ten
// documents lives on.
func wave(b *testing.B, n int) {
	s, g, end := prepareWave(b, n)
	ctx := b.Context()
	in := beside(b, s, 250, 10)
	must(b, sleep(ctx, time.Until(end.Add(-beforeFor))))
	before := s.read(ctx)
	must(b, sleep(ctx, time.Until(end)))
	// the backlog is counted now and then only
	for r := before; r.reclaimed < before.reclaimed+n-n/10; r = s.read(ctx) {
		must(b, sleep(ctx, 250*time.Millisecond))
		if time.Since(end) > 5*time.Minute {
			b.Fatalf("%d of %d documents are reclaimed after five minutes", r.reclaimed-before.reclaimed, n-n/10)
		}
	}
	over := time.Now()
	must(b, sleep(ctx, 10*time.Second))
	calm := s.read(ctx)
	must(b, sleep(ctx, 20*time.Second))
	after := s.read(ctx)
	in.stop()
	b.ReportMetric(over.Sub(end).Seconds(), "s-to-reclaim")
	var latency []string
	var worst time.Duration
	for _, kind := range []string{"read", "write"} {
		was, then := in.between("", kind, end.Add(-beforeFor), end), in.between("", kind, end, over)
		latency = append(latency,
			fmt.Sprintf("%ss %s, %s before: %.1f times", kind, ms(then.p99), ms(was.p99),
				float64(then.p99)/float64(was.p99)))
		worst = max(worst, then.worst)
		if then.failed > 0 {
			b.Errorf("%d of %d %ss of innocent clients failed: %s", then.failed, then.requests, kind, then.example)
		}
	}
	table.add(fmt.Sprintf("P8: wave of %d beside 500 requests/s", n), ms(over.Sub(end)),
		fmt.Sprintf("%s, %s before", mib(g.peak(end, over)), mib(before.resident)),
		mib(calm.resident), strings.Join(latency, "; "), ms(worst),
		fmt.Sprintf("lag at most %.0f s; tables %s before, 30 s after %s: %.1f times what lives; all files %s, then %s",
			most(g.between(end, over), lagOf), mib(before.tables), mib(after.tables),
			float64(after.tables)*10/float64(before.tables), mib(before.disk), mib(after.disk)))
}

// prepareWave starts a mayfly that has them, with a gauge, and says when they end.
func prepareWave(b *testing.B, n int) (s *server, g *gauge, end time.Time) {
	s = start(b, "--mongo-replset=") // what a wave leaves behind, without the changes that are kept for an hour
	ctx := b.Context()
	must(b, s.seed(ctx))
	must(b, s.container(ctx, "wave", -1))
	c := s.collection("wave")
	_, err := c.Indexes().CreateOne(ctx,
		mongo.IndexModel{Keys: d("at", 1), Options: options.Index().SetExpireAfterSeconds(0)})
	must(b, err)
	g = watch(b, s)
	// Those that live on come first: how long they take says when the others may end.
	filling := time.Now()
	fillWave(ctx, b, s, 0, n/10, time.Time{})
	end = time.Now().Add(45*time.Second + 20*time.Since(filling)).Truncate(time.Second)
	fillWave(ctx, b, s, n/10, n, end)
	quiet(ctx, b, s)
	if left := time.Until(end); left < beforeFor+5*time.Second {
		b.Fatalf("%d documents took so long that %v are left until their end", n, left)
	}
	return s, g, end
}

// pausing does the same for as long as the reaper has work, and lets it work in every other two seconds only: what
// requests feel of it, whatever else there is on the machine.
func pausing(b *testing.B, n int) {
	const phase = 2 * time.Second
	s, _, end := prepareWave(b, n)
	ctx := b.Context()
	in := beside(b, s, 250, 10)
	before := s.read(ctx)
	must(b, sleep(ctx, time.Until(end)))
	var paused, working []span
	for r := before; r.reclaimed < before.reclaimed+n-n/10 && time.Since(end) < 5*time.Minute; r = s.read(ctx) {
		for _, p := range []struct {
			path  string
			spans *[]span
		}{{"/reclaim/pause", &paused}, {"/reclaim/resume", &working}} {
			must(b, s.administer(ctx, p.path))
			began := time.Now()
			must(b, sleep(ctx, phase))
			*p.spans = append(*p.spans, span{began, time.Now()})
		}
	}
	in.stop()
	var latency []string
	for _, kind := range []string{"read", "write"} {
		was, then := in.during("", kind, paused...), in.during("", kind, working...)
		latency = append(latency,
			fmt.Sprintf("%ss %s and %s in the median, %s and %s while it is paused: %.2f and %.2f times", kind,
				ms(then.p99), ms(then.p50), ms(was.p99), ms(was.p50), float64(then.p99)/float64(was.p99),
				float64(then.p50)/float64(was.p50)))
	}
	table.add(fmt.Sprintf("P8: wave of %d, the reaper paused in every other %v", n, phase), ms(time.Since(end)), "", "",
		strings.Join(latency, "; "), "", "")
}

// fillWave writes the documents from one number to another, in batches. Without an end they live for ever.
func fillWave(ctx context.Context, b *testing.B, s *server, from, to int, end time.Time) {
	const batch = 100
	together(8, func(worker int) {
		for at := from + worker*batch; at < to && !b.Failed(); at += 8 * batch {
			if worker%2 == 0 {
				var all []any
				for i := at; i < at+batch; i++ {
					document := bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i % 1000},
						{Key: "tags", Value: bson.A{"a", "b"}}, {Key: "text", Value: filler}}
					if !end.IsZero() {
						document = append(document, bson.E{Key: "at", Value: end})
					}
					all = append(all, document)
				}
				if _, err := s.collection("wave").InsertMany(ctx, all); err != nil {
					b.Error(err)
				}
				continue
			}
			pk := fmt.Sprint("p", at/batch%1000)
			body := "["
			for i := at; i < at+batch; i++ {
				ttl := -1
				if !end.IsZero() {
					ttl = 1 + int(time.Until(end).Seconds()) // counted from the second in which it is written
				}
				if i > at {
					body += ","
				}
				body += fmt.Sprintf(`{"operationType":"Create","resourceBody":{"id":"w%d","pk":%q,"ttl":%d,"n":%d,"tags":["a","b"],"place":{"city":"c%d"},"text":%q}}`,
					i, pk, ttl, i%1000, i%50, filler)
			}
			name, text := keyed(pk)
			if _, err := s.send(ctx, "POST", "dbs/rest/colls/wave/docs", body+"]", name, text,
				"x-ms-cosmos-is-batch-request", "true", "x-ms-cosmos-batch-atomic", "true", "x-ms-cosmos-batch-ordered",
				"true"); err != nil {
				b.Error(err)
			}
		}
	})
	if b.Failed() {
		b.FailNow()
	}
}

// quiet waits until the server uses a tenth of a processor or less: nothing is left to compact.
func quiet(ctx context.Context, t testing.TB, s *server) {
	t.Helper()
	for range 20 {
		used := s.cpu()
		must(t, sleep(ctx, time.Second))
		if s.cpu()-used < 100*time.Millisecond {
			return
		}
	}
}

func ms(d time.Duration) string {
	if d > time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func mib(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
