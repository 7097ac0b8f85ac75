package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/fault"
)

// DefaultReserve is how much room on the disk ordinary writes leave alone if nobody says.
const DefaultReserve = 64 << 20

// lookEvery is how often the file system is asked how much room it has, besides after as many
// bytes as might make a difference.
const lookEvery = time.Second

// reserveShare is the part of a file system that a reserve takes at most: one eighth.
const reserveShare = 8

// ballastFrom is how many times the reserve has to be free for the ballast not to be needed yet.
const ballastFrom = 64

// ballastName is the ballast's file in the engine's folder. Pebble leaves names alone that it does not know.
const ballastName = "BALLAST"

// A room watches how much room the file system has. Half of the reserve is free space below which
// ordinary writes stop, the floor. The other half is a file, the ballast, which is given back when
// there is no room at all.
type room struct {
	fs     vfs.FS // without what gives the ballast back
	dir    string
	marker string // a file that is there as long as the folder is
	log    *slog.Logger
	want   uint64 // the reserve as asked for

	since atomic.Int64 // bytes written since the last look
	step  atomic.Int64 // how many of them make another look worth while
	free  atomic.Int64 // bytes at the last look
	spare atomic.Int64 // bytes that tables leave to the log and the table of contents
	why   atomic.Pointer[refusal]

	mu      sync.Mutex // held while looking
	device  vfs.DeviceID
	known   bool   // device is
	ballast bool   // the file is there
	eased   func() // hears each look that finds room
}

// A refusal is why ordinary writes are refused. The engine tells the client err.
type refusal struct{ err error }

func newRoom(fs vfs.FS, dir, marker string, want uint64, eased func(), log *slog.Logger) *room {
	r := &room{fs: fs, dir: dir, marker: marker, want: want, log: log, eased: eased}
	r.free.Store(math.MaxInt64)
	r.step.Store(math.MaxInt64)
	_ = fs.Remove(fs.PathJoin(dir, ballastName)) // opening may need its room, and the reserve may be another one now
	return r
}

// refuses tells why nothing may be written that takes room, nil if it may.
func (r *room) refuses() error {
	if why := r.why.Load(); why != nil {
		return why.err
	}
	return nil
}

// spend notes that n bytes are written, and looks again when they are many.
func (r *room) spend(n int) {
	if r.since.Add(int64(n)) >= r.step.Load() {
		r.look()
	}
}

// left is about how many bytes are free.
func (r *room) left() int64 { return r.free.Load() - r.since.Load() }

// fits tells whether n bytes more are far from using the floor up. Small batches need not ask.
func (r *room) fits(n int) error {
	if int64(n) < r.step.Load()/4 || r.refuses() != nil {
		return r.refuses()
	}
	r.look()
	if floor, _ := r.shares(0); int64(floor)+2*int64(n) > r.left() { // once in the log, once in a table
		return errLarge(n, r.left())
	}
	return r.refuses()
}

// look asks the file system, and decides.
func (r *room) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since.Store(0)
	if err := r.there(); err != nil {
		r.decide(err, "data folder", r.dir, "error", plain(err))
		return
	}
	use, err := r.fs.GetDiskUsage(r.dir)
	if err != nil { // then nobody knows, and the log's own failure has to tell
		r.free.Store(math.MaxInt64)
		r.decide(nil)
		return
	}
	floor, ballast := r.shares(use.TotalBytes)
	r.free.Store(clamp(use.AvailBytes))
	r.step.Store(max(clamp(floor/8), 64<<10))
	r.spare.Store(clamp(floor / 4))
	if floor == 0 {
		r.step.Store(math.MaxInt64)
		r.decide(nil)
		return
	}
	left, least := use.AvailBytes, floor
	if !r.ballast {
		left -= min(left, ballast)
	}
	if r.why.Load() != nil {
		least += floor / 4 // so that writes do not stop and go on from one moment to the next
	}
	if left < least {
		r.decide(errFull(left, floor), "free", size(use.AvailBytes), "data folder", r.dir)
		return
	}
	if !r.ballast && left < ballastFrom*(floor+ballast) {
		if err := r.takeBallast(clamp(ballast)); err != nil {
			r.decide(errFull(left, floor), "data folder", r.dir, "error", plain(err))
			return
		}
	}
	r.decide(nil)
}

