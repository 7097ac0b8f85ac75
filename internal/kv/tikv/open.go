package tikv

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tikv/client-go/v2/config"
	client "github.com/tikv/client-go/v2/tikv"
	pd "github.com/tikv/pd/client"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// oracleInterval is how old the client's notion of the present is, at most, when it looks whether a lock has lived out
// its life. By default it is 2 s, which every wait for the lock of a dead process takes longer.
const oracleInterval = 500 * time.Millisecond

// storesEvery is how long a start waits until it asks a store again.
const storesEvery = time.Second

// safePointTimeout bounds one look at the safe point.
const safePointTimeout = 5 * time.Second

// Open connects to a cluster. If no PD, or no store, answers within Options.StartTimeout, or until ctx ends, it fails
// with fault.Unavailable.
func Open(ctx context.Context, o Options) (*Engine, error) {
	o.setDefaults()
	if len(o.Endpoints) == 0 {
		return nil, fault.New(fault.Invalid, "No address of PD is given.")
	}
	if err := checkPrefix(o.Prefix); err != nil {
		return nil, err
	}
	if err := o.checkFiles(); err != nil {
		return nil, err
	}
	forwardLog(o.Log)
	ctx, cancel := context.WithTimeout(ctx, o.StartTimeout)
	defer cancel()
	life, end := context.WithCancel(context.Background())
	type connected struct {
		e   *Engine
		err error
	}
	done := make(chan connected, 1)
	go func() {
		e, err := connect(life, end, o)
		done <- connected{e, err}
	}()
	select {
	case c := <-done:
		if c.err != nil {
			end()
			return nil, unreachable(o, c.err)
		}
		if err := c.e.awaitStores(ctx); err != nil {
			_ = c.e.Close() // it holds nothing yet
			return nil, fault.Wrap(fault.Unavailable, err, "PD at %s answers, and no store of its cluster does: "+
				"check that TiKV runs", strings.Join(o.Endpoints, ", "))
		}
		return c.e, nil
	case <-ctx.Done():
		end() // what connect waits for ends with it
		go func() {
			if c := <-done; c.err == nil {
				_ = c.e.Close() // it came too late: nobody asks how it ended
			}
		}()
		return nil, unreachable(o, ctx.Err())
	}
}

func unreachable(o Options, err error) error {
	return fault.Wrap(fault.Unavailable, err, "PD at %s does not answer: check the address, that PD runs there, and "+
		"which certificates it wants (--engine-tls)", strings.Join(o.Endpoints, ", "))
}

// awaitStores waits until a store answers. PD may be there long before the first one.
func (e *Engine) awaitStores(ctx context.Context) error {
	for {
		_, err := e.Get(ctx, []byte("start"), func([]byte) error { return nil })
		if err == nil {
			return nil
		}
		if ended := clock.Pause(ctx, storesEvery); ended != nil {
			return ended
		}
	}
}

// checkFiles reads the files for TLS once, so that a wrong one is told by its name.
func (o *Options) checkFiles() error {
	if o.CA == "" && o.Cert == "" && o.Key == "" {
		return nil
	}
	if o.CA == "" || o.Cert == "" || o.Key == "" {
		return fault.New(fault.Invalid, "TLS to the cluster needs a CA, a certificate and its key: one is missing.")
	}
	authority, err := os.ReadFile(o.CA)
	if err == nil && !x509.NewCertPool().AppendCertsFromPEM(authority) {
		err = errors.New("it has no certificate in PEM")
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The CA file %s for TLS to the cluster cannot be used.", o.CA)
	}
	if _, err := tls.LoadX509KeyPair(o.Cert, o.Key); err != nil {
		return fault.Wrap(fault.Invalid, err,
			"The certificate %s for TLS to the cluster, with the key %s, cannot be used.", o.Cert, o.Key)
	}
	return nil
}

// connect builds the client from its parts. txnkv.NewClient would take everything from the client's configuration of
// the process, and read the safe point with a client of etcd that logs to the standard error.
func connect(life context.Context, end context.CancelFunc, o Options) (*Engine, error) {
	tikv := config.GetGlobalConfig().TiKVClient
	placement, err := pd.NewClientWithContext(life, o.Endpoints,
		pd.SecurityOption{CAPath: o.CA, CertPath: o.Cert, KeyPath: o.Key},
		pd.WithInitMetricsOption(false), // they would be metrics of the process
		pd.WithCustomTimeoutOption(min(o.Timeout, 3*time.Second)),
		pd.WithGRPCDialOptions(grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time:    time.Duration(tikv.GrpcKeepAliveTime) * time.Second,
			Timeout: time.Duration(tikv.GrpcKeepAliveTimeout) * time.Second,
		})),
	)
	if err != nil {
		return nil, err
	}
	codec := client.NewCodecPDClient(client.ModeTxn, placement)
	stores := client.NewRPCClient(
		client.WithSecurity(config.NewSecurity(o.CA, o.Cert, o.Key, nil)), client.WithCodec(codec.GetCodec()),
	)
	store, err := client.NewKVStore(
		fmt.Sprintf("tikv-%d", placement.GetClusterID(life)), codec, safePoint{placement}, stores,
		client.WithUpdateInterval(oracleInterval),
	)
	if err != nil {
		placement.Close()
		return nil, errors.Join(err, stores.Close())
	}
	e, err := New(store, o)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	e.release = func() error {
		defer end()
		return store.Close()
	}
	return e, nil
}

// A safePoint tells the client which states the cluster may have forgotten, so that it fails a read of one. The client
// expects a client of etcd, where TiDB leaves its safe point; PD itself knows the one that the stores follow.
type safePoint struct{ pd pd.Client }

// Get implements client.SafePointKV.
func (s safePoint) Get(string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), safePointTimeout)
	defer cancel()
	ts, err := s.pd.UpdateGCSafePoint(ctx, 0) // PD never moves it back, and says where it is
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(min(ts, math.MaxInt64), 10), nil
}

// Put implements client.SafePointKV. The client does not call it.
func (safePoint) Put(string, string) error { return errors.ErrUnsupported }

// GetWithPrefix implements client.SafePointKV. The client does not call it.
func (safePoint) GetWithPrefix(string) ([]*mvccpb.KeyValue, error) { return nil, errors.ErrUnsupported }

// Close implements client.SafePointKV.
func (safePoint) Close() error { return nil }
