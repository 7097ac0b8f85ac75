package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/mayflydb/mayfly/internal/fault"
)

// newest is the newest file of a kind in a folder.
func newestFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	return slices.Max(found)
}

// copyOf copies a folder as a crash of the process leaves it. If an engine has just deleted a file, the copy begins
// again.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	for {
		to := t.TempDir()
		err := os.CopyFS(to, os.DirFS(dir))
		if err == nil {
			return to
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func flip(t *testing.T, path string, at int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[at] ^= 0xff
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedFolder opens folders in which something is not as it was left.
func TestDamagedFolder(t *testing.T) {
	clean, crashed := t.TempDir(), ""
	e := start(t, Options{Dir: clean})
	for i := range 50 {
		set(t, e, fmt.Sprintf("flushed%02d", i), strings.Repeat("x", 200))
	}
	if err := e.Compact(context.Background(), nil, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 300 { // each of them synced: several blocks of 32 KiB
		set(t, e, fmt.Sprintf("k%03d", i), strings.Repeat(fmt.Sprint(i), 300))
	}
	crashed = copyOf(t, clean)
	stop(t, e)

	truncate := func(pattern string, size int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Truncate(newestFile(t, dir, pattern), size); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(newestFile(t, dir, pattern)); err != nil {
				t.Fatal(err)
			}
		}
	}
	at := func(pattern string, at int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) { flip(t, newestFile(t, dir, pattern), at) }
	}
	for _, c := range []struct {
		name   string
		folder string
		damage func(t *testing.T, dir string)
		want   string // of the cause; "" opens
	}{
		{"nothing, stopped", clean, func(*testing.T, string) {}, ""},
		{"nothing, killed", crashed, func(*testing.T, string) {}, ""},
		{"log flipped at its beginning", clean, at("*.log", 30), "damaged at byte 0"},
		{"log flipped in a later block", clean, at("*.log", 70_000), "damaged at byte"},
		{"log flipped near its end", clean, truncateLess, "bytes, but had"},
		{"log flipped at its beginning, killed", crashed, at("*.log", 30), "continues after it"},
		{"log flipped within a block, killed", crashed, at("*.log", 1_000), "continues after it"},
		{"log with a broken length, killed", crashed, at("*.log", 4), "continues after it"},
		{"log truncated", clean, truncate("*.log", 5_000), "bytes, but had"},
		{"log cut off by a crash", crashed, truncate("*.log", 5_000), ""},
		{"log missing", clean, remove("*.log"), "is missing"},
		{"table of contents truncated", clean, truncate("MANIFEST-*", 60), "bytes, but had"},
		// the older log is still there
		{"table of contents cut off by a crash", crashed, truncate("MANIFEST-*", 60), ""},
		{"table of contents truncated, killed", crashed, func(t *testing.T, dir string) {
			truncate("MANIFEST-*", 60)(t, dir)
			found, err := filepath.Glob(filepath.Join(dir, "*.log"))
			if err != nil || len(found) < 2 {
				t.Fatalf("logs %v: %v", found, err)
			}
			if err := os.Remove(slices.Min(found)); err != nil {
				t.Fatal(err)
			}
		}, "changes 10 to"},
		{"table of contents empty, killed", crashed, truncate("MANIFEST-*", 0), "ends after 0 entries"},
		{"table of contents flipped, killed", crashed, at("MANIFEST-*", 12), "table of contents"},
		{"table of contents missing", crashed, remove("MANIFEST-*"), "table of contents is missing"},
		{"marker missing", crashed, remove("marker.manifest.*"), "marker of the table of contents is missing"},
		{"table missing", clean, remove("*.sst"), "is missing"},
		{"table missing, killed", crashed, remove("*.sst"), "does not exist"},
		{"table truncated, killed", crashed, truncate("*.sst", 100), "size mismatch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyOf(t, c.folder)
			c.damage(t, dir)
			before := list(t, dir)
			e, err := Open(Options{Dir: dir})
			if c.want == "" {
				if err != nil {
					t.Fatalf("open: %v", err)
				}
				want(t, e, "flushed49", strings.Repeat("x", 200))
				want(t, e, "k000", strings.Repeat("0", 300))
				stop(t, e)
				return
			}
			if err == nil {
				stop(t, e)
			}
			if fault.KindOf(err) != fault.Corrupt || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(fault.Message(err), dir) {
				t.Errorf("open: %v, want one that names %q and the folder", err, c.want)
			}
			if strings.Contains(fmt.Sprint(err), "\n") {
				t.Errorf("more than a line: %v", err)
			}
			for _, name := range before {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil && strings.HasSuffix(name, ".sst") {
					t.Errorf("a refused opening has removed %s", name)
				}
			}
		})
	}
}

