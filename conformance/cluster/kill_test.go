package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/stand"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/txnkv"
	"github.com/tikv/client-go/v2/txnkv/transaction"
)

// patience is how long one transaction may take, kills included.
const patience = 30 * time.Second

// writers write on one counter and note what was acknowledged.
type writers struct {
	client *txnkv.Client

	mu      sync.Mutex
	acked   map[int]string // by count
	unknown map[string]bool
	last    time.Time     // when something was acknowledged
	silence time.Duration // the longest between two of them
	slowest time.Duration // of all transactions
}

func (w *writers) run(ctx context.Context, name string) {
	for i := 0; ctx.Err() == nil; i++ {
		id := fmt.Sprintf("%s.%d", name, i)
		at := -1
		began := time.Now()
		limit, cancel := context.WithTimeout(context.Background(), patience)
		err := next(limit, w.client, ways[i%len(ways)], func(txn *transaction.KVTxn, count int) error {
			at = count
			return txn.Set(fmt.Appendf(nil, "feed/%08d", count), []byte(id))
		})
		cancel()
		w.mu.Lock()
		now := time.Now()
		w.slowest = max(w.slowest, now.Sub(began))
		if err != nil {
			w.unknown[id] = true
		} else {
			w.acked[at] = id
			w.silence = max(w.silence, now.Sub(w.last))
			w.last = now
		}
		w.mu.Unlock()
	}
}

// look checks one snapshot: the feed is dense up to the counter, and whatever
// was acknowledged before is in it.
func (w *writers) look(ctx context.Context) error {
	w.mu.Lock()
	before := maps.Clone(w.acked)
	w.mu.Unlock()
	txn, err := way{}.begin(ctx, w.client)
	if err != nil {
		return nil // the cluster is away
	}
	count := 0
	value, err := txn.Get(ctx, counter)
	if err == nil {
		count, err = strconv.Atoi(string(value))
	} else if errors.Is(err, tikverr.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil
	}
	var feed []string
	it, err := txn.Iter([]byte("feed/"), []byte("feed0"))
	for ; err == nil && it.Valid(); err = it.Next() {
		if want := fmt.Sprintf("feed/%08d", len(feed)); string(it.Key()) != want {
			return fmt.Errorf("%s stands where %s belongs", it.Key(), want)
		}
		feed = append(feed, string(it.Value()))
	}
	if err != nil {
		return nil
	}
	if len(feed) != count {
		return fmt.Errorf("the counter is at %d, the feed at %d", count, len(feed))
	}
	seen := map[string]bool{}
	for i, id := range feed {
		if seen[id] {
			return fmt.Errorf("%s is in the feed twice, at last at %d", id, i)
		}
		seen[id] = true
	}
	for at, id := range before {
		if at >= len(feed) || feed[at] != id {
			return fmt.Errorf("%s was acknowledged at %d and is not there", id, at)
		}
	}
	return nil
}

// Nothing acknowledged is lost, nothing is there twice, and every snapshot is
// of one moment, while parts of the cluster are killed and come back.
func TestTransactionsSurviveKills(t *testing.T) {
	c := stand.NewCluster(t)
	w := &writers{
		client: connect(t, c), acked: map[int]string{}, unknown: map[string]bool{}, last: time.Now(),
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() { w.run(ctx, fmt.Sprint(i)) })
	}
	failed := make(chan error, 1)
	running.Go(func() {
		for ctx.Err() == nil {
			limit, cancel := context.WithTimeout(context.Background(), patience)
			err := w.look(limit)
			cancel()
			if err != nil {
				failed <- err
				return
			}
		}
	})
	acknowledged := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.acked)
	}
	// more waits until n more were acknowledged.
	more := func(n int) {
		t.Helper()
		deadline := time.Now().Add(2 * patience)
		for from := acknowledged(); acknowledged() < from+n; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("%d acknowledged in %v", acknowledged()-from, 2*patience)
				return
			}
			if len(failed) > 0 {
				return
			}
		}
	}
	kill := map[string][]*stand.Process{
		"store": {c.Store}, "placement": {c.Placement}, "both": {c.Placement, c.Store},
	}
	more(50)
	for _, name := range slices.Sorted(maps.Keys(kill)) {
		w.mu.Lock()
		w.silence, w.slowest = 0, 0
		w.mu.Unlock()
		for _, p := range kill[name] {
			p.Kill()
		}
		for _, p := range kill[name] {
			p.Again(t)
		}
		more(50)
		w.mu.Lock()
		t.Logf("%s killed: silence of %v, slowest transaction %v", name,
			w.silence.Round(time.Millisecond), w.slowest.Round(time.Millisecond))
		w.mu.Unlock()
	}
	stop()
	running.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
	limit := within(t, patience)
	if err := w.look(limit); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d acknowledged, %d unknown", len(w.acked), len(w.unknown))
}
