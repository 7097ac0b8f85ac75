package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Names in the data folder. A snapshot is a folder of that name in snapshotsFolder, with the files of an engine and a
// description. While it is made, its name begins with a dot.
const (
	snapshotsFolder = "snapshots"
	snapshotFile    = "snapshot.json"
)

// A diskShelf keeps snapshots as folders beside the engine's, which share tables as hard links. It is used under
// Node.moving.
type diskShelf struct {
	dir    string // the data folder
	reopen func(ctx context.Context, dir string) (kv.Engine, error)
	write  func(path string, content []byte) error // writeFile, except in tests
	log    *slog.Logger
}

func (d *diskShelf) path(name ...string) string {
	return filepath.Join(append([]string{d.dir, snapshotsFolder}, name...)...)
}

func (d *diskShelf) save(ctx context.Context, engine kv.Engine, s *Snapshot) error {
	if err := os.MkdirAll(d.path(), 0o700); err != nil {
		return diskFault(err)
	}
	if err := d.vacant(s.Name); err != nil {
		return err
	}
	making := d.path("." + s.Name)
	err := os.RemoveAll(making)
	if err == nil {
		err = os.Mkdir(making, 0o700)
	}
	if err == nil {
		err = engine.(kv.Checkpointer).Checkpoint(ctx, filepath.Join(making, engineFolder))
	}
	if err == nil {
		s.Bytes, err = sizeOf(filepath.Join(making, engineFolder))
	}
	if err == nil {
		err = writeJSON(filepath.Join(making, snapshotFile), s)
	}
	if err == nil {
		err = os.Rename(making, d.path(s.Name))
	}
	if err == nil {
		err = syncFolder(d.path())
	}
	if err != nil {
		return errors.Join(diskFault(err), os.RemoveAll(making))
	}
	return nil
}

// vacant fails if there is something under the name of a snapshot that is none, or cannot be read: mayfly makes folders
// that are complete, so it is somebody else's, or damaged.
func (d *diskShelf) vacant(name string) error {
	_, err := os.Lstat(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return diskFault(err)
	}
	return fault.New(fault.Exists, "%s is in the way, and it is not a snapshot that mayfly can read. Move it away, "+
		"delete it with `mayfly snapshot delete %s`, or use another name.", d.path(name), name)
}

func (d *diskShelf) list() (all []Snapshot, err error) {
	entries, err := os.ReadDir(d.path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diskFault(err)
	}
	for _, e := range entries {
		if checkSnapshotName(e.Name()) != nil {
			continue
		}
		s, err := d.read(e.Name())
		if err != nil { // the others are of use without it
			d.log.Warn("a snapshot is left out of the list", "name", e.Name(), "error", err)
			continue
		}
		all = append(all, s)
	}
	return all, nil
}

func (d *diskShelf) read(name string) (s Snapshot, err error) {
	text, err := os.ReadFile(d.path(name, snapshotFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, errNoSnapshot(name)
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fault.Wrap(fault.Corrupt, err, "The snapshot %s cannot be read. Delete it.", name)
	}
	s.Name = name // the operator may have renamed the folder
	return s, nil
}

// open copies the snapshot, tables as hard links, to a folder of its own, and opens an engine there.
func (d *diskShelf) open(ctx context.Context, name string) (*opened, error) {
	s, err := d.read(name)
	if err != nil {
		return nil, err
	}
	before := EngineDir(d.dir)
	dir := d.nextFolder()
	unsure := false // whether a crash may undo the switch
	if err := cloneFolder(d.path(name, engineFolder), dir, preparedFile); err != nil {
		return nil, errors.Join(diskFault(err), os.RemoveAll(dir))
	}
	engine, err := d.reopen(ctx, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &opened{
		Snapshot: s, engine: engine,
		take: func() (err error) {
			unsure, err = d.switchTo(before, dir)
			return err
		},
		remove: func() error {
			if unsure { // tidy removes it at the next start
				return nil
			}
			return os.RemoveAll(before)
		},
		discard: func() error { return os.RemoveAll(dir) },
	}, nil
}

// switchTo makes the next start open the folder after, and not before. If writing fails once the file has its new
// name, the switch has happened, but a crash of the machine may undo it: then it is unsure, and before must stay.
func (d *diskShelf) switchTo(before, after string) (unsure bool, err error) {
	mark := filepath.Join(before, abandonedFile)
	if err = os.Remove(filepath.Join(after, preparedFile)); err == nil {
		err = writeFile(mark, nil)
	}
	if err == nil {
		err = d.write(filepath.Join(d.dir, currentFile), []byte(filepath.Base(after)))
	}
	switch {
	case err == nil:
		return false, nil
	case EngineDir(d.dir) == after:
		d.log.Warn("the folder of a loaded snapshot is in use, but the disk may not keep that", "error", err)
		return true, nil
	}
	return false, errors.Join(diskFault(err), os.RemoveAll(mark))
}

// nextFolder is a folder for an engine that does not exist.
func (d *diskShelf) nextFolder() string {
	for n := 2; ; n++ {
		dir := filepath.Join(d.dir, engineFolder+"."+strconv.Itoa(n))
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return dir
		}
	}
}

func (d *diskShelf) delete(name string) error {
	if _, err := os.Lstat(d.path(name)); errors.Is(err, fs.ErrNotExist) {
		return errNoSnapshot(name)
	}
	going := d.path("." + name)
	err := errors.Join(os.RemoveAll(going), os.Rename(d.path(name), going), syncFolder(d.path()))
	return diskFault(errors.Join(err, os.RemoveAll(going)))
}

// tidy removes what a crash has left: unfinished snapshots, and engines that a loaded snapshot has replaced.
func (d *diskShelf) tidy() error {
	if err := CheckEngineDir(d.dir); err != nil {
		return err
	}
	current := EngineDir(d.dir)
	unfinished := []string{filepath.Join(current, abandonedFile)} // the switch to another one has not happened
	made, err := os.ReadDir(d.path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return diskFault(err)
	}
	for _, e := range made {
		if strings.HasPrefix(e.Name(), ".") {
			unfinished = append(unfinished, d.path(e.Name()))
		}
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return diskFault(err)
	}
	for _, e := range entries {
		path, known := filepath.Join(d.dir, e.Name()), e.Name() == engineFolder || isNumbered(e.Name())
		if path != current && e.IsDir() && known && unused(path) {
			unfinished = append(unfinished, path)
		}
	}
	for _, path := range unfinished {
		if err := os.RemoveAll(path); err != nil {
			return diskFault(err)
		}
	}
	return nil
}

// cloneFolder copies a folder of files that nobody writes. Tables are immutable, so they become hard links. The copy
// has the empty file mark from the beginning.
func cloneFolder(from, to, mark string) error {
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.Mkdir(to, 0o700)
	}
	if err == nil {
		err = writeFile(filepath.Join(to, mark), nil)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is not a file", source)
		case isTable(e.Name()):
			if os.Link(source, target) == nil {
				continue
			}
		}
		if err := copyFile(source, target); err != nil {
			return err
		}
	}
	return errors.Join(syncFolder(to), syncFolder(filepath.Dir(to)))
}

// isTable reports whether a file of the engine never changes once it is written.
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

func sizeOf(dir string) (bytes uint64, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		bytes += uint64(info.Size())
	}
	return bytes, err
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, text)
}
