package tikv

import (
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A store that is almost full refuses to lock and to write, unless the request says that it is allowed then
// (check_normal_proposal_with_disk_full_opt in TiKV's raftstore/src/store/peer.rs). Commits and rollbacks always are.
// Batches that free space are, too, so they share no transaction with others. A store that is quite full refuses them
// as well.

// freesSpace makes a transaction one that stores accept when they are almost full. Locks of the client do not say so by
// themselves, so intercept does.
func freesSpace(txn *transaction.KVTxn) { txn.SetDiskFullOpt(kvrpcpb.DiskFullOpt_AllowedOnAlmostFull) }

// endIfFull is the answer of a store, or, if its disk is full, one that ends the transaction: the client would ask for
// locks again until its time is over (BoTiKVDiskFull in internal/locate/region_request.go).
func (t *pessimistic) endIfFull(resp *tikvrpc.Response) *tikvrpc.Response {
	if resp.Resp == nil {
		return resp
	}
	region, err := resp.GetRegionError()
	if err != nil || region.GetDiskFull() == nil {
		return resp
	}
	abort := []*kvrpcpb.KeyError{{Abort: region.GetDiskFull().GetReason()}}
	switch resp.Resp.(type) {
	case *kvrpcpb.PessimisticLockResponse:
		t.full.Store(true)
		return &tikvrpc.Response{Resp: &kvrpcpb.PessimisticLockResponse{Errors: abort}}
	case *kvrpcpb.PrewriteResponse:
		t.full.Store(true)
		return &tikvrpc.Response{Resp: &kvrpcpb.PrewriteResponse{Errors: abort}}
	}
	return resp
}

// storeFull is the error of batches that a full store has refused.
func storeFull(err error, frees bool) error {
	if frees {
		return fault.Wrap(fault.OutOfSpace, err, "The disk of a store of the cluster is full, so nothing is stored, "+
			"not even deletes. Add stores or disks to the cluster.")
	}
	return fault.Wrap(fault.OutOfSpace, err, "The disk of a store of the cluster is nearly full, so nothing new is "+
		"stored. Delete documents, or add stores or disks to the cluster.")
}
