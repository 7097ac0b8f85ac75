package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Open reads the manifest of a folder that Read has made.
func Open(dir string) (Manifest, error) {
	name := filepath.Join(dir, manifestName)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, fault.New(fault.NotFound, "%s is not a backup: it has no %s.", dir, manifestName)
	}
	if err != nil {
		return Manifest{}, err
	}
	if info.Size() > maxManifest {
		return Manifest{}, fault.New(fault.TooLarge, "%s is larger than %d bytes.", name, maxManifest)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return Manifest{}, err
	}
	return parse(text)
}

// Copy copies a backup to a folder that does not exist, and checks every file.
func Copy(ctx context.Context, from, to string) (Manifest, error) {
	return inside(to, func(root string) (Manifest, error) {
		m, err := Open(from)
		if err != nil {
			return m, err
		}
		for _, f := range m.Files {
			name := filepath.Join(filesFolder, f.Name)
			if err := copyFile(ctx, filepath.Join(from, name), filepath.Join(root, name), f); err != nil {
				return m, err
			}
		}
		return m, nil
	})
}

func copyFile(ctx context.Context, from, to string, f File) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Corrupt, err, "The file %s of the backup is missing.", f.Name)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return put(to, f, reader{ctx, in})
}

// tablesOf finds the tables of a backup by their checksums; none if dir is empty.
func tablesOf(dir string) (map[string]string, error) {
	if dir == "" {
		return nil, nil
	}
	m, err := Open(dir)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, f := range m.Files {
		if immutable(f.Name) {
			found[f.Sum] = filepath.Join(dir, filesFolder, f.Name)
		}
	}
	return found, nil
}

func writeManifest(root string, text []byte) error {
	f, err := os.OpenFile(filepath.Join(root, manifestName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}
