package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

var (
	kills    = flag.Int("kills", 4, "how often TestKills kills a mayfly")
	killSeed = flag.Uint64("kill-seed", 0, "of TestKills; 0 chooses one")
)

// TestKills kills a mayfly at random moments: while it starts, under load, while it stops. It starts again each
// time, by itself, and has everything that was acknowledged with sync on.
func TestKills(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	args := []string{"--data=" + dir, "--nosql=127.0.0.1:0", "--nosql-tls=off", "--mongo=", "--admin="}
	atMost := func(d time.Duration) {
		if err := clock.Pause(t.Context(), time.Duration(rng.Int64N(int64(d)))); err != nil {
			t.Fatal(err)
		}
	}

	var acknowledged, sent int // documents, named by numbers
	for round := range *kills {
		for range rng.IntN(3) { // while it starts
			cmd := exec.CommandContext(t.Context(), binary, args...)
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			atMost(60 * time.Millisecond)
			if err := cmd.Process.Kill(); err != nil && cmd.ProcessState == nil {
				t.Logf("round %d: %v", round, err)
			}
			_ = cmd.Wait()
			if cmd.ProcessState.Exited() {
				t.Fatalf("round %d: it ended by itself:\n%s", round, out.String())
			}
		}
		noSync := rng.IntN(4) == 0 && round > 0 // the first one makes the container
		s := serve(t, append(args, fmt.Sprintf("--sync=%v", !noSync))...)
		nosql := s.address(t, "NoSQL")
		if round == 0 {
			for _, c := range []struct{ path, kind, link, body string }{
				{"dbs", "dbs", "", `{"id":"d"}`},
				{"dbs/d/colls", "colls", "dbs/d", `{"id":"c","partitionKey":{"paths":["/p"],"kind":"Hash"}}`},
			} {
				if code, text, _ := send(t, http.MethodPost, nosql, c.path, c.kind, c.link, "",
					c.body); code != http.StatusCreated {
					t.Fatalf("%s: %d %s", c.path, code, text)
				}
			}
		}
		if n := documents(t, nosql); n < acknowledged || n > sent {
			t.Fatalf("round %d: %d documents, of which %d were acknowledged and %d sent", round, n, acknowledged, sent)
		} else {
			acknowledged = n
		}
		first, stored := sent, load(t.Context(), nosql, &sent, rng, func() {
			atMost(400 * time.Millisecond)
			if rng.IntN(3) == 0 { // while it stops
				if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Error(err)
				}
				atMost(30 * time.Millisecond)
			}
			if err := s.cmd.Process.Kill(); err != nil && err != os.ErrProcessDone {
				t.Error(err)
			}
			_ = s.cmd.Wait()
		})
		if noSync {
			continue
		}
		acknowledged += len(stored)
		if rng.IntN(2) == 0 {
			continue
		}
		s = serve(t, args...)
		for _, number := range stored {
			name := fmt.Sprintf("dbs/d/colls/c/docs/%d", number)
			if code := get(t, s.address(t, "NoSQL"), name, "docs", name, `["p"]`, nil); code != http.StatusOK {
				t.Fatalf("round %d: document %d of %d to %d was acknowledged, and answers %d", round, number, first,
					sent, code)
			}
		}
		s.stop(t, syscall.SIGTERM)
	}
	if code, out := mayfly(t, "check", "--data="+dir); code != 0 {
		t.Errorf("check: %d %s", code, out)
	}
}

// load writes documents from *sent on while kill is under way, and gives the numbers of those that were acknowledged.
func load(ctx context.Context, nosql string, sent *int, rng *rand.Rand, kill func()) (stored []int) {
	var mu sync.Mutex
	var running sync.WaitGroup
	size := 1 << rng.IntN(18)
	for range 4 {
		running.Go(func() {
			for {
				mu.Lock()
				number := *sent
				*sent++
				mu.Unlock()
				body := fmt.Sprintf(`{"id":"%d","p":"p","x":"%s"}`, number, strings.Repeat("x", size))
				code, _, _, err := try(ctx, http.MethodPost, nosql, "dbs/d/colls/c/docs", "docs", "dbs/d/colls/c",
					`["p"]`, body)
				if err != nil {
					return
				}
				if code == http.StatusCreated {
					mu.Lock()
					stored = append(stored, number)
					mu.Unlock()
				}
			}
		})
	}
	kill()
	running.Wait()
	return stored
}
