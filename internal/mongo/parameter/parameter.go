// Package parameter has the settings of MongoDB's server that clients read with getParameter and change with
// setParameter: one table, with how each is shown, checked and set. A change lasts until the server ends, except for
// that of ttlMonitorEnabled, which the catalog keeps.
package parameter

import (
	"context"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// Parameters are the values that clients can change. They begin with MongoDB's defaults, and end with the server.
type Parameters struct {
	node         *session.Node
	testCommands bool
	wakeTTL      func(context.Context, expiry.Stamp)

	batchDeletes atomic.Bool
	requireAPI   atomic.Bool
	quiet        atomic.Bool
	verbosity    logLevels
	numbers      [len(numberedParameters)]atomic.Int32
}

// Open sets MongoDB's defaults. testCommands says that commands of test suites are allowed. wakeTTL is called when the
// TTL monitor is to look at once.
func (p *Parameters) Open(n *session.Node, testCommands bool, wakeTTL func(context.Context, expiry.Stamp)) {
	p.node, p.testCommands, p.wakeTTL = n, testCommands, wakeTTL
	p.batchDeletes.Store(true)
	p.verbosity.init()
	for i, x := range numberedParameters {
		p.numbers[i].Store(x.initial)
	}
}

// Number is the value of one of the parameters that are whole numbers.
func (p *Parameters) Number(i int) int64 { return int64(p.numbers[i].Load()) }

// RequiresAPI reports whether each request must say which version of the Stable API it wants.
func (p *Parameters) RequiresAPI() bool { return p.requireAPI.Load() }
