package cluster

import (
	"fmt"
	"os"
	"testing"

	"github.com/mayflydb/mayfly/conformance/cluster/stand"
	"github.com/pingcap/log"
	"go.uber.org/zap"
)

func TestMain(m *testing.M) {
	log.ReplaceGlobals(zap.NewNop(), new(log.ZapProperties)) // client-go tells every failed call
	code := m.Run()
	if err := stand.Clean(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
