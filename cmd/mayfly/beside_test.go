package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

var (
	beside = flag.Int("beside", 5_000, "documents of TestWaveBesideRequests, of which nine tenths expire at once")
	alone  = flag.Duration("alone", time.Second,
		"how long it measures requests before the wave, and at least beside it")
)

// besideRate is how many requests arrive in a second, half of them reads, half durable writes.
const besideRate = 500

// TestWaveBesideRequests lets nine tenths of a container expire at once while requests read and write it,
// and wants all of the space back. With -v it tells what the requests felt.
func TestWaveBesideRequests(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, *beside, 0)
	s := started(t, exec.Command(binary, "--data", dir, "--nosql=127.0.0.1:0", "--admin=127.0.0.1:0"))
	t.Cleanup(func() { s.stop(t, os.Interrupt) })
	nosql, admin := s.address(t, ""), s.address(t, "Admin")
	p := paced{nosql: nosql}
	before := p.run(t, *alone, func() bool { return true })
	t.Logf("alone:  %v; %.0f MiB of memory, %d MiB on disk", before, resident(t, s.cmd.Process.Pid),
		diskUse(t, dir)>>20)

	policy := `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":1,"indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/text/?"}]}}`
	if code, text, _ := send(t, "PUT", nosql, "dbs/d/colls/c", "colls", "dbs/d/colls/c", "",
		policy); code != http.StatusOK {
		t.Fatalf("time to live: %d %s", code, text)
	}
	used, watch := s.processor(t), clock.Start()
	beside := p.run(t, *alone, func() bool { return gauge(t, admin, "mayfly_lifetime_backlog_documents") == 0 })
	t.Logf("beside: %v, for %v; processor %v; %.0f MiB of memory, %d MiB on disk", beside, watch.Elapsed(),
		s.processor(t)-used, resident(t, s.cmd.Process.Pid), diskUse(t, dir)>>20)
	t.Logf("p99 %.2f times that alone", float64(beside.p99)/float64(before.p99))
	after := p.run(t, *alone, func() bool { return true })
	t.Logf("after:  %v; %.0f MiB of memory, %d MiB on disk", after, resident(t, s.cmd.Process.Pid), diskUse(t, dir)>>20)
}

// A paced client sends requests at fixed times, however long they take: a stall counts for
// every request that waits behind it.
type paced struct {
	nosql string
	sent  int
}

// felt is what requests took, counted from when they were due.
type felt struct {
	count         int
	p50, p99, max time.Duration
}

func (f felt) String() string {
	return fmt.Sprintf("%d requests, p50 %v, p99 %v, at most %v", f.count, f.p50.Round(10*time.Microsecond),
		f.p99.Round(10*time.Microsecond), f.max.Round(10*time.Microsecond))
}

// run sends requests for at least d, and until over says so. It is asked once a second.
func (p *paced) run(t *testing.T, d time.Duration, over func() bool) felt {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var took []time.Duration
	var requests sync.WaitGroup
	requests.Go(func() {
		watch := clock.Start()
		for i := 0; ; i++ {
			due := time.Duration(i) * time.Second / besideRate
			if wait := due - watch.Elapsed(); wait > 0 && clock.Pause(ctx, wait) != nil || ctx.Err() != nil {
				return
			}
			p.sent++
			n := p.sent
			requests.Go(func() {
				if err := p.request(t.Context(), n); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				took = append(took, watch.Elapsed()-due)
			})
		}
	})
	watch := clock.Start()
	for clock.Pause(ctx, min(d, time.Second)) == nil && (watch.Elapsed() < d || !over()) {
	}
	cancel()
	requests.Wait()
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[min(len(took)-1, int(q*float64(len(took))))] }
	return felt{len(took), at(0.5), at(0.99), took[len(took)-1]}
}

// request reads a document that lives for ever, or writes another one.
func (p *paced) request(ctx context.Context, n int) error {
	if n%2 == 0 {
		i := n * 7919 % (*beside / 10) * 10
		code, text, _, err := try(ctx, "GET", p.nosql, fmt.Sprint("dbs/d/colls/c/docs/item", i), "docs",
			fmt.Sprint("dbs/d/colls/c/docs/item", i), fmt.Sprintf(`["p%d"]`, i%1000), "")
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("read: %d %s", code, text)
		}
		return err
	}
	body := fmt.Sprintf(`{"id":"new%d","pk":"p%d","n":%d,"text":"abcdefgh","ttl":-1}`, n, n%1000, n)
	code, text, _, err := try(ctx, "POST", p.nosql, "dbs/d/colls/c/docs", "docs", "dbs/d/colls/c",
		fmt.Sprintf(`["p%d"]`, n%1000), body)
	if err == nil && code != http.StatusCreated {
		err = fmt.Errorf("write: %d %s", code, text)
	}
	return err
}
