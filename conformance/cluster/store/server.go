package store

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// Bounds of a real store, so that what does not fit there does not fit here.
const (
	maxEntry   = 8 << 20   // bytes of one request that writes; tikv: raftstore.raft-entry-max-size
	maxKey     = 8 << 10   // bytes of an encoded key; tikv: storage.max-key-size
	maxMessage = 256 << 20 // bytes; client-go takes any size
)

// collecting is how often old versions are looked for.
const collecting = 10 * time.Second

// A server is the service tikvpb.Tikv. Methods of the transactional API that
// client-go does not call, and all others, are refused as not implemented.
type server struct {
	tikvpb.UnimplementedTikvServer
	disk      *disk
	placement *placement
	regions   regions
	splitting sync.Mutex
	latches   latches
	waiters   *waiters
}

// Serve answers on l until the context ends. Its data is in dir. It waits for
// the placement driver at pd, host:port, and takes all of its cluster's keys.
func Serve(ctx context.Context, l net.Listener, pd, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	d, err := openDisk(dir)
	if err != nil {
		return err
	}
	defer d.db.Close()
	conn, err := grpc.NewClient(pd, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		return err
	}
	defer conn.Close()
	s := &server{disk: d, waiters: newWaiters(), placement: &placement{pd: pdpb.NewPDClient(conn)}}
	if err := s.join(ctx, l.Addr().String()); err != nil {
		return fmt.Errorf("join the cluster of %s: %w", pd, err)
	}
	g := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))
	tikvpb.RegisterTikvServer(g, s)
	// A client shuns a store whose health it cannot ask for; client-go:
	// internal/locate/store_cache.go, invokeKVStatusAPI.
	healthpb.RegisterHealthServer(g, health.NewServer())
	context.AfterFunc(ctx, g.Stop)
	collector := make(chan struct{})
	go func() {
		defer close(collector)
		s.collect(ctx)
	}()
	defer func() { <-collector }()
	return g.Serve(l)
}

// join registers the store at address, for the first time or again.
func (s *server) join(ctx context.Context, address string) error {
	members, err := s.placement.pd.GetMembers(ctx, &pdpb.GetMembersRequest{})
	if err != nil {
		return err
	}
	s.placement.cluster = members.Header.ClusterId
	all, id, err := loadRegions(s.disk)
	if err != nil {
		return err
	}
	me := &metapb.Store{Id: id, Address: address, Version: "8.5.0", State: metapb.StoreState_Up}
	if id == 0 {
		ids, err := s.placement.ids(ctx, 3)
		if err != nil {
			return err
		}
		me.Id = ids[0]
		whole := &metapb.Region{
			Id: ids[1], Peers: []*metapb.Peer{{Id: ids[2], StoreId: me.Id}},
			RegionEpoch: &metapb.RegionEpoch{ConfVer: 1, Version: 1},
		}
		all[whole.Id] = whole
		resp, err := s.placement.pd.Bootstrap(ctx, &pdpb.BootstrapRequest{
			Header: s.placement.header(), Store: me, Region: whole,
		})
		if err != nil {
			return err
		}
		if resp.Header.Error != nil {
			return fmt.Errorf("another store has the cluster: %s", resp.Header.Error.Message)
		}
		err = s.disk.write(func(b *pebble.Batch, _ uint64) error { return putRegions(b, []*metapb.Region{whole}) })
		if err != nil {
			return err
		}
	}
	s.regions.byID = all
	_, err = s.placement.pd.PutStore(ctx, &pdpb.PutStoreRequest{Header: s.placement.header(), Store: me})
	if err != nil {
		return err
	}
	if err := s.placement.report(ctx, s.regions.all()); err != nil {
		return err
	}
	// Reads before a restart are forgotten: commits that choose their own
	// timestamp come after them all if they come after now.
	now, err := s.placement.now(ctx)
	s.disk.sawTS(now)
	return err
}

// tooLarge refuses what a Raft log of a real store would not take.
func tooLarge(region *metapb.Region, size int) *errorpb.Error {
	if size <= maxEntry {
		return nil
	}
	return &errorpb.Error{
		Message:           fmt.Sprintf("raft entry of %d bytes is too large", size),
		RaftEntryTooLarge: &errorpb.RaftEntryTooLarge{RegionId: region.Id, EntrySize: uint64(size)},
	}
}

func keysFit(mutations []*kvrpcpb.Mutation) error {
	for _, m := range mutations {
		if size := len(lockKey(m.Key)) - 1; size > maxKey {
			return abort("KeyTooLarge: %d bytes, limit %d", size, maxKey)
		}
	}
	return nil
}

func (s *server) KvGet(_ context.Context, req *kvrpcpb.GetRequest) (*kvrpcpb.GetResponse, error) {
	if _, wrong := s.regions.check(req.Context); wrong != nil {
		return &kvrpcpb.GetResponse{RegionError: wrong}, nil
	}
	l := s.look(req.Version, req.Context)
	defer l.close()
	value, err := l.value(req.Key)
	return &kvrpcpb.GetResponse{Value: value, NotFound: value == nil && err == nil, Error: keyError(err)}, nil
}

