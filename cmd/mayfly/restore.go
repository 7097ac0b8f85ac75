package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/backup"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/node"
)

// restoring is how the name of a folder begins in which a backup is restored, until it is complete.
const restoring = ".restoring-"

// restore is the command that makes a data folder of a backup.
func (c command) restore() *cobra.Command {
	var o restoreOptions
	cmd := &cobra.Command{
		Use:   "restore FOLDER|-",
		Short: "Make a data folder of a backup",
		Long: "Make the empty or new folder of --data the data folder of a backup, from a folder or with - from\n" +
			"the standard input. Items that have expired by now are gone at the first start with a real\n" +
			"clock: restore says how many they are, and asks. With --rebase-clock, each item keeps what\n" +
			"remained of its life. At the end everything is checked, as mayfly check does.",
		Example: "  mayfly restore /backup/monday --data /var/lib/mayfly\n" +
			"  zstd -d < monday.tar.zst | mayfly restore - --data data --yes",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.configure(cmd)
			if err != nil {
				return err
			}
			o.source, o.data = args[0], cfg.data
			ctx, release := interrupted(cfg.logger(c.err))
			defer release()
			return asFailure(ctx, c.runRestore(ctx, o, cfg.logger(c.err)))
		},
	}
	addYes(cmd, &o.yes)
	cmd.Flags().BoolVar(&o.rebase, "rebase-clock", false, "keep what remained of each life")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	addFlags(cmd, "data", "log", "log-level")
	return cmd
}

type restoreOptions struct {
	source, data      string
	yes, rebase, json bool
}

// restored is a restored backup as JSON.
type restored struct {
	Data      string `json:"data"`
	Clock     string `json:"clock"` // at the backup
	Documents uint64 `json:"documents"`
	Overdue   uint64 `json:"overdue"`
	Shifted   uint64 `json:"shiftedDocuments,omitempty"`
	Dated     uint64 `json:"byDateDocuments,omitempty"`
}

// runRestore works in a folder inside of the data folder, and makes the result visible with one rename at the end.
func (c command) runRestore(ctx context.Context, o restoreOptions, log *slog.Logger) (err error) {
	root, leave, err := workshop(o.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	made := filepath.Join(root, "data")
	if o.source == "-" {
		_, err = backup.Unpack(ctx, attended{ctx, c.in}, made)
	} else {
		_, err = backup.Copy(ctx, o.source, made)
	}
	if err != nil {
		return err
	}
	done, err := c.finishRestore(ctx, o, node.EngineDir(made), log)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(node.EngineDir(o.data)); err == nil {
		return fmt.Errorf("--data: %s has data by now, of another restore or of a mayfly: "+
			"give an empty or a new folder", o.data)
	}
	if err := os.Rename(node.EngineDir(made), node.EngineDir(o.data)); err != nil {
		return err
	}
	if err := node.SyncFolder(o.data); err != nil {
		return err
	}
	if o.json {
		return printJSON(c.out, done)
	}
	_, err = fmt.Fprintf(c.out, "%s: %d documents as of %s, checked\n", o.data, done.Documents, done.Clock)
	return err
}

// workshop makes a folder in an empty data folder for this restore alone. It is locked as long as the restore runs, so
// that another one leaves it. leave removes it.
func workshop(data string) (root string, leave func() error, err error) {
	if err := emptyFolder(data, ""); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", nil, err
	}
	if root, err = os.MkdirTemp(data, restoring+"*"); err != nil {
		return "", nil, err
	}
	lock, err := pebble.Lock(root)
	if err != nil { // another restore has taken it for one that was interrupted
		return "", nil, errors.Join(errRestoring(data), os.RemoveAll(root))
	}
	leave = func() error { return errors.Join(lock.Close(), os.RemoveAll(root)) }
	if err := emptyFolder(data, root); err != nil { // one that has begun at the same time
		return "", nil, errors.Join(err, leave())
	}
	return root, leave, nil
}

// emptyFolder fails unless a folder does not exist or has nothing but root and what interrupted restores have left,
// which it removes.
func emptyFolder(dir, root string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), restoring) {
			return fmt.Errorf("--data: %s is not empty: give an empty or a new folder", dir)
		}
	}
	for _, e := range entries {
		left := filepath.Join(dir, e.Name())
		if left == root {
			continue
		}
		lock, err := pebble.Lock(left)
		if errors.Is(err, fs.ErrNotExist) { // its restore has just ended
			continue
		}
		if _, failed := errors.AsType[*fs.PathError](err); failed {
			return err
		}
		if err != nil {
			return errRestoring(dir)
		}
		if err := errors.Join(lock.Close(), os.RemoveAll(left)); err != nil {
			return err
		}
	}
	return nil
}

func errRestoring(dir string) error {
	return fmt.Errorf("--data: another restore into %s is running: wait until it is done, or give another folder", dir)
}

// finishRestore counts what has expired, asks, and makes the data ready for a start.
func (c command) finishRestore(
	ctx context.Context, o restoreOptions, dir string, log *slog.Logger,
) (done restored, err error) {
	now := clock.Wall()
	r, err := openRestored(ctx, dir, log)
	if err != nil {
		return done, err
	}
	done = restored{Data: o.data, Clock: r.Clock().Format(time.RFC3339)}
	if done.Overdue, done.Documents, err = r.Overdue(ctx, now); err == nil && !o.rebase && done.Overdue > 0 {
		err = c.confirmLoss(o, done)
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return done, err
	}
	if r, err = openRestored(ctx, dir, log); err != nil { // counting has moved the instants of the containers
		return done, err
	}
	if o.rebase {
		done.Shifted, done.Dated, err = r.Rebase(ctx, now)
	}
	if err == nil {
		err = r.Finish(ctx, now)
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return done, err
	}
	if o.rebase && !o.json {
		fmt.Fprintf(c.out, "%d documents keep what remained of their lives; %d have dates by which they expire, "+
			"which stay as they are\n", done.Shifted, done.Dated)
	}
	return done, checkRestored(ctx, dir, log)
}

func openRestored(ctx context.Context, dir string, log *slog.Logger) (*node.Restored, error) {
	engine, err := pebble.OpenContext(ctx, pebble.Options{Dir: dir, Logger: log})
	if err != nil {
		return nil, err
	}
	return node.OpenRestored(ctx, engine)
}

func checkRestored(ctx context.Context, dir string, log *slog.Logger) error {
	engine, err := pebble.OpenContext(ctx, pebble.Options{Dir: dir, Logger: log})
	if err != nil {
		return err
	}
	report, err := node.Check(ctx, engine)
	if err == nil && report.Found > 0 {
		err = fmt.Errorf("the backup is damaged: %d problems, the first: %s", report.Found, report.Problems[0])
	}
	return err
}

// confirmLoss asks whether items may be lost.
func (c command) confirmLoss(o restoreOptions, done restored) error {
	fmt.Fprintf(c.err, "%d of %d documents have expired since the backup, at %s. They are gone at the first start "+
		"with a real clock.\n", done.Overdue, done.Documents, done.Clock)
	if o.source == "-" {
		c.in = nil // it is not a person's
	}
	return c.confirm(o.yes,
		"Restore them nevertheless, instead of keeping what remained of each life with --rebase-clock?")
}
