package pebble

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A small file system has space for total bytes, in files and taken by others.
type small struct {
	vfs.FS
	mu     sync.Mutex
	total  int64
	others int64
	sizes  map[string]int64
}

func newSmall(total int64) *small {
	return &small{FS: vfs.NewMem(), total: total, sizes: map[string]int64{}}
}

func (s *small) free() (n int64) {
	for _, size := range s.sizes {
		n += size
	}
	return max(s.total-s.others-n, 0)
}

// take is another program that takes or leaves space; negative takes all that there is.
func (s *small) take(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.others = n; n < 0 {
		s.others = 0
		s.others = s.free()
	}
}

func (s *small) GetDiskUsage(string) (vfs.DiskUsage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := uint64(s.free())
	return vfs.DiskUsage{AvailBytes: free, TotalBytes: uint64(s.total), UsedBytes: uint64(s.total) - free}, nil
}

func (s *small) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, c)
	s.set(name, 0)
	return &smallFile{File: f, fs: s, name: name}, err
}

func (s *small) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	_ = s.Remove(from)
	return s.Create(to, c)
}

func (s *small) Remove(name string) error {
	s.mu.Lock()
	delete(s.sizes, name)
	s.mu.Unlock()
	return s.FS.Remove(name)
}

func (s *small) Rename(from, to string) error {
	s.mu.Lock()
	s.sizes[to] = s.sizes[from]
	delete(s.sizes, from)
	s.mu.Unlock()
	return s.FS.Rename(from, to)
}

func (s *small) set(name string, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes[name] = size
}

type smallFile struct {
	vfs.File
	fs   *small
	name string
	end  int64
}

// grow takes space up to end.
func (f *smallFile) grow(end int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	size, ok := f.fs.sizes[f.name]
	if more := end - size; ok && more > 0 {
		if more > f.fs.free() {
			return syscall.ENOSPC
		}
		f.fs.sizes[f.name] = end
	}
	return nil
}

func (f *smallFile) Write(p []byte) (int, error) {
	if err := f.grow(f.end + int64(len(p))); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	f.end += int64(n)
	return n, err
}

func (f *smallFile) Preallocate(offset, length int64) error { return f.grow(offset + length) }

// try writes a value of a kilobyte that does not compress, or deletes.
func try(e *Engine, i int, frees bool) error {
	b := kv.Batch{Frees: frees}
	key := fmt.Appendf(nil, "k%06d", i)
	if b.Delete(key); !frees {
		value := make([]byte, 1<<10)
		rng := rand.New(rand.NewPCG(uint64(i), 0))
		for j := range value {
			value[j] = byte(rng.Uint32())
		}
		b.Ops = b.Ops[:0]
		b.Set(key, value)
	}
	return e.Apply(context.Background(), &b)
}

// fill writes until the engine refuses, and returns how many batches it took.
func fill(t *testing.T, e *Engine, from int) int {
	t.Helper()
	for i := from; ; i++ {
		if err := try(e, i, false); fault.KindOf(err) == fault.OutOfSpace {
			return i
		} else if err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
	}
}

func reads(t *testing.T, e *Engine, i int) {
	t.Helper()
	found, err := e.Get(t.Context(), fmt.Appendf(nil, "k%06d", i), func([]byte) error { return nil })
	if err != nil || !found {
		t.Errorf("read %d on a full disk: %v, %v", i, found, err)
	}
}