func (s *server) KvBatchGet(_ context.Context, req *kvrpcpb.BatchGetRequest) (*kvrpcpb.BatchGetResponse, error) {
	if _, wrong := s.regions.check(req.Context); wrong != nil {
		return &kvrpcpb.BatchGetResponse{RegionError: wrong}, nil
	}
	l := s.look(req.Version, req.Context)
	defer l.close()
	resp := new(kvrpcpb.BatchGetResponse)
	for _, key := range req.Keys {
		value, err := l.value(key)
		if value != nil || err != nil {
			resp.Pairs = append(resp.Pairs, &kvrpcpb.KvPair{Key: key, Value: value, Error: keyError(err)})
		}
	}
	return resp, nil
}

func (s *server) KvScan(_ context.Context, req *kvrpcpb.ScanRequest) (*kvrpcpb.ScanResponse, error) {
	region, wrong := s.regions.check(req.Context)
	if wrong != nil {
		return &kvrpcpb.ScanResponse{RegionError: wrong}, nil
	}
	l := s.look(req.Version, req.Context)
	defer l.close()
	pairs, err := l.scan(region, req)
	return &kvrpcpb.ScanResponse{Pairs: pairs, Error: keyError(err)}, nil
}

func (s *server) KvPrewrite(_ context.Context, req *kvrpcpb.PrewriteRequest) (*kvrpcpb.PrewriteResponse, error) {
	region, wrong := s.regions.check(req.Context)
	if wrong == nil {
		wrong = tooLarge(region, req.Size())
	}
	if wrong != nil {
		return &kvrpcpb.PrewriteResponse{RegionError: wrong}, nil
	}
	err := keysFit(req.Mutations)
	if err == nil {
		var resp *kvrpcpb.PrewriteResponse
		if resp, err = s.prewrite(req); err == nil {
			return resp, nil
		}
	}
	return &kvrpcpb.PrewriteResponse{Errors: keyErrors(err)}, nil
}

func (s *server) KvPessimisticLock(ctx context.Context, req *kvrpcpb.PessimisticLockRequest) (
	*kvrpcpb.PessimisticLockResponse, error,
) {
	if _, wrong := s.regions.check(req.Context); wrong != nil {
		return &kvrpcpb.PessimisticLockResponse{RegionError: wrong}, nil
	}
	err := keysFit(req.Mutations)
	if err == nil && req.WakeUpMode != kvrpcpb.PessimisticLockWakeUpMode_WakeUpModeNormal {
		err = abort("aggressive locking is not implemented")
	}
	if err == nil {
		var resp *kvrpcpb.PessimisticLockResponse
		if resp, err = s.acquire(ctx, req); err == nil {
			return resp, nil
		}
	}
	return &kvrpcpb.PessimisticLockResponse{Errors: keyErrors(err)}, nil
}

func (s *server) KVPessimisticRollback(_ context.Context, req *kvrpcpb.PessimisticRollbackRequest) (
	*kvrpcpb.PessimisticRollbackResponse, error,
) {
	region, wrong := s.regions.check(req.Context)
	if wrong != nil {
		return &kvrpcpb.PessimisticRollbackResponse{RegionError: wrong}, nil
	}
	var err error
	if len(req.Keys) == 0 { // all of the transaction's in the region
		req.Keys, err = s.keysOf(region, req.StartVersion)
	}
	if err == nil {
		err = s.giveBack(req)
	}
	return &kvrpcpb.PessimisticRollbackResponse{Errors: keyErrors(err)}, nil
}

func (s *server) KvTxnHeartBeat(_ context.Context, req *kvrpcpb.TxnHeartBeatRequest) (
	*kvrpcpb.TxnHeartBeatResponse, error,
) {
	if _, wrong := s.regions.check(req.Context); wrong != nil {
		return &kvrpcpb.TxnHeartBeatResponse{RegionError: wrong}, nil
	}
	ttl, err := s.heartbeat(req)
	return &kvrpcpb.TxnHeartBeatResponse{LockTtl: ttl, Error: keyError(err)}, nil
}

func (s *server) KvCommit(_ context.Context, req *kvrpcpb.CommitRequest) (*kvrpcpb.CommitResponse, error) {
	if _, wrong := s.regions.check(req.Context); wrong != nil {
		return &kvrpcpb.CommitResponse{RegionError: wrong}, nil
	}
	err := s.commit(req.Keys, req.StartVersion, req.CommitVersion)
	return &kvrpcpb.CommitResponse{Error: keyError(err), CommitVersion: req.CommitVersion}, nil
}

