//go:build amd64 || arm64

package pebble

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"unsafe"
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