// TestFullDisk is the story of a disk that fills up, by mayfly and by others, and of the ways out.
func TestFullDisk(t *testing.T) {
	disk := newSmall(40 << 20)
	var log lines
	e := start(t, Options{FS: disk, Reserve: DefaultReserve, Logger: logTo(&log)})
	n := fill(t, e, 0)
	if n < 10_000 {
		t.Errorf("%d KiB went to a disk of 40 MiB", n)
	}
	if err := e.Refuses(); fault.KindOf(err) != fault.OutOfSpace ||
		!strings.Contains(fault.Message(err), "Delete documents") {
		t.Errorf("the engine says %v", err)
	}
	reads(t, e, 3)
	if err := try(e, 0, true); err != nil {
		t.Errorf("a delete on a full disk: %v", err)
	}
	v, err := e.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Apply(context.Background(), &kv.Batch{Since: v.Mark, Reads: [][]byte{[]byte("k")}}); err != nil {
		t.Errorf("a batch that only reads: %v", err)
	}
	e.tick() // brings the ballast back, if there is space

	disk.take(-1)
	for i := range n / 2 {
		if err := try(e, i, true); err != nil {
			t.Fatalf("delete %d on a disk that others have filled: %v", i, err)
		}
	}
	for i := 0; i < 5 && e.Refuses() != nil; i++ {
		if err := e.tidy(context.Background()); err != nil {
			t.Log(err)
		}
		e.space.look()
	}
	if err := e.Refuses(); err != nil {
		t.Errorf("deletes have won no space: %v", err)
	}
	n = fill(t, e, n)
	disk.take(0)
	e.tick()
	if err := try(e, n, false); err != nil {
		t.Errorf("a write when others have left space: %v", err)
	}
	stop(t, e)
	if got := log.String(); strings.Contains(got, "stack") || strings.Count(got, "\n") > 60 {
		t.Errorf("the log has %d lines:\n%s", strings.Count(got, "\n"), got)
	}

	e = start(t, Options{FS: disk, Reserve: DefaultReserve})
	reads(t, e, n)
	stop(t, e)
}

// TestNoReserve writes up to the last byte, and what was acknowledged is there after that.
func TestNoReserve(t *testing.T) {
	disk := newSmall(8 << 20)
	e := start(t, Options{FS: disk})
	acknowledged := 0
	for err := error(nil); err == nil; {
		for e.db.Metrics().MemTable.Count > 2 && e.Refuses() == nil {
			runtime.Gosched() // four of them would stall the write until there is space
		}
		if err = try(e, acknowledged, false); err == nil {
			acknowledged++
		}
	}
	_ = e.Close() // the disk has failed
	disk.total = 64 << 20
	e = start(t, Options{FS: disk})
	for i := range acknowledged {
		reads(t, e, i)
	}
	stop(t, e)
}

func TestLargeBatchOnSmallDisk(t *testing.T) {
	e := start(t, Options{FS: newSmall(40 << 20), Reserve: DefaultReserve})
	defer stop(t, e)
	b := kv.Batch{}
	b.Set([]byte("large"), bytes.Repeat([]byte("x"), 30<<20))
	if err := e.Apply(context.Background(), &b); fault.KindOf(err) != fault.OutOfSpace {
		t.Errorf("30 MiB, twice: %v", err)
	}
	if err := try(e, 1, false); err != nil {
		t.Errorf("a small write after it: %v", err)
	}
}

// TestOpenOnFullDisk opens data while there is no space for it: an error, and no loop.
func TestOpenOnFullDisk(t *testing.T) {
	disk := newSmall(40 << 20)
	e := start(t, Options{FS: disk})
	for i := range 5_000 {
		if err := try(e, i, false); err != nil {
			t.Fatal(err)
		}
	}
	stop(t, e)
	disk.take(-1)
	var log lines
	_, err := Open(Options{FS: disk, Logger: logTo(&log)})
	if fault.KindOf(err) != fault.OutOfSpace ||
		!strings.Contains(fault.Message(err), "free some space, then start mayfly again") {
		t.Errorf("open: %v", err)
	}
	if got := log.String(); strings.Count(got, "\n") > 0 {
		t.Errorf("the log has more than the error:\n%s", got)
	}
}

// TestVanishedFolder takes the folder away below a running engine.
func TestVanishedFolder(t *testing.T) {
	disk := newSmall(40 << 20)
	e := start(t, Options{FS: disk, Reserve: DefaultReserve})
	defer stop(t, e)
	e.space.marker = "elsewhere"
	e.tick()
	if err := try(e, 1, false); fault.KindOf(err) != fault.Unavailable ||
		!strings.Contains(fault.Message(err), "vanished") {
		t.Errorf("a write: %v", err)
	}
	if err := try(e, 1, true); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a delete: %v", err)
	}
	e.space.marker = "mayfly"
	e.tick()
	if err := try(e, 1, false); err != nil {
		t.Errorf("a write when it is back: %v", err)
	}
}

func logTo(l *lines) *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// lines is a log that several goroutines write.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
