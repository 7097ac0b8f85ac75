package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Write sends the files of a folder that nobody changes, without the tables whose checksums are in have. m has what is
// to be said about them; Write fills in the files. The stream is: the manifest, the files in its order, and a trailer
// with the checksum of the manifest. The first byte comes when all checksums are known.
func Write(ctx context.Context, w io.Writer, dir string, m Manifest, have []string) error {
	m.Format = Format
	var err error
	if m.Files, err = describe(ctx, dir); err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	had := map[string]bool{}
	for _, sum := range have {
		had[sum] = true
	}
	out := tar.NewWriter(w)
	if err := writeEntry(out, manifestName, m.Taken, int64(len(text)), bytes.NewReader(text)); err != nil {
		return err
	}
	for _, f := range m.Files {
		if immutable(f.Name) && had[f.Sum] {
			continue
		}
		if err := writeFile(ctx, out, dir, f, m.Taken); err != nil {
			return err
		}
	}
	end := trailer(text)
	if err := writeEntry(out, trailerName, m.Taken, int64(len(end)), bytes.NewReader(end)); err != nil {
		return err
	}
	return out.Close()
}

// trailer is what a complete stream ends with.
func trailer(manifest []byte) []byte {
	sum := sha256.Sum256(manifest)
	return []byte(hex.EncodeToString(sum[:]))
}

// describe lists the files of a folder with their checksums, sorted by name.
func describe(ctx context.Context, dir string) ([]File, error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, err
	}
	files := make([]File, 0, len(entries))
	for _, e := range entries {
		if !e.Type().IsRegular() || !plain(e.Name()) {
			return nil, fault.New(fault.Internal, "%s does not belong into a backup", filepath.Join(dir, e.Name()))
		}
		f, err := sumOf(ctx, filepath.Join(dir, e.Name()), io.Discard)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// sumOf copies a file to w and describes it.
func sumOf(ctx context.Context, name string, w io.Writer) (File, error) {
	in, err := os.Open(name)
	if err != nil {
		return File{}, err
	}
	defer in.Close()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(hash, w), reader{ctx, in})
	return File{filepath.Base(name), n, hex.EncodeToString(hash.Sum(nil))}, err
}

func writeFile(ctx context.Context, out *tar.Writer, dir string, f File, at time.Time) error {
	in, err := os.Open(filepath.Join(dir, f.Name))
	if err != nil {
		return err
	}
	defer in.Close()
	return writeEntry(out, path.Join(filesFolder, f.Name), at, f.Size, reader{ctx, in})
}

func writeEntry(out *tar.Writer, name string, at time.Time, size int64, content io.Reader) error {
	h := tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: at.Truncate(time.Second), Typeflag: tar.TypeReg}
	if err := out.WriteHeader(&h); err != nil {
		return err
	}
	n, err := io.Copy(out, content)
	if err == nil && n != size {
		err = fmt.Errorf("%s has %d bytes, and had %d", name, n, size)
	}
	return err
}

// A reader ends with its context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