// shares are the floor and the ballast on a file system of so many bytes; of the last one seen when 0.
func (r *room) shares(total uint64) (floor, ballast uint64) {
	if total == 0 {
		return uint64(r.spare.Load()) * 4, 0
	}
	reserve := min(r.want, total/reserveShare)
	return reserve / 2, reserve - reserve/2
}

// there fails when the folder is no longer where it was when the engine opened.
func (r *room) there() error {
	info, err := r.fs.Stat(r.marker)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(fault.Unavailable, err, "The data folder has vanished, so nothing is stored. Mount its disk again, or restart mayfly.")
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "The data folder cannot be reached, so nothing is stored. Look after its disk, or restart mayfly.")
	case !r.known:
		r.device, r.known = info.DeviceID(), true
	case info.DeviceID() != r.device:
		return fault.New(fault.Unavailable, "Another disk is mounted over the data folder, so nothing is stored. Mount the right one again, or restart mayfly.")
	}
	return nil
}

// decide refuses ordinary writes because of err, or lets them pass, and logs when that changes.
func (r *room) decide(err error, about ...any) {
	was := r.why.Load()
	if err == nil {
		r.why.Store(nil)
		if was != nil {
			r.log.Info("writes are accepted again", "free", size(uint64(r.free.Load())))
		}
		r.eased()
		return
	}
	r.why.Store(&refusal{err})
	if was == nil || fault.KindOf(was.err) != fault.KindOf(err) {
		r.log.Error("storage refuses writes: "+fault.Message(err), about...)
	}
}

// takeBallast makes the file. The system gives it real blocks, where it can without writing.
func (r *room) takeBallast(size int64) (err error) {
	path := r.fs.PathJoin(r.dir, ballastName)
	defer func() {
		if err != nil {
			_ = r.fs.Remove(path)
		}
	}()
	f, err := r.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	chunk := make([]byte, 256<<10)
	if runtime.GOOS == "linux" { // elsewhere this does nothing
		if err := f.Preallocate(0, size); err == nil {
			size = 0
		}
	}
	for size > 0 {
		n, err := f.Write(chunk[:min(size, int64(len(chunk)))])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	err = f.Sync()
	r.ballast = err == nil
	return err
}

// giveBallast removes the file if there is one. It is called when a write has found no room.
func (r *room) giveBallast() {
	r.mu.Lock()
	given := r.ballast
	if given {
		r.ballast = false
		if err := r.fs.Remove(r.fs.PathJoin(r.dir, ballastName)); err != nil {
			r.log.Error("the ballast was not removed", "error", plain(err))
		}
	}
	r.mu.Unlock()
	if given {
		r.log.Warn("the disk is full: the ballast is given back", "data folder", r.dir)
		r.look()
	}
}

// roomForTable fails when a table that grows by n bytes would take what the log needs.
func (r *room) roomForTable(n int) error {
	if r.left()-int64(n) >= r.spare.Load() {
		return nil
	}
	if r.look(); r.left()-int64(n) >= r.spare.Load() {
		return nil
	}
	if r.giveBallast(); r.left()-int64(n) >= r.spare.Load() {
		return nil
	}
	return errNoRoom
}

// errNoRoom is what a table gets when the rest is for the log, as from a full disk.
var errNoRoom = errors.New("no room for tables: the rest of the disk is for the log")

// noRoom reports whether a write has failed because the disk is full.
func noRoom(err error) bool { return vfs.IsNoSpaceError(err) || errors.Is(err, errNoRoom) }

func errFull(free, floor uint64) error {
	return fault.New(fault.OutOfSpace, "The disk is nearly full, so nothing new is stored: %s are free, at least %s are kept for deletes. "+
		"Delete documents or make room on the disk; writes then go on by themselves.", size(free), size(floor))
}

func errLarge(n int, free int64) error {
	return fault.New(fault.OutOfSpace, "The disk has no room for a write of %s: %s are free. "+
		"Delete documents or make room on the disk.", size(uint64(n)), size(uint64(max(free, 0))))
}

// size says how many bytes in words.
func size(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
