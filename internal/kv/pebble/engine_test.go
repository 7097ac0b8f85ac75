package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

func start(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := Open(o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return e
}

func stop(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func set(t testing.TB, e *Engine, key, value string) {
	t.Helper()
	var b kv.Batch
	b.Set([]byte(key), []byte(value))
	if err := e.Apply(context.Background(), &b); err != nil {
		t.Fatalf("set %q: %v", key, err)
	}
}

func want(t testing.TB, e *Engine, key, value string) {
	t.Helper()
	var got string
	found, err := e.Get(context.Background(), []byte(key), func(v []byte) error { got = string(v); return nil })
	if err != nil || !found || got != value {
		t.Errorf("get %q = %q, %v, %v, want %q", key, got, found, err, value)
	}
}

func TestContract(t *testing.T) {
	for _, c := range []struct {
		name    string
		options func(t *testing.T) Options
	}{
		{"memory", func(*testing.T) Options { return Options{} }},
		{"disk", func(t *testing.T) Options { return Options{Dir: t.TempDir()} }},
		{"no sync, small memtables, values apart", func(*testing.T) Options {
			return Options{FS: vfs.NewMem(), NoSync: true, SeparateValues: 200, MemTableBytes: 64 << 10}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			kvtest.Run(t, func(t *testing.T) kv.Engine { return start(t, c.options(t)) })
			kvtest.Embedded(t, func(t *testing.T) kv.Engine { return start(t, c.options(t)) })
		})
	}
}

func TestCrash(t *testing.T) {
	for _, c := range []struct {
		name    string
		options Options
		direct  bool
	}{
		{"ordinary", Options{}, false},
		{"small memtables, values apart", Options{MemTableBytes: 64 << 10, SeparateValues: 500}, false},
		{"small memtables, direct logs", Options{MemTableBytes: 64 << 10}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			kvtest.Crash(t, func(t *testing.T, fs vfs.FS) kv.Engine {
				o := c.options
				if o.FS = fs; c.direct {
					o.FS = directMem{fs}
				}
				return start(t, o)
			})
		})
	}
}

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	for i := range 3 {
		e := start(t, Options{Dir: dir})
		for j := range i {
			want(t, e, fmt.Sprint("k", j), strings.Repeat("v", j))
		}
		set(t, e, fmt.Sprint("k", i), strings.Repeat("v", i))
		stop(t, e)
	}
}

// TestMain lets TestLock run this program a second time as the other process.
func TestMain(m *testing.M) {
	if dir := os.Getenv("MAYFLY_TEST_OPEN"); dir != "" {
		_, err := Open(Options{Dir: dir})
		fmt.Println(fault.KindOf(err), fault.Message(err))
		return
	}
	os.Exit(m.Run())
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	e := start(t, Options{Dir: dir})
	check := func(name, got string) {
		t.Helper()
		if !strings.HasPrefix(got, "unavailable ") || !strings.Contains(got, dir) ||
			!strings.Contains(got, "stop the other") {
			t.Errorf("%s: %s", name, got)
		}
	}
	_, err := Open(Options{Dir: dir})
	check("same process", fmt.Sprintln(fault.KindOf(err), fault.Message(err)))
	t.Chdir(filepath.Dir(dir))
	_, err = Open(Options{Dir: filepath.Base(dir)})
	check("same process, other spelling", fmt.Sprintln(fault.KindOf(err), fault.Message(err)))

	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "MAYFLY_TEST_OPEN="+dir)
	out, err := other.CombinedOutput()
	if err != nil {
		t.Fatalf("other process: %v\n%s", err, out)
	}
	check("other process", string(out))
	set(t, e, "a", "1")
	stop(t, e)
	e = start(t, Options{Dir: dir})
	want(t, e, "a", "1")
	stop(t, e)
}

func TestOpenFailures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(Options{Dir: file})
	if err == nil || !strings.Contains(fault.Message(err), file) {
		t.Errorf("a file as data folder: %v", err)
	}
	toggle := &errorfs.Toggle{Injector: errorfs.ErrInjected}
	toggle.On()
	if _, err := Open(Options{FS: errorfs.Wrap(vfs.NewMem(), toggle)}); fault.KindOf(err) != fault.Internal ||
		fault.Message(err) == "" {
		t.Errorf("a dead disk: %v", err)
	}
}

// failingLog is a file system whose log files fail once the toggle is on.
func failingLog(fs vfs.FS) (vfs.FS, *errorfs.Toggle) {
	toggle := &errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".log") && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return errorfs.ErrInjected
		}
		return nil
	})}
	return errorfs.Wrap(fs, toggle), toggle
}