// TestSealOfAnotherTime opens a folder that a program without seals has had in between, as after a downgrade.
func TestSealOfAnotherTime(t *testing.T) {
	for _, clean := range []bool{true, false} {
		dir := t.TempDir()
		e := start(t, Options{Dir: dir})
		set(t, e, "a", "1")
		stop(t, e)
		older, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Logger: logger{e}})
		if err != nil {
			t.Fatal(err)
		}
		if err := older.Set([]byte("b"), []byte("2"), pebble.Sync); err != nil {
			t.Fatal(err)
		}
		killed := copyOf(t, dir)
		if err := older.Close(); err != nil {
			t.Fatal(err)
		}
		if !clean {
			dir = killed
		}
		e = start(t, Options{Dir: dir})
		want(t, e, "a", "1")
		want(t, e, "b", "2")
		stop(t, e)
	}
}

func truncateLess(t *testing.T, dir string) {
	name := newestFile(t, dir, "*.log")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, info.Size()-5); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, dir string) (names []string) {
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

// TestUnusableFolder tells apart why a folder cannot be used.
func TestUnusableFolder(t *testing.T) {
	refuse := func(why error) vfs.FS {
		return errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpLock || op.Kind == errorfs.OpMkdirAll {
				return &fs.PathError{Op: "open", Path: op.Path, Err: why}
			}
			return nil
		}))
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		options Options
		want    string
		kind    fault.Kind
	}{
		{"read-only", Options{FS: refuse(syscall.EROFS)}, "mounted read-only: mount it for writing", fault.Unavailable},
		{"no rights", Options{FS: refuse(syscall.EACCES)}, "make this user its owner", fault.Unavailable},
		{"gone", Options{FS: refuse(syscall.ENODEV)}, "check that its disk is mounted", fault.Unavailable},
		{"failing", Options{FS: refuse(syscall.EIO)}, "check that its disk is mounted", fault.Unavailable},
		{"full", Options{FS: refuse(syscall.ENOSPC)}, "is full: free some space", fault.OutOfSpace},
		{"a file", Options{Dir: file}, "is a file", fault.Unavailable},
		{"below a file", Options{Dir: filepath.Join(file, "data")}, "is below a file", fault.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(c.options)
			if fault.KindOf(err) != c.kind || !strings.Contains(fault.Message(err), c.want) {
				t.Errorf("%v: %v, want %v that says %q", fault.KindOf(err), err, c.kind, c.want)
			}
		})
	}
}

// TestNewerFormat opens a folder that a later version has written.
func TestNewerFormat(t *testing.T) {
	mem := vfs.NewMem()
	e := start(t, Options{FS: mem})
	set(t, e, "a", "1")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	dir, _, err := folder(Options{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	marker, _, err := atomicfs.LocateMarker(mem, dir, "format-version")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(marker.Move("999"), marker.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = Open(Options{FS: mem})
	if fault.KindOf(err) != fault.Unsupported || !strings.Contains(fault.Message(err), "a newer mayfly") {
		t.Errorf("error %v, want one of a newer mayfly", err)
	}
}

// TestOpenGivenUp ends an opening that hangs on a log.
func TestOpenGivenUp(t *testing.T) {
	mem := vfs.NewMem()
	e := start(t, Options{FS: mem})
	set(t, e, "a", "1")
	stop(t, e)
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	slow := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpOpen && strings.HasSuffix(op.Path, ".log") {
			cancel()
			<-release
		}
		return nil
	}))
	if _, err := OpenContext(ctx, Options{FS: slow}); err == nil || ctx.Err() == nil ||
		!strings.Contains(err.Error(), "stopped while") {
		t.Errorf("open: %v", err)
	}
	close(release)
	for { // until what was left behind has let go of the folder
		e, err := Open(Options{FS: mem})
		if err == nil {
			want(t, e, "a", "1")
			stop(t, e)
			return
		}
		if fault.KindOf(err) != fault.Unavailable {
			t.Fatalf("open again: %v", err)
		}
	}
}

// TestCloseWithoutSpaceForTheSeal: the next start works without what the stop could not write.
func TestCloseWithoutSpaceForTheSeal(t *testing.T) {
	mem := vfs.NewMem()
	full := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, sealName+".new") {
			return syscall.ENOSPC
		}
		return nil
	}))
	e := start(t, Options{FS: full})
	set(t, e, "a", "1")
	if err := e.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	e = start(t, Options{FS: mem})
	if found, err := e.Get(context.Background(), []byte("a"), func([]byte) error { return nil }); !found || err != nil {
		t.Errorf("found %v, error %v", found, err)
	}
}
