package cluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/stand"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/txnkv"
	"github.com/tikv/client-go/v2/txnkv/transaction"
)

// A child is this test program again, as a client with settings of its own:
// ManagedLockTTL belongs to a whole process.
const (
	childDoes      = "CLUSTER_CHILD" // "hold" or "abandon"
	childPlacement = "CLUSTER_CHILD_PLACEMENT"
	childTTL       = "CLUSTER_CHILD_TTL" // ManagedLockTTL in milliseconds; empty for client-go's own
)

// child is a client that leaves a lock on the counter behind: because it is
// killed while it holds it, or because it is told to give up while it waits
// for the answer. It tells each step in a line.
func child() error {
	if ttl := os.Getenv(childTTL); ttl != "" {
		ms, err := strconv.ParseUint(ttl, 10, 64)
		if err != nil {
			return err
		}
		atomic.StoreUint64(&transaction.ManagedLockTTL, ms)
	}
	client, err := txnkv.NewClient([]string{os.Getenv(childPlacement)})
	if err != nil {
		return err
	}
	steps := bufio.NewReader(os.Stdin)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	txn, err := way{pessimistic: true}.begin(ctx, client)
	if err != nil {
		return err
	}
	if os.Getenv(childDoes) == "abandon" {
		// So that the client knows store and region before the store stops.
		if _, err := txn.Get(ctx, []byte("other")); err == nil {
			return fmt.Errorf("there is a key that nobody wrote")
		}
		fmt.Println("ready")
		if _, err := steps.ReadString('\n'); err != nil {
			return err
		}
		time.AfterFunc(time.Second, cancel) // the request has left by then, and no answer can come
	}
	_, err = lockCounter(ctx, client, txn)
	fmt.Println("locked", err)
	_, err = io.Copy(io.Discard, steps) // until the test ends
	return err
}

// A client that lost a counter's lock stops every other writer until the
// lock's time is over: by default for 20 s. Hence the settings in the README.
func TestStallOfLostLock(t *testing.T) {
	for _, tc := range []struct {
		does, ttl   string
		least, most time.Duration
	}{
		{"hold", "", 15 * time.Second, time.Minute},
		{"hold", "3000", 0, 15 * time.Second},
		{"abandon", "", 15 * time.Second, time.Minute},
		{"abandon", "3000", 0, 15 * time.Second},
	} {
		t.Run(tc.does+" "+tc.ttl, func(t *testing.T) {
			t.Parallel() // it only waits
			c := stand.NewCluster(t)
			client := connect(t, c)
			if err := next(within(t, time.Minute), client, way{}, nothing); err != nil {
				t.Fatal(err)
			}
			run := exec.Command(os.Args[0])
			run.Env = append(os.Environ(), childDoes+"="+tc.does, childPlacement+"="+c.Address, childTTL+"="+tc.ttl)
			run.Stderr = os.Stderr
			out, err := run.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			in, err := run.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				run.Process.Kill()
				run.Wait() // it was killed, or has told why it ended
			}()
			lines := bufio.NewReader(out)
			if tc.does == "abandon" {
				expect(t, lines, "ready\n")
				if err := c.Store.Suspend(); err != nil {
					t.Fatal(err)
				}
				if _, err := in.Write([]byte("go\n")); err != nil {
					t.Fatal(err)
				}
				expect(t, lines, "locked context canceled\n")
				if err := c.Store.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				awaitLock(t, client)
			} else {
				expect(t, lines, "locked <nil>\n")
				if err := run.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			if err := next(within(t, time.Minute), client, way{}, nothing); err != nil {
				t.Fatal(err)
			}
			waited := time.Since(began)
			t.Logf("the next writer waited %v", waited.Round(100*time.Millisecond))
			if waited < tc.least || waited > tc.most {
				t.Errorf("the next writer waited %v, expected %v to %v", waited, tc.least, tc.most)
			}
		})
	}
}

func nothing(*transaction.KVTxn, int) error { return nil }

// awaitLock returns when the counter has a lock.
func awaitLock(t *testing.T, client *txnkv.Client) {
	t.Helper()
	ctx := within(t, 10*time.Second)
	for {
		now, err := client.GetTimestamp(ctx)
		if err != nil {
			t.Fatal(err)
		}
		behind := append(slices.Clone(counter), 0)
		locks, err := tikv.StoreProbe{KVStore: client.KVStore}.ScanLocks(ctx, counter, behind, now)
		if err != nil {
			t.Fatalf("wait for the lock of the counter: %v", err)
		}
		if len(locks) > 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func expect(t *testing.T, lines *bufio.Reader, want string) {
	t.Helper()
	if got, err := lines.ReadString('\n'); got != want {
		t.Fatalf("the child said %q, %v, want %q", got, err, want)
	}
}