// refusesReads checks that an engine whose log has failed shows nothing any more: it could be lost.
func refusesReads(t *testing.T, e *Engine) {
	t.Helper()
	use := func([]byte) error { return nil }
	if _, err := e.Get(context.Background(), []byte("a"), use); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a read after the failure: %v", err)
	}
	if _, err := e.Iterate(context.Background(), nil, nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a walk after the failure: %v", err)
	}
	if _, err := e.Snapshot(context.Background()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a snapshot after the failure: %v", err)
	}
	if _, err := e.View(context.Background()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a view after the failure: %v", err)
	}
	if err := e.Refuses(); fault.KindOf(err) != fault.Unavailable || !strings.Contains(fault.Message(err), "Restart") {
		t.Errorf("the engine says %v", err)
	}
	select {
	case <-e.Failed():
	default:
		t.Error("nobody is told of the failure")
	}
}

func TestFailingDisk(t *testing.T) {
	mem := vfs.NewCrashableMem()
	fs, broken := failingLog(mem)
	e := start(t, Options{FS: fs})
	set(t, e, "a", "1")
	broken.On()
	put := func(key string, noSync bool) error {
		b := kv.Batch{NoSync: noSync}
		b.Set([]byte(key), []byte("2"))
		return e.Apply(context.Background(), &b)
	}
	if err := put("b", false); fault.KindOf(err) != fault.Undetermined || !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("a batch that cannot be made durable: %v", err)
	}
	broken.Off()
	for _, noSync := range []bool{false, true} {
		if err := put("c", noSync); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a batch after the failure: %v", err)
		}
	}
	refusesReads(t, e)
	if err := e.Close(); err == nil {
		t.Error("close hides the failure")
	}
	e = start(t, Options{FS: mem.CrashClone(vfs.CrashCloneCfg{})})
	want(t, e, "a", "1")
	stop(t, e)
}

// TestSync makes batches durable that nobody waited for, and fails when the disk does.
func TestSync(t *testing.T) {
	mem := vfs.NewCrashableMem()
	fs, broken := failingLog(mem)
	e := start(t, Options{FS: fs})
	put := func(key string) {
		t.Helper()
		b := kv.Batch{NoSync: true}
		b.Set([]byte(key), []byte("1"))
		if err := e.Apply(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	put("b")
	if err := e.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	synced := mem.CrashClone(vfs.CrashCloneCfg{})
	put("c")
	broken.On()
	if err := e.Sync(t.Context()); fault.KindOf(err) != fault.Undetermined || !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("a sync that fails: %v", err)
	}
	if err := e.Sync(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a sync after the failure: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Sync(ended); err != context.Canceled {
		t.Errorf("a sync that nobody waits for: %v", err)
	}
	broken.Off()
	if err := e.Close(); err == nil {
		t.Error("close hides the failure")
	}
	if err := e.Sync(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a sync after close: %v", err)
	}
	e = start(t, Options{FS: synced})
	want(t, e, "a", "1")
	want(t, e, "b", "1")
	stop(t, e)
}

// TestUnsynced looks at what is durable while the disk is slow: whoever asks for what is visible waits for the sync of
// others, and a batch that was refused has synced nothing.
func TestUnsynced(t *testing.T) {
	var slow atomic.Pointer[chan struct{}]
	slowFS := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		end := slow.Load()
		if end != nil && strings.HasSuffix(op.Path, ".log") && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			<-*end
		}
		return nil
	}))
	e := start(t, Options{FS: slowFS})
	unsynced := func(when string, want int) {
		t.Helper()
		if n := e.Unsynced(); n != want {
			t.Errorf("%s: %d batches are not durable, want %d", when, n, want)
		}
	}
	apply := func(key string, noSync bool) error {
		b := kv.Batch{NoSync: noSync}
		b.Set([]byte(key), []byte("1"))
		return e.Apply(t.Context(), &b)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	unsynced("empty", 0)
	must(apply("a", true))
	must(apply("b", true))
	unsynced("two batches", 2)
	must(apply("c", false))
	unsynced("a durable one behind them", 0)
	must(apply("d", true))
	conflict := kv.Batch{}
	conflict.Read([]byte("d")) // has changed since the beginning
	conflict.Set([]byte("e"), nil)
	if err := e.Apply(t.Context(), &conflict); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a conflict: %v", err)
	}
	unsynced("a batch that was refused", 1)

	end := make(chan struct{})
	slow.Store(&end)
	ended := make(chan error, 3)
	go func() { ended <- apply("f", false) }()
	for began := clock.Start(); e.Unsynced() < 2 && began.Elapsed() < 10*time.Second; {
		runtime.Gosched()
	}
	unsynced("a batch on its way", 2)
	impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := e.Sync(impatient); err != context.DeadlineExceeded {
		t.Errorf("a sync that takes too long: %v", err)
	}
	for range 2 {
		go func() { ended <- e.Sync(t.Context()) }()
	}
	if err := clock.Pause(t.Context(), 10*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if len(ended) > 0 {
		t.Error("what a sync on its way has yet to make durable passes for durable")
	}
	slow.Store(nil)
	close(end)
	for range 3 {
		must(<-ended)
	}
	unsynced("all synced", 0)

	later := kv.Batch{SyncLater: true}
	later.Set([]byte("g"), nil)
	must(e.Apply(t.Context(), &later))
	for began := clock.Start(); e.Unsynced() > 0 && began.Elapsed() < 10*time.Second; {
		must(clock.Pause(t.Context(), time.Millisecond))
	}
	unsynced("a while after a batch that is to be synced later", 0)
	stop(t, e)
}

