//go:build amd64 || arm64

package pebble

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// needSyncer skips a test where the kernel has no AIO, forbids it to this process, or has given all of it to others.
// Nothing can be installed against that, in CI neither. Any other reason for which there is no syncer is a failure.
func needSyncer(t *testing.T) *syncer {
	t.Helper()
	s := newSyncer()
	if s == nil {
		var context uintptr
		_, _, no := syscall.Syscall(syscall.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&context)), 0)
		switch no {
		case syscall.ENOSYS, syscall.EPERM, syscall.EACCES, syscall.EAGAIN:
			t.Skipf("skipped: the kernel refuses AIO to this process (%v), and logs are synced with fdatasync", no)
		}
		t.Fatalf("there is no syncer, and the kernel says %v when it is asked for AIO", no)
	}
	t.Cleanup(s.close)
	return s
}

func TestSyncerSyncsFiles(t *testing.T) {
	s := needSyncer(t)
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				if _, err := f.WriteString("a batch"); err != nil {
					t.Error(err)
				}
				if done, err := s.syncData(f.Fd()); !done || err != nil {
					t.Errorf("done %v, error %v", done, err)
				}
			}
		})
	}
	wait.Wait()
}

// What the system does not accept is left to fdatasync, which says why it fails.
func TestSyncerLeavesTheRest(t *testing.T) {
	s := needSyncer(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if done, err := s.syncData(write.Fd()); done || err != nil {
		t.Errorf("a pipe: done %v, error %v", done, err)
	}
	if done, err := (*syncer)(nil).syncData(read.Fd()); done || err != nil {
		t.Errorf("without AIO: done %v, error %v", done, err)
	}
}

// An engine that is closed leaves no descriptor behind.
func TestClosedEngineHasNoDescriptors(t *testing.T) {
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	once := func() {
		e := start(t, Options{Dir: t.TempDir()})
		set(t, e, "k", "v")
		stop(t, e)
	}
	once() // what the process keeps
	before := count()
	once()
	if after := count(); after > before {
		t.Errorf("%d descriptors, then %d", before, after)
	}
}

// directFile creates a log, and reports whether its file system lets it bypass the cache.
func directFile(t *testing.T, s *syncer, name string) (f vfs.File, able bool) {
	t.Helper()
	f, err := vfs.Default.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if err = s.bypass(f.Fd(), true); err == nil {
		able = true
		err = s.bypass(f.Fd(), false)
	}
	if err != nil && err != syscall.EINVAL {
		t.Fatal(err)
	}
	return f, able
}

// Other readers see what was written past the cache as soon as it is synced.
func TestDirectLogOnDisk(t *testing.T) {
	s := needSyncer(t)
	for range 3 {
		name := filepath.Join(t.TempDir(), "1.log")
		f, able := directFile(t, s, name)
		log, err := newDirectLog(f, s)
		if err != nil {
			t.Fatal(err)
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		script(t, log, rand.New(rand.NewPCG(seed, 0)), 30, func(written []byte) {
			checkFile(t, vfs.Default, name, written)
		})
		if log.cached == able {
			t.Errorf("the file system can bypass the cache: %v, and the log uses the cache: %v", able, log.cached)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A write that is not accepted, or not as a whole, is left to the ordinary way, which says why it fails.
func TestSyncerWrites(t *testing.T) {
	s := needSyncer(t)
	f, able := directFile(t, s, filepath.Join(t.TempDir(), "log"))
	defer f.Close()
	if able {
		if err := s.bypass(f.Fd(), true); err != nil {
			t.Fatal(err)
		}
	}
	p := pages(2 * pageBytes)
	for _, c := range []struct {
		name  string
		p     []byte
		at    int64
		pages bool
	}{
		{"two pages", p, 0, true},
		{"a page in the middle", p[:pageBytes], pageBytes, true},
		{"memory that is not a page", p[1 : 1+pageBytes], 0, false}, // some file systems accept all of these
		{"less than a page", p[:100], 0, false},
		{"not at a page", p, 100, false},
	} {
		if done, err := s.write(f.Fd(), c.p, c.at); !done && c.pages || err != nil {
			t.Errorf("%s: done %v, error %v", c.name, done, err)
		}
	}
	if done, err := (*syncer)(nil).write(f.Fd(), p, 0); done || err != nil {
		t.Errorf("without AIO: done %v, error %v", done, err)
	}
	read, err := vfs.Default.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if done, err := s.write(read.Fd(), p, 0); done || err != nil {
		t.Errorf("a file that is open for reading: done %v, error %v", done, err)
	}
}

// A refusingSyncer accepts no writes.
type refusingSyncer struct{ *syncer }

func (refusingSyncer) write(uintptr, []byte, int64) (done bool, err error) { return false, nil }

// Where the file system accepts that a file bypasses the cache and then refuses to write it, the log uses the cache.
func TestDirectLogThatIsRefused(t *testing.T) {
	s := needSyncer(t)
	name := filepath.Join(t.TempDir(), "1.log")
	f, _ := directFile(t, s, name)
	log, err := newDirectLog(f, refusingSyncer{s})
	if err != nil {
		t.Fatal(err)
	}
	script(t, log, rand.New(rand.NewPCG(1, 2)), 20, func(written []byte) {
		checkFile(t, vfs.Default, name, written)
	})
	if !log.cached || log.direct {
		t.Error("the log does not use the cache")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// The logs of an engine on disk bypass the cache on file systems that are known to do it well, unless nothing waits for
// syncs.
func TestLogsBypassTheCache(t *testing.T) {
	needSyncer(t)
	f, err := os.Create(filepath.Join(t.TempDir(), "1.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known := writesDurably(f.Fd())
	other, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if writesDurably(other.Fd()) {
		t.Error("the file system /proc is known")
	}
	for _, noSync := range []bool{false, true} {
		e := start(t, Options{Dir: t.TempDir(), NoSync: noSync})
		for range 3 { // the first sync is one of the whole file
			set(t, e, "k", "v")
		}
		direct := 0
		for _, flags := range openLogs(t) {
			if flags&syscall.O_DIRECT != 0 {
				direct++
			}
		}
		if direct > 0 != (known && !noSync) {
			t.Errorf("the file system is known: %v, NoSync is %v, and %d logs bypass the cache", known, noSync, direct)
		}
		stop(t, e)
	}
}

// openLogs returns the flags of the logs that this process has open.
func openLogs(t *testing.T) (flags []uintptr) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name, err := os.Readlink("/proc/self/fd/" + file.Name())
		if err != nil || kindOf(name) != logs {
			continue
		}
		fd, err := strconv.Atoi(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		f, _, no := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
		if no != 0 {
			t.Fatal(no)
		}
		flags = append(flags, f)
	}
	return flags
}
