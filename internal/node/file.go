package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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

// engineFolder is the folder of the engine in the data folder.
const engineFolder = "db"

// EngineDir is the folder for the engine's files in the data folder dir. The engine creates both, accessible to their
// owner only.
func EngineDir(dir string) string { return filepath.Join(dir, engineFolder) }

// HasData reports whether the data folder dir has a database. It creates nothing.
func HasData(dir string) (bool, error) {
	entries, err := os.ReadDir(filepath.Join(dir, engineFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(entries) > 0, err
}
