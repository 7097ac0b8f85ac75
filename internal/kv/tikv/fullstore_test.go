package tikv

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// TestFullStore fills the disk of a store. What frees space is still written while the disk is almost full, everything
// else is refused at once, and reads go on. With space, writes go on.
func TestFullStore(t *testing.T) {
	var free atomic.Int32 // 2 enough space, 1 almost full, 0 full
	free.Store(2)
	e := newCluster(t).over(t, Options{}, func(
		_ context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
	) (*tikvrpc.Response, error) {
		allowed := free.Load() == 2 || free.Load() == 1 && req.DiskFullOpt == kvrpcpb.DiskFullOpt_AllowedOnAlmostFull
		full := &errorpb.Error{DiskFull: &errorpb.DiskFull{StoreId: []uint64{1}, Reason: "disk full"}}
		switch {
		case req.Type == tikvrpc.CmdPessimisticLock && !allowed:
			return &tikvrpc.Response{Resp: &kvrpcpb.PessimisticLockResponse{RegionError: full}}, nil
		case req.Type == tikvrpc.CmdPrewrite && !allowed:
			return &tikvrpc.Response{Resp: &kvrpcpb.PrewriteResponse{RegionError: full}}, nil
		}
		return send()
	})
	defer stop(t, e)
	blind := func(frees bool) *kv.Batch {
		b := &kv.Batch{Frees: frees}
		b.Set([]byte("k"), []byte("v"))
		return b
	}
	counted := func(frees bool) *kv.Batch {
		b := passes("n")
		b.Frees = frees
		return b
	}
	for _, write := range []func(frees bool) *kv.Batch{blind, counted} {
		apply(t, e, write(false))
		free.Store(1)
		wantKind(t, e.Apply(t.Context(), write(false)), fault.OutOfSpace)
		apply(t, e, write(true))
		free.Store(0)
		wantKind(t, e.Apply(t.Context(), write(false)), fault.OutOfSpace)
		wantKind(t, e.Apply(t.Context(), write(true)), fault.OutOfSpace)
		if got := get(t, e, "k"); got != "v" {
			t.Errorf("k is %q, want v", got)
		}
		free.Store(2)
		apply(t, e, write(false))
	}
	if got := number([]byte(get(t, e, "n"))); got != 3 {
		t.Errorf("the counter is %d, want 3", got)
	}
}
