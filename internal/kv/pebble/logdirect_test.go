package pebble

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

// A directMem is a file system in memory, or one above it, whose logs are directLogs.
type directMem struct{ vfs.FS }

func (d directMem) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, category)
	return d.wrap(f, err, name)
}

func (d directMem) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(from, to, category)
	return d.wrap(f, err, to)
}

func (d directMem) wrap(f vfs.File, err error, name string) (vfs.File, error) {
	if err != nil || kindOf(name) != logs {
		return f, err
	}
	return newDirectLog(f, (*syncer)(nil))
}

func (d directMem) Unwrap() vfs.FS { return d.FS }

// A script is what happens to a log: writes of random sizes, syncs and zeros behind the end, as a logFile does it.
// check gets what was written after each sync.
func script(t *testing.T, f vfs.File, rng *rand.Rand, steps int, check func(written []byte)) {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	source := make([]byte, 1<<20)
	for i := range source {
		source[i] = byte(1 + i%251) // 251 is prime, so pages differ
	}
	var written []byte
	filled := info.Size()
	for range steps {
		at := rng.IntN(len(source) / 4)
		p := source[at:][:1+rng.IntN([]int{10, pageBytes, 3 * pageBytes, 3 * pageBytes, 2 * directBytes}[rng.IntN(5)])]
		n, err := f.Write(p)
		if n != len(p) || err != nil {
			t.Fatalf("wrote %d of %d bytes: %v", n, len(p), err)
		}
		written = append(written, p...)
		if end := int64(len(written)); end > filled {
			n, err := f.WriteAt(zeros, end)
			if err != nil || n > len(zeros) {
				t.Fatalf("wrote %d zeros: %v", n, err)
			}
			filled = end + int64(n)
		}
		switch rng.IntN(10) {
		case 0: // nothing waits for these bytes
			continue
		case 1:
			err = f.Sync()
		default:
			err = f.SyncData()
		}
		if err != nil {
			t.Fatal(err)
		}
		check(written)
	}
}

// checkFile checks that a file has the written bytes, and then zeros as far as a page, and as the zeros behind the end
// go. From the first byte beyond on, it may have what it was before.
func checkFile(t *testing.T, fs vfs.FS, name string, written []byte) {
	t.Helper()
	got := contentOf(t, fs, name)
	if !bytes.HasPrefix(got, written) {
		t.Fatalf("%d bytes were written, and the file has %d with others", len(written), len(got))
	}
	rest := got[len(written):]
	rest = rest[:min(len(rest), -len(written)&(pageBytes-1))]
	if len(bytes.Trim(rest, "\x00")) > 0 {
		t.Fatalf("behind %d bytes there is something else than zeros", len(written))
	}
}

func contentOf(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		t.Fatal(err)
	}
	return content
}

// A sync makes durable what was written until then, in a log that is empty and in one that replaces another.
func TestDirectLogIsDurable(t *testing.T) {
	for _, old := range []int{0, 100, 40 * pageBytes, 1 << 20} {
		mem := vfs.NewCrashableMem()
		f, err := mem.Create("old", vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Write([]byte(strings.Repeat("o", old)))
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
		f, err = directMem{kvtest.Cloneable{MemFS: mem}}.ReuseForWrite("old", "1.log", vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if err := syncDir(mem, ""); err != nil {
			t.Fatal(err)
		}
		seed := rand.Uint64()
		t.Logf("%d bytes before, seed %d", old, seed)
		rng := rand.New(rand.NewPCG(seed, 0))
		script(t, f, rng, 20, func(written []byte) {
			crashed := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
			checkFile(t, crashed, "1.log", written)
		})
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A refusing file refuses some writes.
type refusingFile struct {
	vfs.File
	refuse func() error
}

func (f refusingFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.refuse(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, at)
}

// A write that the disk has no space for says so, and can be repeated when there is some.
func TestDirectLogWithoutSpace(t *testing.T) {
	mem := vfs.NewMem()
	f, err := mem.Create("1.log", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	full := true
	log, err := newDirectLog(refusingFile{f, func() error {
		if full {
			return syscall.ENOSPC
		}
		return nil
	}}, (*syncer)(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	want := []byte("some bytes")
	if n, err := log.Write(want); n != 0 || err != syscall.ENOSPC {
		t.Fatalf("wrote %d bytes: %v", n, err)
	}
	full = false
	for range 2 {
		if _, err := log.Write(want); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.SyncData(); err != nil {
		t.Fatal(err)
	}
	checkFile(t, mem, "1.log", append(want, want...))
}

// A durableFile knows what of a file is durable. It is the file and the syncer of a directLog.
type durableFile struct {
	vfs.File
	durable []byte
	fault   error // of syncs
	single  int   // how often write was called
	direct  bool
}

func (d *durableFile) write(_ uintptr, p []byte, at int64) (done bool, err error) {
	if !d.direct || at%pageBytes+int64(len(p)%pageBytes) != 0 {
		return false, nil
	}
	d.single++
	d.durable = append(d.durable, make([]byte, max(0, int(at)+len(p)-len(d.durable)))...)
	copy(d.durable[at:], p)
	_, err = d.File.WriteAt(p, at)
	return true, err
}

func (d *durableFile) WriteAt(p []byte, at int64) (int, error) {
	if d.direct {
		return 0, syscall.EINVAL // it might not be pages
	}
	return d.File.WriteAt(p, at)
}

func (d *durableFile) bypass(_ uintptr, on bool) error {
	d.direct = on
	return nil
}

func (d *durableFile) syncData(uintptr) (done bool, err error) { return true, d.Sync() }

func (d *durableFile) Sync() error {
	if d.fault != nil {
		return d.fault
	}
	info, err := d.Stat()
	if err != nil {
		return err
	}
	d.durable = make([]byte, info.Size())
	_, err = d.ReadAt(d.durable, 0)
	return err
}

// A write that makes itself durable does nothing for others. So after one that was not durable, all is synced.
func TestDirectLogSyncsTheRest(t *testing.T) {
	f, err := vfs.NewMem().Create("1.log", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	file := &durableFile{File: f}
	log, err := newDirectLog(file, file)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	script(t, log, rand.New(rand.NewPCG(seed, 0)), 80, func(written []byte) {
		if !bytes.HasPrefix(file.durable, written) {
			t.Fatalf("%d bytes were synced, and not all of them are durable", len(written))
		}
	})
	if file.single < 10 {
		t.Errorf("%d syncs were a single request", file.single)
	}
	if _, err := log.Write(make([]byte, 2*directBytes)); err != nil {
		t.Fatal(err)
	}
	single := file.single
	for _, file.fault = range []error{syscall.EIO, syscall.EIO, nil} {
		if err := log.SyncData(); err != file.fault {
			t.Errorf("SyncData: %v, want %v", err, file.fault)
		}
	}
	if file.single != single {
		t.Error("after a sync that has failed, not all is synced")
	}
}

// A log that cannot be written fails its syncs.
func TestDirectLogThatFails(t *testing.T) {
	mem := vfs.NewMem()
	f, err := mem.Create("1.log", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	var fault error
	log, err := newDirectLog(refusingFile{f, func() error { return fault }}, (*syncer)(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Write(make([]byte, pageBytes-10)); err != nil {
		t.Fatal(err)
	}
	fault = syscall.EIO
	if _, err := log.Write([]byte("fits")); err != nil {
		t.Fatalf("nothing has to be written: %v", err)
	}
	for name, sync := range map[string]func() error{"Sync": log.Sync, "SyncData": log.SyncData} {
		if err := sync(); err != syscall.EIO {
			t.Errorf("%s: %v", name, err)
		}
	}
}