func (s *server) KvBatchRollback(_ context.Context, req *kvrpcpb.BatchRollbackRequest) (
	*kvrpcpb.BatchRollbackResponse, error,
) {
	if _, wrong := s.regions.check(req.Context); wrong != nil {
		return &kvrpcpb.BatchRollbackResponse{RegionError: wrong}, nil
	}
	return &kvrpcpb.BatchRollbackResponse{Error: keyError(s.undo(req.Keys, req.StartVersion))}, nil
}

func (s *server) KvCheckTxnStatus(_ context.Context, req *kvrpcpb.CheckTxnStatusRequest) (
	*kvrpcpb.CheckTxnStatusResponse, error,
) {
	if _, wrong := s.regions.check(req.Context); wrong != nil {
		return &kvrpcpb.CheckTxnStatusResponse{RegionError: wrong}, nil
	}
	resp, err := s.status(req)
	if err != nil {
		return &kvrpcpb.CheckTxnStatusResponse{Error: keyError(err)}, nil
	}
	return resp, nil
}

func (s *server) KvCheckSecondaryLocks(_ context.Context, req *kvrpcpb.CheckSecondaryLocksRequest) (
	*kvrpcpb.CheckSecondaryLocksResponse, error,
) {
	if _, wrong := s.regions.check(req.Context); wrong != nil {
		return &kvrpcpb.CheckSecondaryLocksResponse{RegionError: wrong}, nil
	}
	resp, err := s.secondaries(req)
	if err != nil {
		return &kvrpcpb.CheckSecondaryLocksResponse{Error: keyError(err)}, nil
	}
	return resp, nil
}

func (s *server) KvScanLock(_ context.Context, req *kvrpcpb.ScanLockRequest) (*kvrpcpb.ScanLockResponse, error) {
	region, wrong := s.regions.check(req.Context)
	if wrong != nil {
		return &kvrpcpb.ScanLockResponse{RegionError: wrong}, nil
	}
	s.disk.sawTS(req.MaxVersion)
	found, err := s.locks(region, req.StartKey, req.EndKey, req.MaxVersion, req.Limit)
	resp := &kvrpcpb.ScanLockResponse{Error: keyError(err)}
	for _, l := range found {
		resp.Locks = append(resp.Locks, &l.LockInfo)
	}
	return resp, nil
}

// keysOf returns the keys of a region that the transaction has locked.
func (s *server) keysOf(region *metapb.Region, startTS uint64) (keys [][]byte, err error) {
	found, err := s.locks(region, nil, nil, startTS, 0)
	for _, l := range found {
		if l.LockVersion == startTS {
			keys = append(keys, l.Key)
		}
	}
	return keys, err
}

func (s *server) KvResolveLock(_ context.Context, req *kvrpcpb.ResolveLockRequest) (
	*kvrpcpb.ResolveLockResponse, error,
) {
	region, wrong := s.regions.check(req.Context)
	if wrong != nil {
		return &kvrpcpb.ResolveLockResponse{RegionError: wrong}, nil
	}
	ended := []*kvrpcpb.TxnInfo{{Txn: req.StartVersion, Status: req.CommitVersion}}
	if len(req.TxnInfos) > 0 {
		ended = req.TxnInfos
	}
	for _, txn := range ended {
		keys := req.Keys
		if len(keys) == 0 {
			var err error
			if keys, err = s.keysOf(region, txn.Txn); err != nil {
				return &kvrpcpb.ResolveLockResponse{Error: keyError(err)}, nil
			}
		}
		if err := s.resolve(keys, txn.Txn, txn.Status); err != nil {
			return &kvrpcpb.ResolveLockResponse{Error: keyError(err)}, nil
		}
	}
	return new(kvrpcpb.ResolveLockResponse), nil
}

func (s *server) SplitRegion(ctx context.Context, req *kvrpcpb.SplitRegionRequest) (
	*kvrpcpb.SplitRegionResponse, error,
) {
	region, wrong := s.regions.check(req.Context)
	if wrong != nil {
		return &kvrpcpb.SplitRegionResponse{RegionError: wrong}, nil
	}
	parts, err := s.split(ctx, region, req.SplitKeys)
	if err != nil {
		return &kvrpcpb.SplitRegionResponse{RegionError: &errorpb.Error{Message: err.Error()}}, nil
	}
	return &kvrpcpb.SplitRegionResponse{Regions: parts}, nil
}

// GetStoreSafeTS says that no read of old data by replicas is possible: there
// are none.
func (s *server) GetStoreSafeTS(context.Context, *kvrpcpb.StoreSafeTSRequest) (*kvrpcpb.StoreSafeTSResponse, error) {
	return new(kvrpcpb.StoreSafeTSResponse), nil
}

// GetHealthFeedback says that the store is as fast as can be: 1 of 1 to 100.
func (s *server) GetHealthFeedback(context.Context, *kvrpcpb.GetHealthFeedbackRequest) (
	*kvrpcpb.GetHealthFeedbackResponse, error,
) {
	return &kvrpcpb.GetHealthFeedbackResponse{HealthFeedback: &kvrpcpb.HealthFeedback{SlowScore: 1}}, nil
}
