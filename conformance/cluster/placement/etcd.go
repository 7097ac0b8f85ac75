package placement

import (
	"bytes"
	"context"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// etcd is the part of PD's embedded etcd that client-go keeps a cluster's safe
// point in, and asks for every ten seconds: without an answer it refuses to
// read after 100 s; client-go: tikv/safepoint.go, tikv/kv.go CheckVisibility.
type etcd struct {
	etcdserverpb.UnimplementedKVServer
	state *state
}

func (e *etcd) Range(_ context.Context, req *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	resp := &etcdserverpb.RangeResponse{Header: new(etcdserverpb.ResponseHeader)}
	e.state.look(func(k *known) {
		for key, value := range k.Etcd {
			one := len(req.RangeEnd) == 0 && key == string(req.Key)
			within := len(req.RangeEnd) > 0 && key >= string(req.Key) && key < string(req.RangeEnd)
			if one || within {
				resp.Kvs = append(resp.Kvs, &mvccpb.KeyValue{Key: []byte(key), Value: []byte(value)})
			}
		}
	})
	slices.SortFunc(resp.Kvs, func(a, b *mvccpb.KeyValue) int { return bytes.Compare(a.Key, b.Key) })
	resp.Count = int64(len(resp.Kvs))
	return resp, nil
}

func (e *etcd) Put(_ context.Context, req *etcdserverpb.PutRequest) (*etcdserverpb.PutResponse, error) {
	if req.Lease != 0 {
		return nil, status.Error(codes.Unimplemented, "leases are not implemented")
	}
	return &etcdserverpb.PutResponse{Header: new(etcdserverpb.ResponseHeader)}, e.state.change(func(k *known) {
		k.Etcd[string(req.Key)] = string(req.Value)
	})
}
