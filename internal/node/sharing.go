package node

import (
	"context"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/store"
)

const (
	// pulseEvery is how often a node looks whether an engine on other machines answers, and what time it is there, and
	// pulseTimeout how long one look may take.
	pulseEvery, pulseTimeout = time.Second, 2 * time.Second

	// silence is how long such an engine may give no answer until the node reports that it is not ready.
	silence = 5 * time.Second

	// collectEvery is how often one of the processes collects the engine's garbage, and collectTimeout how long that
	// may take.
	collectEvery, collectTimeout = time.Minute, 10 * time.Minute
)

// garbageWork is the name of the lease of collecting garbage.
const garbageWork = "garbage"

// sharesData reports whether other processes use the data of an engine, too.
func sharesData(engine kv.Engine) bool {
	s, ok := engine.(kv.Shared)
	return ok && s.Shared()
}

// CheckShared refuses options that would give each of several processes with the same data something else, or that need
// the data for one process. It does not look at the engine.
func (o *Options) CheckShared() error {
	listens := o.NoSQL != "" || o.Compute != "" || o.Mongo.Address != "" || o.Admin != ""
	switch {
	case o.Dir != "":
		return fault.New(fault.Invalid, "several processes share the data, so there is no folder for it: "+
			"leave --data out")
	case o.Virtual:
		return fault.New(fault.Invalid, "several processes share the data, and its time is the cluster's: "+
			"leave --clock=virtual out")
	case o.Key == "" && !o.AllowWellKnownKey:
		return fault.New(fault.Invalid, "several processes share the data, so none of them makes an account key: "+
			"give the same --key to all of them")
	case listens && !o.TLS.Off && o.TLS.Cert == "":
		return fault.New(fault.Invalid, "several processes share the data, so none of them makes a certificate: "+
			"give --nosql-tls CERT.pem,KEY.pem, or --nosql-tls off behind a proxy that has one")
	}
	return nil
}

// A pulse is the life of an engine that several processes share, as this one sees it.
type pulse struct {
	running context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu    sync.Mutex
	heard clock.Stopwatch // since the last answer
	err   error           // of the last look
}

// feel begins to look at the engine. It makes the clock follow the engine's time, for what has no view of the data: a
// request takes its time from its view.
func (n *Node) feel(ctx context.Context) error {
	view, err := n.engine.View(ctx)
	if err != nil {
		return err
	}
	following := clock.NewFollowing(view.Time)
	n.clock = following
	p := &pulse{heard: clock.Start()}
	p.running, p.stop = context.WithCancel(context.Background())
	n.pulse.Store(p)
	p.work.Go(func() {
		for clock.Pause(p.running, pulseEvery) == nil {
			p.look(p.running, n.engine, following)
		}
	})
	return nil
}

// pulseKey is a key that nothing is stored at. It lies before those of the catalog, which each request reads, and so is
// on the same store as some of them.
var pulseKey = []byte{1}

// look asks for a view, and reads through it: the time of an engine may come from other machines than its data.
func (p *pulse) look(ctx context.Context, engine kv.Engine, following *clock.Following) {
	ctx, cancel := context.WithTimeout(ctx, pulseTimeout)
	defer cancel()
	view, err := engine.View(ctx)
	if err == nil {
		following.Tell(view.Time)
		_, err = view.Get(ctx, pulseKey, func([]byte) error { return nil })
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err = err; err == nil {
		p.heard = clock.Start()
	}
}

// missing says why the engine counts as gone, "" if it does not. A nil pulse is of an engine in this process.
func (p *pulse) missing() string {
	if p == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil || p.heard.Elapsed() < silence {
		return ""
	}
	return "the cluster does not answer: " + whyRefused(p.err)
}

func (p *pulse) end() {
	if p != nil {
		p.stop()
		p.work.Wait()
	}
}

// collectGarbage starts to collect the engine's garbage now and then, in one of the processes at a time.
func (n *Node) collectGarbage() {
	collector, ok := n.engine.(kv.Collector)
	p := n.pulse.Load()
	if !ok || p == nil {
		return
	}
	p.work.Go(func() {
		for clock.Pause(p.running, collectEvery) == nil {
			if err := n.collect(p.running, collector, n.store); err != nil && p.running.Err() == nil {
				n.log.Warn("the cluster's garbage cannot be collected: trying again in a minute", "error", err)
			}
		}
	})
}

func (n *Node) collect(ctx context.Context, collector kv.Collector, st *store.Store) error {
	ctx, cancel := context.WithTimeout(ctx, collectTimeout)
	defer cancel()
	if holds, err := st.Holds(ctx, garbageWork); !holds {
		return err
	}
	kept, err := collector.GC(ctx, n.clock.Now())
	if err == nil {
		n.log.Debug("collected the cluster's garbage", "before", kept)
	}
	return err
}
