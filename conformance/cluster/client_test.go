package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/cluster/stand"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/txnkv"
	"github.com/tikv/client-go/v2/txnkv/transaction"
)

// connect makes a client of a cluster that ends with the test.
func connect(t testing.TB, c *stand.Cluster) *txnkv.Client {
	t.Helper()
	client, err := txnkv.NewClient([]string{c.Address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// within is a context for one step of a test.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// A way is how a transaction commits.
type way struct {
	name        string
	pessimistic bool
	async, once bool
}

var ways = []way{
	{name: "optimistic"},
	{name: "pessimistic", pessimistic: true},
	{name: "async", async: true},
	{name: "once", once: true},
	{name: "pessimistic once", pessimistic: true, async: true, once: true},
}

// begin starts a transaction. It takes the timestamp itself, because
// client-go's own Begin does not stop when ctx ends.
func (w way) begin(ctx context.Context, c *txnkv.Client) (*transaction.KVTxn, error) {
	now, err := c.GetTimestamp(ctx)
	if err != nil {
		return nil, err
	}
	txn, err := c.Begin(tikv.WithStartTS(now))
	if err != nil {
		return nil, err
	}
	txn.SetPessimistic(w.pessimistic)
	txn.SetEnableAsyncCommit(w.async)
	txn.SetEnable1PC(w.once)
	return txn, nil
}

// counter is the key that all writers want.
var counter = []byte("counter")

// next runs f in a transaction that has locked the counter, and gives it the
// count. It counts on and commits. A writer that came first makes it try again.
func next(ctx context.Context, c *txnkv.Client, w way, f func(txn *transaction.KVTxn, count int) error) error {
	w.pessimistic = true
	for {
		txn, err := w.begin(ctx, c)
		if err != nil {
			return err
		}
		count, err := lockCounter(ctx, c, txn)
		if err == nil {
			err = f(txn, count)
		}
		if err == nil {
			err = txn.Set(counter, strconv.AppendInt(nil, int64(count+1), 10))
		}
		if err == nil {
			return txn.Commit(ctx)
		}
		undone := txn.Rollback()
		if conflict := (*tikverr.ErrWriteConflict)(nil); !errors.As(err, &conflict) {
			return errors.Join(err, undone)
		}
	}
}

// lockCounter locks the counter at a new timestamp and returns its value.
func lockCounter(ctx context.Context, c *txnkv.Client, txn *transaction.KVTxn) (int, error) {
	now, err := c.GetTimestamp(ctx)
	if err != nil {
		return 0, err
	}
	lock := kv.NewLockCtx(now, kv.LockAlwaysWait, time.Now())
	lock.InitReturnValues(1)
	if err := txn.LockKeys(ctx, lock, counter); err != nil {
		return 0, err
	}
	value := lock.Values[string(counter)]
	if !value.Exists {
		return 0, nil
	}
	n, err := strconv.Atoi(string(value.Value))
	if err != nil {
		return 0, fmt.Errorf("counter is %q", value.Value)
	}
	return n, nil
}
