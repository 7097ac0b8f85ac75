package store

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/pingcap/kvproto/pkg/tikvpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// BatchCommands answers requests that share a stream, each as soon as it can.
func (s *server) BatchCommands(stream tikvpb.Tikv_BatchCommandsServer) error {
	ctx := stream.Context()
	ended := make(chan error, 1) // the first failure, or nil for the end of the stream
	end := func(err error) {
		select {
		case ended <- err:
		default:
		}
	}
	var sending sync.Mutex
	go func() {
		for {
			batch, err := stream.Recv()
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				end(err)
				return
			}
			for i, req := range batch.Requests {
				go func() {
					answer, err := s.one(ctx, req)
					if err != nil {
						end(err)
						return
					}
					sending.Lock()
					defer sending.Unlock()
					err = stream.Send(&tikvpb.BatchCommandsResponse{
						Responses:  []*tikvpb.BatchCommandsResponse_Response{answer},
						RequestIds: batch.RequestIds[i : i+1],
					})
					if err != nil {
						end(err)
					}
				}()
			}
		}
	}()
	return <-ended
}

// one answers a request of a batch.
func (s *server) one(ctx context.Context, req *tikvpb.BatchCommandsRequest_Request) (
	*tikvpb.BatchCommandsResponse_Response, error,
) {
	answer := new(tikvpb.BatchCommandsResponse_Response)
	var err error
	switch c := req.Cmd.(type) {
	case *tikvpb.BatchCommandsRequest_Request_Get:
		var a tikvpb.BatchCommandsResponse_Response_Get
		a.Get, err = s.KvGet(ctx, c.Get)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_BatchGet:
		var a tikvpb.BatchCommandsResponse_Response_BatchGet
		a.BatchGet, err = s.KvBatchGet(ctx, c.BatchGet)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_Scan:
		var a tikvpb.BatchCommandsResponse_Response_Scan
		a.Scan, err = s.KvScan(ctx, c.Scan)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_Prewrite:
		var a tikvpb.BatchCommandsResponse_Response_Prewrite
		a.Prewrite, err = s.KvPrewrite(ctx, c.Prewrite)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_Commit:
		var a tikvpb.BatchCommandsResponse_Response_Commit
		a.Commit, err = s.KvCommit(ctx, c.Commit)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_BatchRollback:
		var a tikvpb.BatchCommandsResponse_Response_BatchRollback
		a.BatchRollback, err = s.KvBatchRollback(ctx, c.BatchRollback)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_ScanLock:
		var a tikvpb.BatchCommandsResponse_Response_ScanLock
		a.ScanLock, err = s.KvScanLock(ctx, c.ScanLock)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_ResolveLock:
		var a tikvpb.BatchCommandsResponse_Response_ResolveLock
		a.ResolveLock, err = s.KvResolveLock(ctx, c.ResolveLock)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_PessimisticLock:
		var a tikvpb.BatchCommandsResponse_Response_PessimisticLock
		a.PessimisticLock, err = s.KvPessimisticLock(ctx, c.PessimisticLock)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_PessimisticRollback:
		var a tikvpb.BatchCommandsResponse_Response_PessimisticRollback
		a.PessimisticRollback, err = s.KVPessimisticRollback(ctx, c.PessimisticRollback)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_TxnHeartBeat:
		var a tikvpb.BatchCommandsResponse_Response_TxnHeartBeat
		a.TxnHeartBeat, err = s.KvTxnHeartBeat(ctx, c.TxnHeartBeat)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_CheckTxnStatus:
		var a tikvpb.BatchCommandsResponse_Response_CheckTxnStatus
		a.CheckTxnStatus, err = s.KvCheckTxnStatus(ctx, c.CheckTxnStatus)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_CheckSecondaryLocks:
		var a tikvpb.BatchCommandsResponse_Response_CheckSecondaryLocks
		a.CheckSecondaryLocks, err = s.KvCheckSecondaryLocks(ctx, c.CheckSecondaryLocks)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_GetHealthFeedback:
		var a tikvpb.BatchCommandsResponse_Response_GetHealthFeedback
		a.GetHealthFeedback, err = s.GetHealthFeedback(ctx, c.GetHealthFeedback)
		answer.Cmd = &a
	case *tikvpb.BatchCommandsRequest_Request_Empty:
		answer.Cmd = &tikvpb.BatchCommandsResponse_Response_Empty{
			Empty: &tikvpb.BatchCommandsEmptyResponse{TestId: c.Empty.TestId},
		}
	default:
		err = status.Errorf(codes.Unimplemented, "%T is not implemented", req.Cmd)
	}
	return answer, err
}
