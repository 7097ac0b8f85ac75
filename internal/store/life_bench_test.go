//go:build unix

package store_test

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

var lifeDocuments = flag.Int("lives", 200_000, "documents of BenchmarkLife")

// BenchmarkLife takes documents of 1 KiB with five index terms through their whole life: written, expired, reclaimed
// and swept in the steps of the reaper, and compacted, while as many live all the time. Seconds are those of documents
// and pass as fast as the machine goes, so that the work is the same on any. B-written/B is what the engine writes to
// disk for each byte of the documents, and µs-cpu/document is that of the whole process, which makes the documents,
// too.
func BenchmarkLife(b *testing.B) {
	for _, life := range []struct {
		name      string
		rate      int // documents a second
		byDefault expiry.TTL
		own       func() int // ttl of a document
		before    int        // seconds until as many live as will
	}{
		{"own-1-to-5-s", 4_000, expiry.Never, func() int { return 1 + rand.IntN(5) }, 0},
		{"container-3-s", 4_000, 3, nil, 0},
		{"container-1-h", 60, 3_600, nil, 3_600},
	} {
		b.Run(life.name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				l := liver{world: newDisk(b, benchDefinition(life.byDefault), true), rate: life.rate, own: life.own}
				for range life.before {
					l.second()
				}
				b.StartTimer()
				l.measure(b, *lifeDocuments/life.rate)
			}
		})
	}
}

// A liver writes documents and reclaims them.
type liver struct {
	*world
	rate, next int
	own        func() int
	bytes      uint64 // of the documents
}

func (l *liver) measure(b *testing.B, seconds int) {
	before, cpu, docs, bytes := l.engine.Load(), cpuTime(), l.next, l.bytes
	for range seconds {
		l.second()
	}
	for l.engine.Load().Compactions > 0 {
		l.ok(clock.Pause(b.Context(), 10*time.Millisecond))
	}
	cpu, docs, bytes = cpuTime()-cpu, l.next-docs, l.bytes-bytes
	after := l.engine.Load()
	written := uint64(0)
	for name, n := range map[string]uint64{
		"log":       after.LogBytes - before.LogBytes,
		"flushed":   after.FlushedBytes - before.FlushedBytes,
		"compacted": after.CompactedBytes - before.CompactedBytes,
	} {
		b.ReportMetric(float64(n)/float64(bytes), "B-"+name+"/B")
		written += n
	}
	b.ReportMetric(float64(written)/float64(bytes), "B-written/B")
	b.ReportMetric(float64(cpu.Microseconds())/float64(docs), "µs-cpu/document")
}

// second writes the documents of one second of the clock, and reclaims those that have died in the one before.
func (l *liver) second() {
	for done := 0; done < l.rate; {
		var ops []store.Op
		for range min(10, l.rate-done) {
			k, body := l.body()
			l.bytes += uint64(len(body))
			ops = append(ops, store.Op{Verb: store.Create, Key: k, Body: body})
			done++
		}
		_, err := l.store.WriteAll(context.Background(), l.c, l.now, ops)
		l.ok(err)
		if done%1000 < 10 {
			l.reclaim(64)
		}
	}
	l.now++
	l.reclaim(1024)
}

// reclaim does what a pass of the reaper does.
func (l *liver) reclaim(step int) {
	for more := true; more; {
		done, err := l.store.Reclaim(context.Background(), l.c, l.now, step)
		l.ok(err)
		more = done.More
	}
	for l.store.SweepDue(context.Background(), l.c, 0) {
		_, err := l.store.Sweep(context.Background(), l.c, 16*step)
		l.ok(err)
	}
}

// body makes the next document. Half of its text can be compressed.
func (l *liver) body() (store.Key, doc.Doc) {
	i := l.next
	l.next++
	var random [420]byte
	for j := range random {
		random[j] = byte(rand.Uint32())
	}
	pk, id, ttl := fmt.Sprint("p", i%1000), fmt.Sprint("item-", i), ""
	if l.own != nil {
		ttl = fmt.Sprintf(`,"ttl":%d`, l.own())
	}
	text := fmt.Appendf(nil, `{"id":%q,"pk":%q,"n":%d,"group":%d,"name":"name %d","text":%q%s}`, id, pk, i, i%100,
		i*7919, hex.EncodeToString(random[:]), ttl)
	body, err := doc.FromJSON(nil, text, doc.ParseOptions{})
	l.ok(err)
	return key(pk, id), body
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