// TestFailingDiskNoSync writes batches that nobody waits for until the engine
// notices that its log has failed, which it does within two blocks of 32 KiB.
func TestFailingDiskNoSync(t *testing.T) {
	mem := vfs.NewCrashableMem()
	fs, broken := failingLog(mem)
	e := start(t, Options{FS: fs})
	set(t, e, "a", "1")
	broken.On()
	for range 2 { // behind the engine's back, so that the log has failed for sure
		w := e.db.NewBatch()
		if err := errors.Join(w.Set([]byte("x"), nil, nil), e.db.ApplyNoSyncWait(w, pebble.Sync)); err != nil {
			t.Fatal(err)
		}
		if err := w.SyncWait(); err == nil {
			t.Fatal("the log does not fail")
		}
	}
	var err error
	for i := 0; err == nil && i < 100; i++ {
		b := kv.Batch{NoSync: true}
		b.Set([]byte("b"), make([]byte, 1000))
		err = e.Apply(context.Background(), &b)
	}
	if fault.KindOf(err) != fault.Unavailable || fault.Message(err) == "" {
		t.Errorf("batches on a broken log: %v", err)
	}
	b := kv.Batch{}
	b.Set([]byte("c"), nil)
	if err := e.Apply(context.Background(), &b); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a durable batch after the failure: %v", err)
	}
	refusesReads(t, e)
	if err := e.Close(); err == nil {
		t.Error("close hides the failure")
	}
	e = start(t, Options{FS: mem.CrashClone(vfs.CrashCloneCfg{})})
	want(t, e, "a", "1")
	stop(t, e)
}

func TestDamagedTable(t *testing.T) {
	dir := t.TempDir()
	e := start(t, Options{Dir: dir})
	for i := range 100 {
		set(t, e, fmt.Sprintf("k%02d", i), strings.Repeat(fmt.Sprint(i), 500))
	}
	if err := e.Compact(context.Background(), nil, nil); err != nil {
		t.Fatal(err)
	}
	stop(t, e)
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, table := range tables {
		damage(t, table)
	}
	e = start(t, Options{Dir: dir})
	defer stop(t, e)
	_, err = e.Get(context.Background(), []byte("k00"), func([]byte) error { return nil })
	if fault.KindOf(err) != fault.Corrupt {
		t.Errorf("get from a damaged table: %v", err)
	}
	it, err := e.Iterate(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for it.Next() {
	}
	if err := it.Err(); fault.KindOf(err) != fault.Corrupt {
		t.Errorf("walk over a damaged table: %v", err)
	}
	if err := it.Close(); fault.KindOf(err) != fault.Corrupt {
		t.Errorf("close after a walk over a damaged table: %v", err)
	}
}

// damage turns the bits of the first data block of a table.
func damage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 64 {
		data[i] ^= 0xff
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A folder has one owner, whether an engine or Lock.
func TestLockWithoutEngine(t *testing.T) {
	dir := t.TempDir()
	lock, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a second lock: %v", err)
	}
	if _, err := Open(Options{Dir: dir}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("an engine: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if lock, err = Lock(dir); err != nil {
		t.Fatal(err)
	}
	lock.Close()
}
