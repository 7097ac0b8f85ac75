package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/stand"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/txnkv"
	"github.com/tikv/client-go/v2/txnkv/transaction"
)

// TestRules holds the store to what TiKV does.
func TestRules(t *testing.T) {
	c := stand.NewCluster(t)
	client := connect(t, c)
	for name, rule := range map[string]func(*testing.T, *txnkv.Client){
		"the first of two optimistic transactions wins": firstWins,
		"a snapshot does not move":                      snapshotStays,
		"two that wait for each other are told":         deadlock,
		"regions split under a client":                  splits,
		"what does not fit is refused":                  tooLarge,
		"a bounded commit is refused after its bound":   bounded,
		"a lock that its owner left is resolved":        resolved,
		"the safe point only rises":                     safePoint,
	} {
		t.Run(name, func(t *testing.T) { rule(t, client) })
	}
}

func begin(t *testing.T, w way, c *txnkv.Client) *transaction.KVTxn {
	t.Helper()
	txn, err := w.begin(within(t, patience), c)
	if err != nil {
		t.Fatal(err)
	}
	return txn
}

func set(t *testing.T, txn *transaction.KVTxn, key, value string) {
	t.Helper()
	if err := txn.Set([]byte(key), []byte(value)); err != nil {
		t.Fatal(err)
	}
}

func commit(t *testing.T, txn *transaction.KVTxn) {
	t.Helper()
	if err := txn.Commit(within(t, patience)); err != nil {
		t.Fatal(err)
	}
}

