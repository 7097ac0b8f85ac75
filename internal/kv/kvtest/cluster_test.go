package kvtest_test

import (
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
)

// ownCluster closes the cluster with the only process that it has.
type ownCluster struct {
	kv.Engine
	cluster *kvtest.Cluster
}

func (c ownCluster) Close() error { return c.cluster.Close() }

func TestCluster(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Engine {
		c := kvtest.NewCluster(memory.New(), time.Unix(1_000_000, 0))
		return ownCluster{c.Process(), c}
	})
}
