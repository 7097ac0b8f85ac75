package lease

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

const (
	// DefaultTerm is the Term of Options that give none.
	DefaultTerm = 10 * time.Second

	// renewals is how often within a term a process renews its leases, and looks at those of others.
	renewals = 3

	// maxNames is the most leases that there may be, of all processes together, and maxName the longest name in bytes.
	maxNames, maxName = 1 << 15, 64
)

// Options of a Keeper.
type Options struct {
	Engine kv.Engine

	// Term is how long the leases of a process outlive its last renewal. A process that has crashed is replaced after
	// four thirds of it at most. All processes of an engine have the same. 0 means DefaultTerm.
	Term time.Duration

	// Gone reports that the work of a name will never be needed again: then the lease is deleted. Nil means never.
	Gone func(name string) bool
}

// A Keeper takes leases for one process and renews them: all with one write, since a lease names its holder and the
// holder has one key that says how long it is alive. It is safe for concurrent use.
type Keeper struct {
	engine kv.Engine
	shared bool
	term   time.Duration
	gone   func(string) bool
	id     string // of this process, random

	mu     sync.Mutex
	held   map[string]*Lease
	others map[string]bool // leases that living processes held at the last look
	names  int             // leases at the last look
	failed error           // why the last renewal did

	running context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup
}

// New returns a keeper that holds nothing.
func New(o Options) *Keeper {
	s, ok := o.Engine.(kv.Shared)
	k := &Keeper{
		engine: o.Engine, shared: ok && s.Shared(), term: o.Term, gone: o.Gone, id: rand.Text(),
		held: map[string]*Lease{}, others: map[string]bool{},
	}
	if k.term <= 0 {
		k.term = DefaultTerm
	}
	k.running, k.stop = context.WithCancel(context.Background())
	return k
}

// Start renews leases in the background until Close.
func (k *Keeper) Start() {
	if !k.shared {
		return
	}
	k.work.Go(func() {
		for clock.Pause(k.running, k.term/renewals) == nil {
			ctx, cancel := context.WithTimeout(k.running, k.term/2)
			err := k.Renew(ctx)
			cancel()
			k.mu.Lock()
			k.failed = err
			k.mu.Unlock()
		}
	})
}

// Err is why the last renewal in the background has failed, nil if it has not.
func (k *Keeper) Err() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed
}

// Close ends the renewals, and lets other processes take the leases at once.
func (k *Keeper) Close(ctx context.Context) error {
	k.stop()
	k.work.Wait()
	k.mu.Lock()
	any := len(k.held) > 0
	for name, l := range k.held {
		l.lost.Store(true)
		delete(k.held, name)
	}
	k.mu.Unlock()
	if !k.shared || !any {
		return nil
	}
	b := &kv.Batch{}
	b.Delete(keys.HolderKey(k.id)) // who is not there holds nothing
	return k.engine.Apply(ctx, b)
}

// waitEvery is how long Wait waits between two attempts.
const waitEvery = 100 * time.Millisecond

// Wait calls try until it takes a lease or fails, or ctx ends.
func (k *Keeper) Wait(ctx context.Context, try func() (taken bool, err error)) error {
	for {
		if taken, err := try(); taken || err != nil {
			return err
		}
		if err := clock.Pause(ctx, waitEvery); err != nil {
			return err
		}
	}
}

// lose forgets a lease, and reports whether it was held.
func (k *Keeper) lose(l *Lease) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	l.lost.Store(true)
	if k.held[l.name] != l {
		return false
	}
	delete(k.held, l.name)
	return true
}

// Take takes a lease that nobody holds. If somebody does, in this process or in another one, it returns nil. It reads
// the engine only if nobody held the lease at the last look.
func (k *Keeper) Take(ctx context.Context, name string) (*Lease, error) {
	return k.take(ctx, name, false)
}

// Seize takes a lease even from another process that is alive, which then has lost it: for work that an operator wants
// to be done here and now. Right after such a change of hands, for one term, it does not: then it returns nil, as Take
// does, so that two processes do not take a lease from each other for ever.
func (k *Keeper) Seize(ctx context.Context, name string) (*Lease, error) {
	return k.take(ctx, name, true)
}

func (k *Keeper) take(ctx context.Context, name string, seize bool) (*Lease, error) {
	if name == "" || len(name) > maxName {
		return nil, fault.New(fault.Invalid, "%q is not the name of a lease: it has 1 to %d bytes", name, maxName)
	}
	k.mu.Lock()
	held, elsewhere, full := k.held[name] != nil, k.others[name], k.names >= maxNames
	if !k.shared && !held {
		l := &Lease{keeper: k, name: name}
		k.held[name] = l
		k.mu.Unlock()
		return l, nil
	}
	k.mu.Unlock()
	if held || elsewhere && !seize {
		return nil, nil
	}
	view, err := k.engine.View(ctx)
	if err != nil {
		return nil, err
	}
	b := &kv.Batch{Since: view.Mark, Frees: true}
	key, now := keys.LeaseKey(name), view.Time.UnixMilli()
	is, err := readLease(ctx, view, key)
	if err != nil {
		return nil, err
	}
	if is.Epoch == 0 && full {
		return nil, fault.New(fault.TooLarge, "there are %d leases, and there may be no more", maxNames)
	}
	b.Read(key)
	if is.Holder != "" && is.Holder != k.id {
		until, err := readHolder(ctx, view, is.Holder)
		if err != nil {
			return nil, err
		}
		if until > now && !(seize && now-is.Since >= k.term.Milliseconds()) {
			return nil, nil
		}
		if until <= now { // it may be renewing at this moment
			b.Read(keys.HolderKey(is.Holder))
		}
	}
	is = keys.Lease{Epoch: is.Epoch + 1, Since: now, Holder: k.id}
	b.Set(key, is.Append(nil))
	b.Set(keys.HolderKey(k.id), keys.AppendHolder(nil, now+k.term.Milliseconds()))
	if err := k.engine.Apply(ctx, b); err != nil {
		if fault.KindOf(err) == fault.Conflict { // another process was faster
			return nil, nil
		}
		return nil, err
	}
	l := &Lease{keeper: k, name: name, epoch: is.Epoch}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.others, name)
	if old := k.held[name]; old != nil { // two goroutines have taken it: the later one has it
		old.lost.Store(true)
	}
	k.held[name] = l
	return l, nil
}