func value(t *testing.T, txn *transaction.KVTxn, key string) string {
	t.Helper()
	v, err := txn.Get(within(t, patience), []byte(key))
	if errors.Is(err, tikverr.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(v)
}

func firstWins(t *testing.T, c *txnkv.Client) {
	for _, w := range ways {
		if w.pessimistic {
			continue
		}
		one, two := begin(t, w, c), begin(t, w, c)
		set(t, one, "rule/first", "one")
		set(t, two, "rule/first", "two")
		commit(t, one)
		conflict := (*tikverr.ErrWriteConflict)(nil)
		if err := two.Commit(within(t, patience)); !errors.As(err, &conflict) {
			t.Errorf("%s: the second commit: %v, want a conflict", w.name, err)
		}
		if got := value(t, begin(t, way{}, c), "rule/first"); got != "one" {
			t.Errorf("%s: the value is %q", w.name, got)
		}
	}
}

func snapshotStays(t *testing.T, c *txnkv.Client) {
	for _, w := range ways {
		before := begin(t, way{}, c)
		was := value(t, before, "rule/stays")
		txn := begin(t, w, c)
		set(t, txn, "rule/stays", w.name)
		set(t, txn, "rule/stays too", w.name)
		commit(t, txn)
		before.GetSnapshot().CleanCache([][]byte{[]byte("rule/stays")})
		if got := value(t, before, "rule/stays"); got != was {
			t.Errorf("%s: a snapshot moved from %q to %q", w.name, was, got)
		}
		after := begin(t, way{}, c)
		one, two := value(t, after, "rule/stays"), value(t, after, "rule/stays too")
		if one != w.name || two != w.name {
			t.Errorf("%s: a later snapshot has %q and %q", w.name, one, two)
		}
	}
}

func deadlock(t *testing.T, c *txnkv.Client) {
	lock := func(txn *transaction.KVTxn, key string) error {
		ctx := within(t, patience)
		now, err := c.GetTimestamp(ctx)
		if err != nil {
			return err
		}
		return txn.LockKeys(ctx, kv.NewLockCtx(now, kv.LockAlwaysWait, time.Now()), []byte(key))
	}
	w := way{pessimistic: true}
	one, two := begin(t, w, c), begin(t, w, c)
	if err := errors.Join(lock(one, "rule/a"), lock(two, "rule/b")); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	results := make(chan error, 2)
	for txn, key := range map[*transaction.KVTxn]string{one: "rule/b", two: "rule/a"} {
		wait.Go(func() {
			err := lock(txn, key)
			results <- errors.Join(err, txn.Rollback())
		})
	}
	wait.Wait()
	dead := (*tikverr.ErrDeadlock)(nil)
	if err := errors.Join(<-results, <-results); !errors.As(err, &dead) {
		t.Errorf("two transactions wait for each other: %v, want a deadlock", err)
	}
}

func splits(t *testing.T, c *txnkv.Client) {
	txn := begin(t, way{}, c)
	var cuts [][]byte
	for i := range 40 {
		set(t, txn, fmt.Sprintf("rule/split/%02d", i), "x")
		if i%10 == 5 {
			cuts = append(cuts, fmt.Appendf(nil, "rule/split/%02d", i))
		}
	}
	commit(t, txn)
	if _, err := c.SplitRegions(within(t, patience), cuts, false, nil); err != nil {
		t.Fatal(err)
	}
	for _, w := range ways {
		txn := begin(t, w, c)
		for i := range 40 {
			set(t, txn, fmt.Sprintf("rule/split/%02d", i), w.name)
		}
		commit(t, txn)
		n := 0
		it, err := begin(t, way{}, c).Iter([]byte("rule/split/"), []byte("rule/split0"))
		for ; err == nil && it.Valid() && string(it.Value()) == w.name; err = it.Next() {
			n++
		}
		if err != nil || n != 40 {
			t.Errorf("%s: %d keys over the regions, %v", w.name, n, err)
		}
	}
}

func tooLarge(t *testing.T, c *txnkv.Client) {
	for _, tc := range []struct {
		key   string
		value int
		fits  bool
	}{
		{"rule/large", 5 << 20, true},
		{"rule/larger", 9 << 20, false},
		{strings.Repeat("k", 7000), 1, true},
		{strings.Repeat("k", 8000), 1, false},
	} {
		txn := begin(t, way{}, c)
		err := txn.Set([]byte(tc.key), bytes.Repeat([]byte("v"), tc.value))
		if err == nil {
			err = txn.Commit(within(t, patience))
		}
		if (err == nil) != tc.fits {
			t.Errorf("a key of %d bytes and a value of %d: %v", len(tc.key), tc.value, err)
		}
		if tc.fits && len(value(t, begin(t, way{}, c), tc.key)) != tc.value {
			t.Errorf("a value of %d bytes came back shorter", tc.value)
		}
	}
}

func bounded(t *testing.T, c *txnkv.Client) {
	for _, allowed := range []bool{true, false} {
		txn := begin(t, way{async: true, once: true}, c)
		txn.SetCommitTSUpperBoundCheck(func(uint64) bool { return allowed })
		set(t, txn, "rule/bounded", fmt.Sprint(allowed))
		if err := txn.Commit(within(t, patience)); (err == nil) != allowed {
			t.Errorf("a commit whose bound says %v: %v", allowed, err)
		}
	}
	if got := value(t, begin(t, way{}, c), "rule/bounded"); got != "true" {
		t.Errorf("the value is %q", got)
	}
}

// resolved commits beside a transaction that has written its locks and goes no
// further, in each way that it can have done so.
func resolved(t *testing.T, c *txnkv.Client) {
	for _, w := range []way{{name: "two phases"}, {name: "async", async: true}} {
		txn := begin(t, w, c)
		keys := []string{"rule/left 1 " + w.name, "rule/left 2 " + w.name}
		for _, key := range keys {
			set(t, txn, key, "left")
		}
		probe := transaction.TxnProbe{KVTxn: txn}
		committer, err := probe.NewCommitter(1)
		if err != nil {
			t.Fatal(err)
		}
		if w.async {
			committer.SetUseAsyncCommit()
		}
		if err := committer.PrewriteAllMutations(context.Background()); err != nil {
			t.Fatal(err)
		}
		// Two phases: nothing is committed, so nothing is there. Async: every lock is there, so all of it is.
		want := ""
		if w.async {
			want = "left"
		}
		after := begin(t, way{}, c)
		for _, key := range keys {
			if got := value(t, after, key); got != want {
				t.Errorf("%s: %s is %q, want %q", w.name, key, got, want)
			}
		}
	}
}

func safePoint(t *testing.T, c *txnkv.Client) {
	ctx := within(t, patience)
	pd := c.GetPDClient()
	for _, step := range []struct{ ask, want uint64 }{{10, 10}, {5, 10}, {20, 20}} {
		got, err := pd.UpdateGCSafePoint(ctx, step.ask)
		if err != nil || got != step.want {
			t.Errorf("safe point %d: %d, %v, want %d", step.ask, got, err, step.want)
		}
	}
	for _, step := range []struct {
		service   string
		ttl       int64
		ask, want uint64
	}{{"one", 1000, 30, 30}, {"two", 1000, 40, 30}, {"one", 1000, 50, 40}, {"three", 1000, 20, 40}, {"two", 0, 0, 50}} {
		got, err := pd.UpdateServiceGCSafePoint(ctx, step.service, step.ttl, step.ask)
		if err != nil || got != step.want {
			t.Errorf("safe point of %s at %d: %d, %v, want %d", step.service, step.ask, got, err, step.want)
		}
	}
}
