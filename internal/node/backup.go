package node

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mayflydb/mayfly/internal/backup"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Backup writes a backup of all data as a stream, as package backup has it, while clients go on: every write that was
// acknowledged before the call is in it. have are the checksums of tables that the caller has from earlier backups,
// which are left out. The account key, certificates and snapshots are not in it. One backup is made at a time, others
// fail with fault.Busy.
func (n *Node) Backup(ctx context.Context, w io.Writer, have []string) error {
	if !n.backing.TryLock() {
		return fault.New(fault.Busy, "A backup is being made already. Wait until it is done.")
	}
	defer n.backing.Unlock()
	root, instant, err := n.copyOut(ctx)
	if root != "" {
		defer os.RemoveAll(root)
	}
	if err != nil {
		return err
	}
	m := backup.Manifest{Version: n.version, Taken: clock.Wall().UTC(), Clock: instant}
	return backup.Write(ctx, w, filepath.Join(root, engineFolder), m, have)
}

// copyOut copies the engine to a folder below root, at the instant that its clock shows. Requests go on meanwhile.
func (n *Node) copyOut(ctx context.Context) (root string, instant time.Time, err error) {
	frozen, root, instant, err := n.freeze(ctx)
	if err != nil || frozen == nil {
		return root, instant, err
	}
	defer frozen.Close()
	return root, instant, n.writeOut(ctx, frozen, filepath.Join(root, engineFolder))
}

// freeze copies an engine on disk to a folder below root. Of an engine in memory it returns a copy in memory, for which
// root has no folder yet.
func (n *Node) freeze(ctx context.Context) (frozen kv.Engine, root string, instant time.Time, err error) {
	n.moving.Lock()
	defer n.moving.Unlock()
	if n.phase.Load() != running {
		return nil, "", instant, fault.New(fault.Unavailable, "mayfly is not running")
	}
	n.gate.Enter()
	defer n.gate.Leave()
	instant = n.clock.Now()
	if err := n.saveMark(ctx, instant); err != nil {
		return nil, "", instant, err
	}
	switch engine := n.engine.(type) {
	case kv.Checkpointer:
		if n.options.Dir == "" {
			break
		}
		// On the same file system, for hard links; see diskShelf.tidy.
		parent := filepath.Join(n.options.Dir, snapshotsFolder)
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return nil, "", instant, diskFault(err)
		}
		if root, err = os.MkdirTemp(parent, "..backup-*"); err != nil {
			return nil, "", instant, diskFault(err)
		}
		return nil, root, instant, engine.Checkpoint(ctx, filepath.Join(root, engineFolder))
	case kv.Copier:
		if n.options.Reopen == nil {
			break
		}
		if root, err = os.MkdirTemp("", "mayfly-backup-*"); err != nil {
			return nil, "", instant, diskFault(err)
		}
		frozen, err = engine.Copy()
		return frozen, root, instant, err
	}
	return nil, "", instant, fault.New(fault.Unsupported, "The engine of this database%s has no backup. "+
		"Export the items, or use mongodump.", n.named())
}

// outBytes is about how many bytes one batch of writeOut has.
const outBytes = 4 << 20

// writeOut writes all keys of an engine to one on disk.
func (n *Node) writeOut(ctx context.Context, from kv.Engine, dir string) (err error) {
	to, err := n.options.Reopen(ctx, dir)
	if err != nil {
		return err
	}
	defer func() {
		if closed := to.Close(); err == nil {
			err = closed
		}
		if err == nil {
			err = removeExtras(dir)
		}
	}()
	it, err := from.Iterate(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer it.Close()
	b, bytes := &kv.Batch{NoSync: true}, 0
	for it.Next() {
		b.Set(cloned(it.Key()), cloned(it.Value()))
		if bytes += len(it.Key()) + len(it.Value()); bytes < outBytes {
			continue
		}
		if err := to.Apply(ctx, b); err != nil {
			return err
		}
		b, bytes = &kv.Batch{NoSync: true}, 0
	}
	if err := it.Err(); err != nil {
		return err
	}
	return to.Apply(ctx, b)
}

func cloned(b []byte) []byte { return append([]byte{}, b...) }

// removeExtras removes the files of an engine that belong to a process and not to its data.
func removeExtras(dir string) error {
	for _, name := range []string{"LOCK", "BALLAST"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
			return diskFault(err)
		}
	}
	return nil
}

// adminBackup is the backup as the admin API uses it.
type adminBackup struct{ *Node }

func (b adminBackup) Write(ctx context.Context, w io.Writer, have []string) error {
	return b.Backup(ctx, w, have)
}
