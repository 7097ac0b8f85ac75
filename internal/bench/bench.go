// Package bench runs a mixed workload against any endpoint of Azure Cosmos DB for NoSQL or MongoDB, through their
// official clients, and measures it: throughput, latencies, errors, and expired documents that a read still returned.
// It also measures operations one at a time, with the processor time of the server. It knows nothing of mayfly, so that
// it can compare mayfly with others.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/mayflydb/mayfly/internal/clock"
)

// A Target is a container that a workload uses. Its methods are safe for concurrent use.
type Target interface {
	// Create writes a new document, which ends after ttl seconds unless that is 0.
	Create(ctx context.Context, d Document, ttl int) error
	// Read fails with ErrGone if there is no such document.
	Read(ctx context.Context, id string) error
	// Update replaces a document.
	Update(ctx context.Context, d Document) error
	// Query finds documents of a group, at most ten.
	Query(ctx context.Context, group int) error
	// Kind says in a word why a call failed, such as "429".
	Kind(err error) string
	// Close deletes what the target has made.
	Close(ctx context.Context) error
}

// ErrGone is the error of Read for a document that does not exist.
var ErrGone = errors.New("there is no such document")

// A Document is what a workload writes.
type Document struct {
	ID    string `json:"id" bson:"_id"`
	Group int    `json:"group" bson:"group"`
	Text  string `json:"text" bson:"text"`
}

// Options of a workload.
type Options struct {
	Clients  int
	Duration time.Duration
	Bytes    int // of the text in each document
	Seed     uint64
}

// The operations of a workload, and how many of a hundred calls each is.
const (
	opCreate = iota
	opRead
	opQuery
	opUpdate
	opTTL
	opExpired
	operations
)

var names = [operations]string{"create", "read", "query", "update", "create with ttl", "read expired"}

// shares are how many of a hundred calls an operation is. Expired documents are read when there are some.
var shares = [operations]int{opCreate: 25, opRead: 40, opQuery: 10, opUpdate: 15, opTTL: 10}

const (
	groups = 1000
	// shortTTL is the longest ttl in seconds of documents that are to expire while the workload runs.
	shortTTL = 3
	// margin is how much later than its deadline a document must be gone: deadlines are whole seconds, and clocks
	// differ a little.
	margin = 2 * time.Second
	// known is how many documents a client remembers in order to read and update them.
	known = 10_000
	// kinds is how many kinds of errors are told apart.
	kinds = 50
	// slowest is the longest latency that is told apart from longer ones.
	slowest = time.Minute
	// lastCall is how long a call may go on when the time of a workload is over. It is not cut off at once: a server
	// that does not notice would make a collection again after it was dropped.
	lastCall = 10 * time.Second
)

// Run runs a workload until its time is over or ctx ends.
func Run(ctx context.Context, target Target, o Options) (*Result, error) {
	if o.Clients < 1 || o.Duration <= 0 {
		return nil, fmt.Errorf("a workload needs clients and a duration")
	}
	// A context with a deadline would fail calls before their time is over: drivers expect them to take some time.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		_ = clock.Pause(ctx, o.Duration) // it fails when ctx has ended, too
	}()
	calls, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	context.AfterFunc(ctx, func() {
		_ = clock.Pause(calls, lastCall) // it fails when all calls have ended
		cut()
	})
	total, watch := newResult(), clock.Start()
	var (
		wait sync.WaitGroup
		mu   sync.Mutex
	)
	for n := range o.Clients {
		wait.Go(func() {
			c := &client{target: target, options: o, out: newResult(), name: fmt.Sprintf("%x-%d", o.Seed, n),
				random: rand.New(rand.NewPCG(o.Seed, uint64(n)))}
			c.run(ctx, calls)
			mu.Lock()
			defer mu.Unlock()
			total.add(c.out)
		})
	}
	wait.Wait()
	total.Elapsed = watch.Elapsed()
	return total, nil
}

// A client does one call after the other.
type client struct {
	target  Target
	options Options
	out     *Result
	random  *rand.Rand
	name    string
	count   int
	ids     []string
	ending  []ending // in the order of their ends, roughly
}

// An ending is a document that must be gone at an instant.
type ending struct {
	id string
	at time.Time
}

// run does calls until ctx ends.
func (c *client) run(ctx, calls context.Context) {
	for ctx.Err() == nil {
		op := c.choose()
		watch := clock.Start()
		err := c.do(calls, op)
		if ctx.Err() != nil {
			return // the time was over in the middle of it
		}
		c.out.record(op, watch.Elapsed(), err, c.target)
	}
}

// choose picks the next operation: reading what must be gone, if there is something, every tenth time.
func (c *client) choose() int {
	if len(c.ending) > 0 && clock.Wall().After(c.ending[0].at) && c.random.IntN(10) == 0 {
		return opExpired
	}
	n := c.random.IntN(100)
	for op, share := range shares {
		if n -= share; n < 0 {
			if op != opCreate && op != opTTL && op != opQuery && len(c.ids) == 0 {
				return opCreate
			}
			return op
		}
	}
	return opCreate
}

// errExpiredSeen is the error of a read that returned an expired document.
var errExpiredSeen = errors.New("an expired document was returned")

func (c *client) do(ctx context.Context, op int) error {
	switch op {
	case opCreate:
		d := c.document(c.fresh())
		err := c.target.Create(ctx, d, 0)
		if err == nil {
			c.remember(d.ID)
		}
		return err
	case opRead:
		return c.target.Read(ctx, c.any())
	case opQuery:
		return c.target.Query(ctx, c.random.IntN(groups))
	case opUpdate:
		return c.target.Update(ctx, c.document(c.any()))
	case opTTL:
		d, ttl := c.document(c.fresh()), 1+c.random.IntN(shortTTL)
		err := c.target.Create(ctx, d, ttl)
		if err == nil {
			at := clock.Wall().Add(time.Duration(ttl)*time.Second + margin)
			c.ending = append(c.ending, ending{d.ID, at})
		}
		return err
	}
	gone := c.ending[0].id
	c.ending = c.ending[1:]
	err := c.target.Read(ctx, gone)
	switch {
	case errors.Is(err, ErrGone):
		return nil
	case err == nil:
		return errExpiredSeen
	}
	return err
}

func (c *client) fresh() string {
	c.count++
	return fmt.Sprintf("%s-%d", c.name, c.count)
}

func (c *client) any() string { return c.ids[c.random.IntN(len(c.ids))] }

func (c *client) remember(id string) {
	if len(c.ids) < known {
		c.ids = append(c.ids, id)
		return
	}
	c.ids[c.random.IntN(len(c.ids))] = id
}

func (c *client) document(id string) Document {
	text := make([]byte, c.options.Bytes)
	for i := range text {
		text[i] = byte('a' + c.random.IntN(26))
	}
	return Document{id, c.random.IntN(groups), string(text)}
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, slowest.Microseconds(), 3)
}
