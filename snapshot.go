package mayfly

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// The reasons why a snapshot is not saved or restored, for errors.Is.
var (
	// ErrSnapshotExists is returned by Snapshot for a name that is in use.
	ErrSnapshotExists = errors.New("mayfly: a snapshot of this name exists")
	// ErrNoSnapshot is returned for a name that no snapshot has.
	ErrNoSnapshot = errors.New("mayfly: there is no snapshot of this name")
)

// A Snapshot is a state of a database that it can go back to.
type Snapshot struct {
	Name  string
	Saved time.Time // by the machine's time
	Clock time.Time // what the database's clock showed
}

// Snapshot saves the present state of the database under a name of letters, digits, dots, hyphens and underscores:
// everything that was acknowledged before. It takes about a millisecond in memory. There may be 100 snapshots. Those of
// a database on disk outlive it.
func (db *DB) Snapshot(ctx context.Context, name string) error {
	_, err := db.node.Save(ctx, name)
	return snapshotError(err)
}

// Restore goes back to a snapshot, which stays and can be restored again. It takes a few milliseconds in memory.
// Addresses and connections stay; requests that arrive in between wait, and cursors, sessions, transactions and change
// streams of MongoDB end. A virtual clock goes back to the instant of the snapshot; a real one does not, so what has
// expired since stays expired. If Restore fails, nothing has changed.
func (db *DB) Restore(ctx context.Context, name string) error {
	_, err := db.node.Load(ctx, name)
	return snapshotError(err)
}

// Snapshots lists the snapshots by name.
func (db *DB) Snapshots(ctx context.Context) ([]Snapshot, error) {
	all, err := db.node.Snapshots(ctx)
	var list []Snapshot
	for _, s := range all {
		list = append(list, Snapshot{Name: s.Name, Saved: s.Saved, Clock: s.Clock})
	}
	return list, snapshotError(err)
}

// DeleteSnapshot deletes a snapshot.
func (db *DB) DeleteSnapshot(ctx context.Context, name string) error {
	return snapshotError(db.node.DeleteSnapshot(ctx, name))
}

func snapshotError(err error) error {
	switch fault.KindOf(err) {
	case fault.Exists:
		return fmt.Errorf("%w: %s", ErrSnapshotExists, fault.Message(err))
	case fault.NotFound:
		return ErrNoSnapshot
	}
	if err != nil {
		return fmt.Errorf("mayfly: %w", err)
	}
	return nil
}
