package placement

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// clusterID is the cluster's, in every header; clients refuse another one.
const clusterID = 7_366_015

// Serve answers on l until the context ends. Its state is in dir.
func Serve(ctx context.Context, l net.Listener, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	o, err := openOracle(filepath.Join(dir, "oracle"), time.Now)
	if err != nil {
		return err
	}
	st, err := openState(filepath.Join(dir, "state.json"))
	if err != nil {
		return err
	}
	g := grpc.NewServer()
	pdpb.RegisterPDServer(g, &server{oracle: o, state: st, url: "http://" + l.Addr().String()})
	etcdserverpb.RegisterKVServer(g, &etcd{state: st})
	healthpb.RegisterHealthServer(g, health.NewServer()) // pd/client: pd_service_discovery.go, checkServiceHealth
	context.AfterFunc(ctx, g.Stop)
	return g.Serve(l)
}

// A server is the service pdpb.PD.
type server struct {
	pdpb.UnimplementedPDServer
	oracle *oracle
	state  *state
	url    string
}

func header() *pdpb.ResponseHeader { return &pdpb.ResponseHeader{ClusterId: clusterID} }

func (s *server) GetMembers(context.Context, *pdpb.GetMembersRequest) (*pdpb.GetMembersResponse, error) {
	m := &pdpb.Member{Name: "pd", MemberId: 1, PeerUrls: []string{s.url}, ClientUrls: []string{s.url}}
	return &pdpb.GetMembersResponse{Header: header(), Members: []*pdpb.Member{m}, Leader: m, EtcdLeader: m}, nil
}

func (s *server) GetClusterInfo(context.Context, *pdpb.GetClusterInfoRequest) (*pdpb.GetClusterInfoResponse, error) {
	return &pdpb.GetClusterInfoResponse{
		Header:       header(),
		ServiceModes: []pdpb.ServiceMode{pdpb.ServiceMode_PD_SVC_MODE},
	}, nil
}

func (s *server) GetClusterConfig(context.Context, *pdpb.GetClusterConfigRequest) (
	*pdpb.GetClusterConfigResponse, error,
) {
	c := &metapb.Cluster{Id: clusterID, MaxPeerCount: 1}
	return &pdpb.GetClusterConfigResponse{Header: header(), Cluster: c}, nil
}

func (s *server) Tso(stream pdpb.PD_TsoServer) error {
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if req.Count == 0 {
			return status.Error(codes.InvalidArgument, "tso count should be positive")
		}
		physical, logical, err := s.oracle.next(req.Count)
		if err != nil {
			return err
		}
		err = stream.Send(&pdpb.TsoResponse{
			Header:    header(),
			Count:     req.Count,
			Timestamp: &pdpb.Timestamp{Physical: physical, Logical: logical},
		})
		if err != nil {
			return err
		}
	}
}

func (s *server) AllocID(context.Context, *pdpb.AllocIDRequest) (*pdpb.AllocIDResponse, error) {
	resp := &pdpb.AllocIDResponse{Header: header()}
	return resp, s.state.change(func(k *known) {
		k.LastID++
		resp.Id = k.LastID
	})
}

func (s *server) IsBootstrapped(context.Context, *pdpb.IsBootstrappedRequest) (*pdpb.IsBootstrappedResponse, error) {
	resp := &pdpb.IsBootstrappedResponse{Header: header()}
	s.state.look(func(k *known) { resp.Bootstrapped = len(k.Stores) > 0 })
	return resp, nil
}

func (s *server) Bootstrap(_ context.Context, req *pdpb.BootstrapRequest) (*pdpb.BootstrapResponse, error) {
	resp := &pdpb.BootstrapResponse{Header: header()}
	return resp, s.state.change(func(k *known) {
		if len(k.Stores) > 0 {
			resp.Header.Error = &pdpb.Error{Type: pdpb.ErrorType_ALREADY_BOOTSTRAPPED, Message: "already bootstrapped"}
			return
		}
		k.Stores[req.Store.Id] = req.Store
		k.report([]*metapb.Region{req.Region})
	})
}

func (s *server) PutStore(_ context.Context, req *pdpb.PutStoreRequest) (*pdpb.PutStoreResponse, error) {
	resp := &pdpb.PutStoreResponse{Header: header()}
	return resp, s.state.change(func(k *known) { k.Stores[req.Store.Id] = req.Store })
}

func (s *server) GetStore(_ context.Context, req *pdpb.GetStoreRequest) (*pdpb.GetStoreResponse, error) {
	resp := &pdpb.GetStoreResponse{Header: header()}
	s.state.look(func(k *known) { resp.Store = k.Stores[req.StoreId] })
	if resp.Store == nil {
		// The text is what clients look for; client-go: internal/locate/store_cache.go, isStoreNotFoundError.
		return nil, status.Errorf(codes.Unknown, "invalid store ID %d, not found", req.StoreId)
	}
	return resp, nil
}

func (s *server) GetAllStores(context.Context, *pdpb.GetAllStoresRequest) (*pdpb.GetAllStoresResponse, error) {
	resp := &pdpb.GetAllStoresResponse{Header: header()}
	s.state.look(func(k *known) {
		for _, store := range k.Stores {
			resp.Stores = append(resp.Stores, store)
		}
	})
	return resp, nil
}

func (s *server) StoreHeartbeat(context.Context, *pdpb.StoreHeartbeatRequest) (*pdpb.StoreHeartbeatResponse, error) {
	return &pdpb.StoreHeartbeatResponse{Header: header()}, nil
}

