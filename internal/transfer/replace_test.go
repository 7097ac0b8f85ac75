package transfer

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var errAway = errors.New("the server is away")

// A shaky origin gives an answer that breaks, or none.
type shaky struct{ answer string }

func (o shaky) Export(_ context.Context, after string) (io.ReadCloser, error) {
	if o.answer == "" {
		return nil, errAway
	}
	lines := strings.SplitAfter(o.answer, "\n")
	if at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"`+after+`"`) }); at >= 0 {
		lines = lines[at+1:]
	}
	text := strings.Join(lines, "")
	if strings.Contains(text, `"done":true`) {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	return io.NopCloser(io.MultiReader(strings.NewReader(text), broken{})), nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errAway }

const (
	half  = "{\"id\":\"a\",\"_ts\":1}\n{\"$position\":\"1.1\",\"done\":false}\n"
	whole = half + "{\"id\":\"b\",\"_ts\":2}\n{\"$position\":\"1.2\",\"done\":true}\n"
)

// files lists a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestExportKeepsTheOldFile exports to a file that is there: it stays until the new one is complete, and nothing else
// is left unless the export can go on.
func TestExportKeepsTheOldFile(t *testing.T) {
	for _, format := range Formats {
		for _, c := range []struct {
			name, answer string
			resumable    bool
		}{
			{"no answer", "", false},
			{"an answer that breaks", half, false},
			{"an answer that breaks behind a checkpoint", half, true},
		} {
			t.Run(string(format)+" "+c.name, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "out")
				if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
					t.Fatal(err)
				}
				o := ExportOptions{Format: format, Checkpoint: path + ".checkpoint"}
				if c.resumable {
					o.CheckpointBytes = 1
				}
				if _, err := Export(t.Context(), shaky{c.answer}, path, nil, o); !errors.Is(err, errAway) {
					t.Fatal(err)
				}
				if text, err := os.ReadFile(path); string(text) != "old" {
					t.Errorf("the old file is %q %v", text, err)
				}
				if names := files(t, dir); !c.resumable && len(names) != 1 {
					t.Errorf("files: %q", names)
				}
				done, err := Export(t.Context(), shaky{whole}, path, nil, o)
				if err != nil || done.Rows != 2 || (done.Resumed == 1) != (c.resumable && Resumable(format)) {
					t.Errorf("%+v %v", done, err)
				}
				info, err := os.Stat(path)
				if err != nil || info.Size() != done.Bytes {
					t.Errorf("%d bytes, want %d (%v)", info.Size(), done.Bytes, err)
				}
				if runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
					t.Errorf("the mode is now %o", info.Mode().Perm())
				}
				if names := files(t, dir); len(names) != 1 {
					t.Errorf("files at the end: %q", names)
				}
			})
		}
	}
}

// TestExportThroughALink replaces the file that a link leads to, and not the link.
func TestExportThroughALink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Symlink("file", link)); err != nil {
		t.Skip(err)
	}
	if _, err := Export(t.Context(), shaky{whole}, link, nil, ExportOptions{Format: JSONLines}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), `{"id":"a"`) ||
		!slices.Equal(files(t, dir), []string{"file", "link"}) {
		t.Errorf("%s %v %q", text, err, files(t, dir))
	}
}

// TestExportToADevice writes to a device as it is, and leaves nothing beside it.
func TestExportToADevice(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the device is Linux's")
	}
	for _, format := range Formats {
		o := ExportOptions{Format: format, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
		if done, err := Export(t.Context(), shaky{whole}, os.DevNull, nil, o); err != nil || done.Rows != 2 {
			t.Errorf("%s: %+v %v", format, done, err)
		}
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is now a file (%v)", os.DevNull, err)
	}
	if left, err := filepath.Glob(os.DevNull + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestReplaceNoFile(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "x")} {
		if err := Replace(path, func(io.Writer) error { return nil }); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if names := files(t, dir); len(names) > 0 {
		t.Errorf("left: %q", names)
	}
}
