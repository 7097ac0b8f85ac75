package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/mayflydb/mayfly/internal/fault"
)

// writeFile replaces a file, readable by its owner only, atomically: after a crash it has its old content or the new.
func writeFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes the names in a folder durable. Windows does that by itself.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error { return diskFault(syncFolder(path)) }

// Names in the data folder. The engine is in engineFolder, until a snapshot is loaded: then it is in the folder beside
// it that currentFile names. A folder with abandonedFile is no longer used, one with preparedFile not yet.
const (
	engineFolder  = "db"
	currentFile   = "db.current"
	abandonedFile = "ABANDONED"
	preparedFile  = "PREPARED"
)

// EngineDir is the folder for the engine's files in the data folder dir. The engine creates both, accessible to their
// owner only. If currentFile is damaged, EngineDir returns its path: a file, which no engine opens.
func EngineDir(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, currentFile))
	if isMissing(err) {
		return filepath.Join(dir, engineFolder)
	}
	name := string(text)
	if err != nil || !isNumbered(name) {
		return filepath.Join(dir, currentFile)
	}
	return filepath.Join(dir, name)
}

// isMissing reports that a file does not exist, also because a file stands where a folder would have to be.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// CheckEngineDir fails if currentFile names a folder that does not exist: an engine would make an empty database there.
func CheckEngineDir(dir string) error {
	current := filepath.Join(dir, currentFile)
	text, err := os.ReadFile(current)
	if isMissing(err) {
		return checkUnnamed(dir)
	}
	if err != nil {
		return err
	}
	if _, err = os.Stat(EngineDir(dir)); errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Corrupt, "%s names the folder %.100q, which does not exist. Bring it back, "+
			"write the name of the one with the data into the file, or restore a backup into a new folder.", current,
			text)
	}
	return err
}

// checkUnnamed fails if folders of loaded snapshots are there that may have the data, and neither the file that names
// the present one nor the folder of the first engine: the data would be lost if an empty database began.
func checkUnnamed(dir string) error {
	first := filepath.Join(dir, engineFolder)
	if _, err := os.Stat(first); err == nil && !unused(first) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if isMissing(err) {
		return nil
	}
	var candidates []string
	for _, e := range entries {
		if e.IsDir() && isNumbered(e.Name()) && !unused(filepath.Join(dir, e.Name())) {
			candidates = append(candidates, e.Name())
		}
	}
	if len(candidates) > 0 {
		return fault.New(fault.Corrupt,
			"The file %s, which names the folder with the data, is missing. Write into it which one that is: %s.",
			filepath.Join(dir, currentFile), strings.Join(candidates, ", "))
	}
	return err
}

// isNumbered reports whether a folder has the name of one that a loaded snapshot is in.
func isNumbered(name string) bool {
	number, numbered := strings.CutPrefix(name, engineFolder+".")
	_, err := strconv.Atoi(number)
	return numbered && err == nil
}

// unused reports whether mayfly has marked an engine's folder as one that is not used any more, or not yet. Folders
// without a mark may be an operator's.
func unused(path string) bool {
	for _, mark := range []string{abandonedFile, preparedFile} {
		if _, err := os.Lstat(filepath.Join(path, mark)); err == nil {
			return true
		}
	}
	return false
}

// HasData reports whether the data folder dir has a database. It creates nothing.
func HasData(dir string) (bool, error) {
	entries, err := os.ReadDir(EngineDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(entries) > 0, err
}

// diskFault says what went wrong with a file.
func diskFault(err error) error {
	var known *fault.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ENOSPC):
		return fault.Wrap(fault.OutOfSpace, err, "The disk is full. Free some space, then try again.")
	}
	return fault.Wrap(fault.Internal, err, "a file of the data folder cannot be written or read")
}
