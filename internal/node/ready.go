package node

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A phase is how far a node has come.
type phase = int32

const (
	starting phase = iota
	running
	stopping
)

// lagLimit is for how long reclaiming may be behind before a node says that it is not ready: by
// then the disk fills with what nobody can see any more, and less load would help.
const lagLimit = time.Hour

// notReady lists why clients should go elsewhere at present. It is cheap to ask, and never waits.
func (n *Node) notReady() []string {
	switch n.phase.Load() {
	case starting:
		return []string{"mayfly is starting"}
	case stopping:
		return []string{"mayfly is stopping"}
	}
	var reasons []string
	if err := n.refuses(); err != nil {
		reasons = append(reasons, "writes are refused: "+whyRefused(err))
	}
	if pending := n.reaper.Pending(); pending > lagLimit {
		now, cancel := context.WithCancel(context.Background())
		cancel() // a survey that is not there yet is there when somebody asks again
		if reason := lagging(pending, lagOf(n.surveys.newest(now), n.clock.Now())); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// whyRefused is what clients are told of an error of the engine.
func whyRefused(err error) string {
	if text := fault.Message(err); text != "" {
		return text
	}
	return "storage fails, see the log"
}

// lagging is the reason that reclaiming gives not to be ready, "" for none: it has been at work for
// pending without an end, in the machine's time, and the oldest expired document has been there for lag.
func lagging(pending, lag time.Duration) string {
	if pending <= lagLimit || lag <= lagLimit {
		return ""
	}
	return fmt.Sprintf("reclaiming lags: the oldest expired document has waited for %s, and there has been no end for %s; see GET /reclaim and the log",
		lag.Round(time.Second), pending.Round(time.Second))
}

// openAdmin lets the admin address answer, about health alone until the node runs.
func (n *Node) openAdmin(_ context.Context, o Options) error {
	if n.admin == nil {
		return nil
	}
	health := admin.Health(n.adminOptions(o))
	operator := n.admin.counted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if full := n.operator.Load(); full != nil {
			(*full).ServeHTTP(w, r)
			return
		}
		health.ServeHTTP(w, r)
	}))
	n.admin.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if admin.AboutHealth(r) {
			health.ServeHTTP(w, r) // until the very end: it needs nothing that is closed before
			return
		}
		operator.ServeHTTP(w, r)
	}), operatorTime)
	return nil
}

// adminOptions are those that there are before anything is opened.
func (n *Node) adminOptions(o Options) admin.Options {
	options := admin.Options{NotReady: n.notReady, Logger: n.log, AllowHost: n.allowHost(o, n.admin, !n.admin.exposed())}
	if n.admin.exposed() {
		options.Key = n.account.key
	}
	return options
}

// operate makes the admin address answer everything.
func (n *Node) operate(o Options) {
	options := n.adminOptions(o)
	options.Clock, options.Virtual, options.StandsStill, options.Move, options.Reaper = n.clock, n.Virtual(), n.StandsStill, n.Move, operated{n.reaper}
	if n.meter != nil {
		options.Metrics = n.meter.Handler(n.Read)
	}
	full := admin.New(options)
	n.operator.Store(&full)
}