// region is the answer for r, empty for none.
func region(r *metapb.Region) *pdpb.GetRegionResponse {
	resp := &pdpb.GetRegionResponse{Header: header(), Region: r}
	if r != nil {
		resp.Leader = r.Peers[0]
	}
	return resp
}

func (s *server) GetRegion(_ context.Context, req *pdpb.GetRegionRequest) (resp *pdpb.GetRegionResponse, _ error) {
	s.state.look(func(k *known) { resp = region(k.at(req.RegionKey)) })
	return resp, nil
}

func (s *server) GetPrevRegion(_ context.Context, req *pdpb.GetRegionRequest) (resp *pdpb.GetRegionResponse, _ error) {
	s.state.look(func(k *known) { resp = region(k.before(req.RegionKey)) })
	return resp, nil
}

func (s *server) GetRegionByID(_ context.Context, req *pdpb.GetRegionByIDRequest) (
	resp *pdpb.GetRegionResponse, _ error,
) {
	s.state.look(func(k *known) { resp = region(k.Regions[req.RegionId]) })
	return resp, nil
}

func (s *server) ScanRegions(_ context.Context, req *pdpb.ScanRegionsRequest) (*pdpb.ScanRegionsResponse, error) {
	resp := &pdpb.ScanRegionsResponse{Header: header()}
	s.state.look(func(k *known) {
		for _, r := range k.scan(req.StartKey, req.EndKey, int(req.Limit)) {
			resp.Regions = append(resp.Regions, &pdpb.Region{Region: r, Leader: r.Peers[0]})
			resp.RegionMetas = append(resp.RegionMetas, r)
			resp.Leaders = append(resp.Leaders, r.Peers[0])
		}
	})
	return resp, nil
}

func (s *server) BatchScanRegions(_ context.Context, req *pdpb.BatchScanRegionsRequest) (
	*pdpb.BatchScanRegionsResponse, error,
) {
	resp := &pdpb.BatchScanRegionsResponse{Header: header()}
	s.state.look(func(k *known) {
		var last uint64
		for _, r := range req.Ranges {
			left := int(req.Limit) - len(resp.Regions)
			if req.Limit > 0 && left <= 0 {
				return
			}
			for _, found := range k.scan(r.StartKey, r.EndKey, max(left, 0)) {
				if found.Id != last { // neighbouring ranges may share a region
					resp.Regions = append(resp.Regions, &pdpb.Region{Region: found, Leader: found.Peers[0]})
				}
				last = found.Id
			}
		}
	})
	return resp, nil
}

// scan returns at most limit regions that touch [start, end), all when limit
// is 0.
func (k *known) scan(start, end []byte, limit int) (found []*metapb.Region) {
	for _, r := range k.regions() {
		if limit > 0 && len(found) == limit || len(end) > 0 && bytes.Compare(r.StartKey, end) >= 0 {
			break
		}
		if len(r.EndKey) == 0 || bytes.Compare(start, r.EndKey) < 0 {
			found = append(found, r)
		}
	}
	return found
}

func (s *server) ReportBatchSplit(_ context.Context, req *pdpb.ReportBatchSplitRequest) (
	*pdpb.ReportBatchSplitResponse, error,
) {
	return &pdpb.ReportBatchSplitResponse{Header: header()}, s.state.change(func(k *known) { k.report(req.Regions) })
}

// There is nowhere to scatter regions to, so it is done at once.
func (s *server) ScatterRegion(context.Context, *pdpb.ScatterRegionRequest) (*pdpb.ScatterRegionResponse, error) {
	return &pdpb.ScatterRegionResponse{Header: header(), FinishedPercentage: 100}, nil
}

func (s *server) GetOperator(_ context.Context, req *pdpb.GetOperatorRequest) (*pdpb.GetOperatorResponse, error) {
	return &pdpb.GetOperatorResponse{
		Header: header(), RegionId: req.RegionId, Status: pdpb.OperatorStatus_SUCCESS, Desc: []byte("scatter-region"),
	}, nil
}

func (s *server) GetGCSafePoint(context.Context, *pdpb.GetGCSafePointRequest) (*pdpb.GetGCSafePointResponse, error) {
	resp := &pdpb.GetGCSafePointResponse{Header: header()}
	s.state.look(func(k *known) { resp.SafePoint = k.SafePoint })
	return resp, nil
}

func (s *server) UpdateGCSafePoint(_ context.Context, req *pdpb.UpdateGCSafePointRequest) (
	*pdpb.UpdateGCSafePointResponse, error,
) {
	resp := &pdpb.UpdateGCSafePointResponse{Header: header()}
	return resp, s.state.change(func(k *known) {
		k.SafePoint = max(k.SafePoint, req.SafePoint)
		resp.NewSafePoint = k.SafePoint
	})
}

func (s *server) UpdateServiceGCSafePoint(_ context.Context, req *pdpb.UpdateServiceGCSafePointRequest) (
	*pdpb.UpdateServiceGCSafePointResponse, error,
) {
	resp := &pdpb.UpdateServiceGCSafePointResponse{Header: header()}
	now := time.Now()
	ttl := time.Duration(req.TTL)
	if ttl < time.Duration(1<<63-1)/time.Second {
		ttl *= time.Second
	}
	return resp, s.state.change(func(k *known) {
		name, low := k.serviceSafePoint(string(req.ServiceId), req.SafePoint, ttl, now)
		resp.ServiceId = []byte(name)
		if low != nil {
			resp.MinSafePoint, resp.TTL = low.At, int64(low.Expires.Sub(now)/time.Second)
		}
	})
}
