package node

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/cosmos/rest"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A phase is a stage in the life of a node.
type phase = int32

const (
	starting phase = iota
	running
	stopping
)

// lagLimit is how far reclaiming may lag before a node reports that it is not ready: the disk fills with expired
// documents, and less load would help.
const lagLimit = time.Hour

// notReady lists the reasons why a load balancer should not send requests at present. It is cheap and never waits.
func (n *Node) notReady() []string {
	switch n.phase.Load() {
	case starting:
		return []string{"mayfly is starting"}
	case stopping:
		return []string{"mayfly is stopping"}
	}
	if !n.gate.tryEnter() { // a snapshot is being loaded, which requests wait for
		return nil
	}
	defer n.gate.Leave()
	var reasons []string
	if reason := n.pulse.Load().missing(); reason != "" {
		reasons = append(reasons, reason)
	}
	if err := n.refuses(); err != nil {
		reasons = append(reasons, "writes are refused: "+whyRefused(err))
	}
	if pending := n.reaper.Pending(); pending > lagLimit {
		now, cancel := context.WithCancel(context.Background())
		cancel() // do not wait: the next call sees the survey that this one starts
		if reason := lagging(pending, lagOf(n.surveys.newest(now), n.clock.Now())); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// whyRefused is the part of an engine's error that clients may see.
func whyRefused(err error) string {
	if text := fault.Message(err); text != "" {
		return text
	}
	return "the storage has failed: see the log"
}

// lagging is the message if reclaiming lags, else "". pending is how long the reaper has worked without reaching the
// end, in the machine's time; lag is how long the oldest expired document has waited, by the node's clock.
func lagging(pending, lag time.Duration) string {
	if pending <= lagLimit || lag <= lagLimit {
		return ""
	}
	return fmt.Sprintf("reclaiming lags: the oldest expired document has waited for %s, "+
		"and the reaper has been behind for %s; see GET /reclaim and the log",
		lag.Round(time.Second), pending.Round(time.Second))
}

// openAdmin makes the admin address answer: health checks only, until the node runs.
func (n *Node) openAdmin(_ context.Context, o Options) error {
	if n.admin == nil {
		return nil
	}
	health := admin.Health(n.adminOptions(o))
	others := n.admin.counted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if full := n.fullAdmin.Load(); full != nil {
			(*full).ServeHTTP(w, r)
			return
		}
		health.ServeHTTP(w, r)
	}))
	n.admin.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if admin.IsHealth(r) {
			health.ServeHTTP(w, r) // answered to the very end, so it must not use what is closed before
			return
		}
		others.ServeHTTP(w, r)
	}), adminTime)
	return nil
}

// adminOptions are the options of the admin API that are known before anything is opened.
func (n *Node) adminOptions(o Options) admin.Options {
	options := admin.Options{
		NotReady: n.notReady, Logger: n.log, AllowHost: n.allowHost(o, n.admin, !n.admin.exposed()),
	}
	options.Allowed, options.Local, options.Public = n.allowed, !n.admin.exposed(), n.account.wellKnown
	options.Caller = n.adminCaller
	return options
}

// openFullAdmin makes the admin address answer the whole admin API.
func (n *Node) openFullAdmin(o Options) {
	options := n.adminOptions(o)
	options.Clock, options.Virtual, options.StandsStill, options.Move = n.clock, n.Virtual(), n.StandsStill, n.Move
	options.Reaper, options.Audit = adminReaper{n}, adminAudit{n}
	options.Snapshots, options.Backup = adminSnapshots{n}, adminBackup{n}
	options.Page = o.Page
	options.Keys, options.Endpoints = adminKeys{n}, n.endpoints
	if n.meter != nil {
		options.Metrics = n.meter.Handler(n.Read)
		n.activity = n.startActivity()
		options.Activity = n.activity
	}
	options.Version, options.Catalog, options.Usage = n.version, n.presentCatalog, n.usage
	options.NoSQL, options.Mongo, options.ItemNumber = n.local, n.runMongo, rest.ItemNumber
	options.MongoETag, options.MongoGuard = n.mongoETag, n.mongoGuard
	options.Check = n.checkRunning
	options.Foresight = n.foresee
	options.Transfer = adminTransfer{n}
	options.Slow, options.Connections = n.slow, n.connections
	options.IndexBuilds, options.Ranges = n.builds, adminRanges{n}
	n.adminAPI = admin.New(options)
	full := http.Handler(n.adminAPI)
	n.fullAdmin.Store(&full)
}
