package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Read writes a stream to a folder that does not exist, as a complete backup: what the stream leaves out comes from the
// folder of an earlier backup, "" for none, as hard links where that is possible. If Read fails, the folder does not
// exist.
func Read(ctx context.Context, r io.Reader, dir, earlier string) (Manifest, error) {
	return inside(dir, func(root string) (Manifest, error) {
		m, text, err := unpack(ctx, r, root, earlier)
		if err != nil {
			return m, err
		}
		return m, writeManifest(root, text)
	})
}

// Unpack writes the files of a complete stream to a data folder that does not exist.
func Unpack(ctx context.Context, r io.Reader, dir string) (Manifest, error) {
	return inside(dir, func(root string) (Manifest, error) {
		m, _, err := unpack(ctx, r, root, "")
		return m, err
	})
}

func unpack(ctx context.Context, r io.Reader, root, earlier string) (m Manifest, text []byte, err error) {
	in := tar.NewReader(reader{ctx, r})
	if text, err = readEntry(in, manifestName, maxManifest); err != nil {
		return m, nil, err
	}
	if m, err = parse(text); err != nil {
		return m, nil, err
	}
	if err := readFiles(ctx, in, root, earlier, &m); err != nil {
		return m, nil, err
	}
	end, err := io.ReadAll(io.LimitReader(in, 1024))
	if err != nil {
		return m, nil, broken(err)
	}
	if !bytes.Equal(end, trailer(text)) {
		return m, nil, fault.New(fault.Corrupt, "The end of the backup does not belong to its beginning.")
	}
	switch h, err := in.Next(); {
	case err == nil:
		return m, nil, fault.New(fault.Corrupt, "The backup has %.100q behind its end.", h.Name)
	case !errors.Is(err, io.EOF):
		return m, nil, broken(err)
	}
	return m, text, nil
}

// Pass copies a stream, and fails if it is not complete.
func Pass(ctx context.Context, r io.Reader, w io.Writer) error {
	in := tar.NewReader(io.TeeReader(reader{ctx, r}, w))
	text, err := readEntry(in, manifestName, maxManifest)
	for err == nil {
		var h *tar.Header
		if h, err = in.Next(); err != nil || h.Name != trailerName {
			continue
		}
		var end []byte
		if end, err = io.ReadAll(io.LimitReader(in, 1024)); err == nil && !bytes.Equal(end, trailer(text)) {
			return fault.New(fault.Corrupt, "The end of the backup does not belong to its beginning.")
		}
		if err == nil {
			_, err = io.Copy(w, reader{ctx, r}) // the blocks behind the last entry
			return err
		}
	}
	return broken(err)
}

// readFiles reads all files, up to the trailer.
func readFiles(ctx context.Context, in *tar.Reader, root, earlier string, m *Manifest) error {
	kept, err := tablesOf(earlier)
	if err != nil {
		return err
	}
	h, err := in.Next()
	for _, f := range m.Files {
		if err != nil {
			return broken(err)
		}
		target := filepath.Join(root, filesFolder, f.Name)
		if h.Name != path.Join(filesFolder, f.Name) {
			if err := keep(ctx, f, kept[f.Sum], target); err != nil {
				return err
			}
			continue
		}
		if h.Typeflag != tar.TypeReg || h.Size != f.Size {
			return fault.New(fault.Corrupt, "The file %s of the backup is not the one in its manifest.", f.Name)
		}
		if err := put(target, f, in); err != nil {
			return err
		}
		h, err = in.Next()
	}
	if err != nil {
		return broken(err)
	}
	if h.Name != trailerName || h.Size != 2*sha256.Size {
		return fault.New(fault.Corrupt, "The backup has a file %.100q that is not in its manifest.", h.Name)
	}
	return nil
}

// keep takes a file that the stream has left out from an earlier backup, and checks it.
func keep(ctx context.Context, f File, from, to string) error {
	if from == "" {
		return fault.New(fault.Corrupt, "The file %s is neither in this backup nor in an earlier one.", f.Name)
	}
	found, err := sumOf(ctx, from, io.Discard)
	if err != nil {
		return err
	}
	if found.Size != f.Size || found.Sum != f.Sum {
		return fault.New(fault.Corrupt, "%s is damaged. Make a backup without the earlier one.", from)
	}
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return put(to, f, reader{ctx, in})
}

// put writes a file and checks that it is the one of the manifest.
func put(name string, f File, content io.Reader) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, hash), io.LimitReader(content, f.Size+1))
	if err != nil {
		err = broken(err)
	} else if n != f.Size || hex.EncodeToString(hash.Sum(nil)) != f.Sum {
		err = fault.New(fault.Corrupt, "The file %s of the backup is damaged.", f.Name)
	}
	return errors.Join(err, out.Sync(), out.Close())
}

// readEntry reads the next entry of a stream, which must have a name, into memory.
func readEntry(in *tar.Reader, name string, most int64) ([]byte, error) {
	h, err := in.Next()
	if err != nil {
		return nil, broken(err)
	}
	if h.Name != name || h.Typeflag != tar.TypeReg {
		return nil, fault.New(fault.Invalid, "This is not a backup of mayfly: it begins with %.100q.", h.Name)
	}
	if h.Size > most {
		return nil, fault.New(fault.TooLarge, "%s of the backup is larger than %d bytes.", name, most)
	}
	var text bytes.Buffer
	if _, err := io.Copy(&text, in); err != nil {
		return nil, broken(err)
	}
	return text.Bytes(), nil
}

// broken is the error of a stream that cannot be read to its end.
func broken(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Wrap(fault.Corrupt, err, "The backup ends too early: its end is missing.")
	case errors.Is(err, tar.ErrHeader):
		return fault.Wrap(fault.Corrupt, err, "The backup is damaged, or it is not a backup of mayfly.")
	}
	return err
}

// inside fills a folder that does not exist, and removes it if that fails.
func inside(dir string, fill func(root string) (Manifest, error)) (m Manifest, err error) {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return m, err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return m, errors.Join(fault.New(fault.Exists, "%s exists already.", dir), err)
	}
	root, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+".making-*") // mode 0700
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(root)
	if err := os.Mkdir(filepath.Join(root, filesFolder), 0o700); err != nil {
		return m, err
	}
	if m, err = fill(root); err != nil {
		return m, err
	}
	if err := errors.Join(syncFolder(filepath.Join(root, filesFolder)), syncFolder(root)); err != nil {
		return m, err
	}
	if err := os.Rename(root, dir); err != nil {
		return m, err
	}
	return m, syncFolder(parent)
}

// syncFolder makes the names in a folder durable. Windows does that by itself.
func syncFolder(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
