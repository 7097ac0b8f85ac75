package tikv

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/config/retry"
	"github.com/tikv/client-go/v2/tikvrpc"
)

// keysAtOnce bounds the keys of one request that releases locks.
const keysAtOnce = 256

// release gives back the locks of requests for several locks that failed, some of which may have been taken. The client
// does that in the background, with the context of the request, which ends with the transaction. Without this they
// would keep others waiting until the end of their life.
func (t *pessimistic) release(ctx context.Context) {
	var keys [][]byte
	for _, key := range t.doubtful {
		if _, held := t.locked[string(key)]; !held {
			keys = append(keys, key)
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
		request := &kvrpcpb.PessimisticRollbackRequest{
			StartVersion: t.start, ForUpdateTs: t.newest.Load(), Keys: keys[:n],
		}
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
