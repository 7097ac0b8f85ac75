package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestExportThroughALinkToNothing makes the file that links lead to.
func TestExportThroughALinkToNothing(t *testing.T) {
	dir := t.TempDir()
	link, other := filepath.Join(dir, "link"), filepath.Join(dir, "other")
	err := errors.Join(os.Symlink("other", link), os.Symlink(filepath.Join(dir, "file"), other))
	if err != nil {
		t.Skip(err)
	}
	for _, checkpoint := range []string{"", filepath.Join(dir, "checkpoint")} {
		o := ExportOptions{Format: JSONLines, Checkpoint: checkpoint}
		if _, err := Export(t.Context(), shaky{whole}, link, nil, o); err != nil {
			t.Fatal(err)
		}
		if names := files(t, dir); !slices.Equal(names, []string{"file", "link", "other"}) {
			t.Errorf("files: %q", names)
		}
		if info, err := os.Lstat(filepath.Join(dir, "file")); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%v %v", info, err)
		}
		if err := os.Remove(filepath.Join(dir, "file")); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Remove(other), os.Symlink("link", other)); err != nil {
		t.Fatal(err)
	}
	if err := Replace(link, func(io.Writer) error { return nil }); err == nil {
		t.Error("links that lead to each other were written")
	}
}

// TestExportToADescriptor writes behind what is in a file that is open, and does not replace it.
func TestExportToADescriptor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the names are Linux's")
	}
	for _, format := range Formats {
		dir := t.TempDir()
		f, err := os.Create(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("before\n"); err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprint("/dev/fd/", f.Fd())
		o := ExportOptions{Format: format, Checkpoint: filepath.Join(dir, "checkpoint")}
		done, err := Export(t.Context(), shaky{whole}, path, nil, o)
		if err != nil || done.Rows != 2 {
			t.Errorf("%s: %+v %v", format, done, err)
		}
		info, err := f.Stat()
		names := files(t, dir)
		if err != nil || info.Size() != done.Bytes+int64(len("before\n")) || !slices.Equal(names, []string{"out"}) {
			t.Errorf("%s: %v %v, files %q", format, info.Size(), err, names)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{
		"/dev/stdout": true, "/dev/fd/1": true, "/proc/self/fd/1": true, "/dev/stderr": false, "/dev/null": false,
		"out": false,
	} {
		if IsOutput(path) != want {
			t.Errorf("%s is the standard output: %v", path, !want)
		}
	}
}

// An interfering origin does something else before it gives its answer.
type interfering struct {
	shaky
	does func()
}

func (o interfering) Export(ctx context.Context, after string) (io.ReadCloser, error) {
	o.does()
	return o.shaky.Export(ctx, after)
}

// TestTwoExportsToOneFile begins an export while another one to the same file is under way: neither breaks the other.
func TestTwoExportsToOneFile(t *testing.T) {
	for _, format := range Formats {
		for _, goesOn := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "out")
			o := ExportOptions{Format: format}
			if goesOn {
				o.Checkpoint = path + ".checkpoint"
			}
			from := interfering{shaky{whole}, func() {
				_, err := Export(t.Context(), shaky{whole}, path, nil, o)
				if refuse := goesOn && Resumable(format); errors.Is(err, errTaken) != refuse || !refuse && err != nil {
					t.Errorf("%s, going on %v: the second one: %v", format, goesOn, err)
				}
			}}
			done, err := Export(t.Context(), from, path, nil, o)
			if info, wrong := os.Stat(path); err != nil || wrong != nil || info.Size() != done.Bytes {
				t.Errorf("%s, going on %v: %v %v", format, goesOn, err, wrong)
			}
			if names := files(t, filepath.Dir(path)); len(names) != 1 {
				t.Errorf("%s: files %q", format, names)
			}
		}
	}
}

// TestPlaceIsTaken makes a folder where the file will be: what was written stays, and the same export goes on with it.
func TestPlaceIsTaken(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	o := ExportOptions{Format: JSON, Checkpoint: path + ".checkpoint"}
	_, err := Export(t.Context(), interfering{shaky{whole}, func() {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Error(err)
		}
	}}, path, nil, o)
	if err == nil || !strings.Contains(err.Error(), "is complete, in "+path+partEnd) {
		t.Fatal(err)
	}
	if names := files(t, dir); len(names) != 3 {
		t.Errorf("files: %q", names)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	done, err := Export(t.Context(), shaky{"{\"$position\":\"1.3\",\"done\":true}\n"}, path, nil, o)
	text, wrong := os.ReadFile(path)
	if err != nil || wrong != nil || done.Resumed != 2 || !strings.HasSuffix(string(text), "}\n]\n") {
		t.Errorf("%+v %v %v: %s", done, err, wrong, text)
	}
	if names := files(t, dir); len(names) != 1 {
		t.Errorf("files at the end: %q", names)
	}
}
