package tikv

import (
	"testing"

	"github.com/tikv/client-go/v2/testutils"
	client "github.com/tikv/client-go/v2/tikv"
	pd "github.com/tikv/pd/client"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

func TestEngine(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Engine { return newCluster(t).engine(t, Options{}) })
}

// A cluster is a store of the client library's own simulation.
type cluster struct {
	rpc *testutils.MockClient
	pd  pd.Client
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	forwardLog(nil)
	rpc, c, placement, err := testutils.NewMockTiKV("", nil)
	if err != nil {
		t.Fatal(err)
	}
	testutils.BootstrapWithSingleStore(c)
	return &cluster{rpc: rpc, pd: placement}
}

// engine is one process on the cluster. The test closes it.
func (c *cluster) engine(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := New(c.store(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (c *cluster) store(t testing.TB) *client.KVStore {
	t.Helper()
	s, err := client.NewTestTiKVStore(c.rpc, c.pd, nil, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
