package kvtest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Cluster makes of one engine what several processes share: an engine that keeps time, and whose views are fixed at
// their moment. Its time is virtual. It is for tests of what is above the engine, so that two catalogs, stores or nodes
// in one test are what they would be in two processes.
type Cluster struct {
	engine kv.Engine

	committing sync.Mutex // held during a batch

	mu    sync.Mutex // held while a batch becomes visible, and while the time moves; taken after committing
	now   time.Time
	views []kv.Snapshot // of all views, to be closed at the end

	// Placed, if set, is called when a batch has passed its counters and is about to be committed. It may move the
	// time.
	Placed func()
}

// NewCluster makes engine one that several processes share, at an instant. The caller closes the cluster, not engine.
func NewCluster(engine kv.Engine, now time.Time) *Cluster { return &Cluster{engine: engine, now: now} }

// Process is the engine as one more process has it.
func (c *Cluster) Process() kv.Engine { return &process{c} }

// Now is the present time of the cluster.
func (c *Cluster) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move moves the time forward.
func (c *Cluster) Move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// Close closes the engine below.
func (c *Cluster) Close() error {
	c.mu.Lock()
	views := slices.Clone(c.views)
	c.views = nil
	c.mu.Unlock()
	for _, v := range views {
		if err := v.Close(); err != nil {
			return err
		}
	}
	return c.engine.Close()
}

// A process is a Cluster's engine in one process. Closing it leaves the others alone.
type process struct{ c *Cluster }

func (p *process) Shared() bool { return true }

func (p *process) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	return p.c.engine.Get(ctx, key, use)
}

func (p *process) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	return p.c.engine.Iterate(ctx, lower, upper)
}

func (p *process) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	s, err := p.c.engine.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return farSnapshot{s}, nil
}

func (p *process) Close() error { return nil }

func (p *process) View(ctx context.Context) (kv.View, error) {
	c := p.c
	c.mu.Lock()
	defer c.mu.Unlock()
	v, err := c.engine.View(ctx)
	if err != nil {
		return v, err
	}
	fixed, err := c.engine.Snapshot(ctx)
	if err != nil {
		return v, err
	}
	c.views = append(c.views, fixed)
	v.Reader = pastReader{c.engine, fixed}
	c.now = c.now.Add(time.Nanosecond) // no two moments are the same
	v.Time = c.now
	return v, nil
}

// A pastReader reads a moment of an engine, as long as that is open.
type pastReader struct {
	engine kv.Engine
	at     kv.Snapshot
}

func (r pastReader) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	if _, err := r.engine.View(ctx); err != nil {
		return false, err
	}
	return r.at.Get(ctx, key, use)
}

func (r pastReader) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	if _, err := r.engine.View(ctx); err != nil {
		return nil, err
	}
	return r.at.Iterate(ctx, lower, upper)
}

// GetAll implements kv.MultiReader.
func (r pastReader) GetAll(ctx context.Context, keys [][]byte) (kv.Values, error) {
	if _, err := r.engine.View(ctx); err != nil {
		return nil, err
	}
	return farValues(ctx, r.at, keys)
}

// A farSnapshot reads several keys at once, as engines on other machines do.
type farSnapshot struct{ kv.Snapshot }

func (s farSnapshot) GetAll(ctx context.Context, keys [][]byte) (kv.Values, error) {
	return farValues(ctx, s.Snapshot, keys)
}

// fetched are the values of several keys, nil where a key is absent. The one that was given last is in last, so that
// whoever keeps a value for too long notices.
type fetched struct {
	values [][]byte
	bytes  int
	last   []byte
}

func farValues(ctx context.Context, r kv.Reader, keys [][]byte) (kv.Values, error) {
	f := &fetched{values: make([][]byte, len(keys))}
	for i, key := range keys {
		_, err := r.Get(ctx, key, func(value []byte) error {
			f.values[i] = append([]byte{}, value...)
			f.bytes += len(key) + len(value)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *fetched) Value(i int) ([]byte, error) {
	clear(f.last)
	if f.values[i] == nil {
		return nil, nil
	}
	f.last = append([]byte{}, f.values[i]...)
	return f.last, nil
}

func (f *fetched) PageBytes() int { return f.bytes }

// GetAll reads the newest state.
func (p *process) GetAll(ctx context.Context, keys [][]byte) (kv.Values, error) {
	s, err := p.c.engine.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return farValues(ctx, s, keys)
}

// Apply commits b between two moments of the cluster's time. That is when the counters are passed and the bound is
// checked; nobody sees the time of the commit before he sees the batch. As one batch at a time is in here, it holds all
// counters from the beginning, and at its Time.
func (p *process) Apply(ctx context.Context, b *kv.Batch) error {
	c := p.c
	c.committing.Lock()
	defer c.committing.Unlock()
	b.Time = c.Now()
	var committed commitMoment
	defer committed.end(c)
	orders := b.Orders
	if len(orders) == 0 {
		if err := committed.begin(c, b); err != nil {
			return err
		}
	} else {
		b.Orders = slices.Clone(orders)
		last := &b.Orders[len(orders)-1]
		place := last.Place
		last.Place = func(value []byte, b *kv.Batch) ([]byte, error) {
			next, err := place(value, b)
			if err != nil {
				return nil, err
			}
			return next, committed.begin(c, b)
		}
	}
	err := c.engine.Apply(ctx, b)
	b.Orders = orders
	return err
}

// A commitMoment keeps the time from moving until a batch is visible.
type commitMoment struct{ held bool }

func (m *commitMoment) begin(c *Cluster, b *kv.Batch) error {
	m.end(c) // the engine has begun again
	if c.Placed != nil {
		c.Placed()
	}
	c.mu.Lock()
	m.held = true
	c.now = c.now.Add(time.Nanosecond)
	if !b.Before.IsZero() && !c.now.Before(b.Before) {
		return fault.New(fault.Conflict, "the commit would be at %v, which is not before %v", c.now, b.Before)
	}
	return nil
}

func (m *commitMoment) end(c *Cluster) {
	if m.held {
		m.held = false
		c.mu.Unlock()
	}
}
