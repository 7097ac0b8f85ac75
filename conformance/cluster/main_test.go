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
	if os.Getenv(childDoes) != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if err := stand.Clean(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
