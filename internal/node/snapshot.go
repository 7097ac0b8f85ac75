package node

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Limits on snapshots. The bytes are what each would take by itself; mostly they share it.
const (
	MaxSnapshots      = 100
	MaxSnapshotBytes  = 64 << 30
	maxSnapshotName   = 64
	snapshotNameForm  = "1 to 64 letters, digits, dots, hyphens and underscores, the first one a letter or a digit"
	snapshotNamesRest = "-_."
)

// A Snapshot is a state of all data, under a name. Node.Load goes back to it.
type Snapshot struct {
	Name  string    `json:"name"`
	Saved time.Time `json:"saved"` // by the machine's time
	Clock time.Time `json:"clock"` // what the node's clock showed
	Bytes uint64    `json:"bytes"` // what it would take by itself; data that has not changed since is shared
}

// A shelf keeps snapshots.
type shelf interface {
	// save keeps the present state of an engine, and fills in Bytes.
	save(ctx context.Context, engine kv.Engine, s *Snapshot) error
	// open makes an engine of a snapshot, which stays as it is.
	open(ctx context.Context, name string) (*opened, error)
	// list gives the snapshots in any order.
	list() ([]Snapshot, error)
	// delete removes a snapshot, also one that cannot be read; fault.NotFound.
	delete(name string) error
}

// An opened snapshot is an engine that may replace the present one.
type opened struct {
	Snapshot
	engine kv.Engine
	// take makes the next start open this engine, and not the one before. The switch is durable or has not happened.
	take func() error
	// remove removes the files of the engine before. It is called after take, when that engine is closed.
	remove func() error
	// discard removes what open has made; the engine is closed. It is called instead of take.
	discard func() error
}

// openShelf finds out how the engine keeps snapshots. Without a way, n.shelf stays nil.
func (n *Node) openShelf(_ context.Context, o Options) error {
	switch n.engine.(type) {
	case kv.Copier:
		n.shelf = &memoryShelf{kept: map[string]keptSnapshot{}}
	case kv.Checkpointer:
		if o.Dir != "" && o.Reopen != nil {
			s := &diskShelf{dir: o.Dir, reopen: o.Reopen, write: writeFile, log: n.log}
			n.shelf = s
			return s.tidy()
		}
	}
	return nil
}

var errNoShelf = fault.New(fault.Unsupported, "The engine of this database has no snapshots.")

// checkSnapshotName checks a name, which is also the name of a folder on every system.
func checkSnapshotName(name string) error {
	ok := name != "" && len(name) <= maxSnapshotName
	for i := range len(name) {
		c := name[i]
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		ok = ok && (plain || i > 0 && slices.Contains([]byte(snapshotNamesRest), c))
	}
	if !ok || name[len(name)-1] == '.' {
		return fault.New(fault.Invalid, "%.100q is not a name for a snapshot: use %s; not a dot at the end",
			name, snapshotNameForm)
	}
	return nil
}

// Save keeps the present state of all data under a name: every write that was acknowledged before, and none that begins
// after. Clients notice nothing. Errors: fault.Exists if the name is in use, fault.Invalid for a name that is not
// allowed, fault.OutOfSpace if there is no room for another snapshot.
func (n *Node) Save(ctx context.Context, name string) (Snapshot, error) {
	n.moving.Lock() // the clock stays where it is
	defer n.moving.Unlock()
	if err := n.mayKeep(name); err != nil {
		return Snapshot{}, err
	}
	all, err := n.shelf.list()
	if err != nil {
		return Snapshot{}, err
	}
	bytes := n.store.Load().DiskBytes + n.store.Load().MemoryBytes
	for _, s := range all {
		if s.Name == name {
			return Snapshot{}, fault.New(fault.Exists,
				"There is a snapshot %s already. Delete it first, or use another name.", name)
		}
		bytes += s.Bytes
	}
	if most := n.maxSnapshotBytes(); len(all) >= MaxSnapshots || bytes > most {
		return Snapshot{}, fault.New(fault.OutOfSpace, "There are %d snapshots, and with another one they would take "+
			"%d bytes. Delete one first: at most %d are kept, with %d bytes.", len(all), bytes, MaxSnapshots, most)
	}
	n.gate.Enter()
	defer n.gate.Leave()
	s := Snapshot{Name: name, Saved: clock.Wall().UTC(), Clock: n.clock.Now()}
	if err := n.saveMark(ctx, s.Clock); err != nil {
		return Snapshot{}, err
	}
	return s, n.shelf.save(ctx, n.engine, &s)
}

// maxSnapshotBytes bounds all snapshots together. In memory they have no more than what the node may use.
func (n *Node) maxSnapshotBytes() uint64 {
	if _, inMemory := n.shelf.(*memoryShelf); inMemory && n.options.Memory > 0 {
		return min(MaxSnapshotBytes, uint64(n.options.Memory))
	}
	return MaxSnapshotBytes
}

// mayKeep fails if the node has no snapshots now, or none of that name.
func (n *Node) mayKeep(name string) error {
	switch {
	case n.phase.Load() != running:
		return fault.New(fault.Unavailable, "mayfly is not running")
	case n.shelf == nil:
		return errNoShelf
	}
	return checkSnapshotName(name)
}

// Snapshots lists all snapshots by name.
func (n *Node) Snapshots(context.Context) ([]Snapshot, error) {
	n.moving.Lock()
	defer n.moving.Unlock()
	if n.shelf == nil {
		return nil, errNoShelf
	}
	all, err := n.shelf.list()
	slices.SortFunc(all, func(a, b Snapshot) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

// DeleteSnapshot removes a snapshot; fault.NotFound.
func (n *Node) DeleteSnapshot(_ context.Context, name string) error {
	n.moving.Lock()
	defer n.moving.Unlock()
	if err := n.mayKeep(name); err != nil {
		return err
	}
	return n.shelf.delete(name)
}

func errNoSnapshot(name string) error {
	return fault.New(fault.NotFound, "There is no snapshot %s.", name)
}

// adminSnapshots are the snapshots as the admin API uses them.
type adminSnapshots struct{ *Node }

func (s adminSnapshots) List(ctx context.Context) (any, error) {
	all, err := s.Snapshots(ctx)
	return struct {
		Snapshots []Snapshot `json:"snapshots"`
	}{append([]Snapshot{}, all...)}, err
}

func (s adminSnapshots) Save(ctx context.Context, name string) (any, error) {
	return s.Node.Save(ctx, name)
}

func (s adminSnapshots) Load(ctx context.Context, name string) (any, error) {
	return s.Node.Load(ctx, name)
}

func (s adminSnapshots) Delete(ctx context.Context, name string) error {
	return s.DeleteSnapshot(ctx, name)
}
