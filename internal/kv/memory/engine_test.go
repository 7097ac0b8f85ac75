package memory

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

func TestContract(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Engine { return New() })
}
