package tikv

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/config/retry"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/mayflydb/mayfly/internal/fault"
)

// keysAtOnce bounds the keys of one request that releases locks.
const keysAtOnce = 256

// release gives back the locks that the client leaves behind at the end of a transaction with err. They are those of a
// request for several locks that failed: the client gives them back in the background with the request's context, which
// ends with the transaction. And they are those of the counters if a commit in one phase has failed: the client gives
// those back as of its last lock, which is older. Without this they would keep others waiting until the end of their
// life. A transaction whose outcome is not known keeps its locks, which are what others learn the outcome from.
func (t *pessimistic) release(ctx context.Context, err error) {
	if fault.KindOf(err) == fault.Undetermined {
		return
	}
	var keys [][]byte
	for _, key := range t.doubtful {
		if _, held := t.locked[string(key)]; !held {
			keys = append(keys, key)
		}
	}
	if err != nil {
		for key := range t.counters {
			keys = append(keys, []byte(key))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	bo := t.e.backoffer(ctx)
	for len(keys) > 0 {
		n, err := t.releaseSome(bo, keys)
		if err != nil {
			return // they end with their life
		}
		keys = keys[n:]
	}
}

// releaseSome releases the first of keys, which are sorted, and those after it in the same region.
func (t *pessimistic) releaseSome(bo *retry.Backoffer, keys [][]byte) (n int, err error) {
	for {
		region, err := t.e.store.GetRegionCache().LocateKey(bo, keys[0])
		if err != nil {
			return 0, err
		}
		n = 1
		for n < min(len(keys), keysAtOnce) && region.Contains(keys[n]) {
			n++
		}
		request := &kvrpcpb.PessimisticRollbackRequest{StartVersion: t.start, ForUpdateTs: t.newest.Load(), Keys: keys[:n]}
		resp, err := t.e.store.SendReq(bo, tikvrpc.NewRequest(tikvrpc.CmdPessimisticRollback, request), region.Region,
			t.e.options.Timeout)
		if err != nil {
			return 0, err
		}
		moved, err := resp.GetRegionError()
		if err != nil || moved == nil {
			return n, err
		}
		if err := bo.Backoff(retry.BoRegionMiss, errors.New(moved.String())); err != nil {
			return 0, err
		}
	}
}
