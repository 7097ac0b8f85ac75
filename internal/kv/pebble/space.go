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

// DefaultReserve is the usual value of Options.Reserve.
const DefaultReserve = 64 << 20

// lookEvery is how often the file system is asked for its free space. It is also asked after every step bytes.
const lookEvery = time.Second

// reserveShare is the largest part of a file system that the reserve may take: one eighth.
const reserveShare = 8

// ballastFrom: as long as this many times the reserve is free, there is no need for the ballast.
const ballastFrom = 64

// ballastName is the file of the ballast in the engine's folder. Pebble ignores names that it does not know.
const ballastName = "BALLAST"

// A space watches the free space of the file system. The reserve has two halves. One half is the floor: if less is
// free, ordinary writes are rejected. The other half is a file, the ballast, which is removed when no space is left
// at all, so that the log can still be written.
type space struct {
	fs     vfs.FS // the one that does not remove the ballast
	dir    string
	marker string // a file that exists as long as the folder does
	log    *slog.Logger
	want   uint64 // Options.Reserve

	since atomic.Int64 // bytes written since the last look
	step  atomic.Int64 // the value of since that causes another look
	free  atomic.Int64 // bytes at the last look
	spare atomic.Int64 // bytes that tables leave to the log and the table of contents
	why   atomic.Pointer[refusal]

	device atomic.Pointer[vfs.DeviceID] // of the folder; nil until the first look, or the first table that is written

	mu      sync.Mutex // held during a look
	ballast bool       // the file exists
	eased   func()     // called by each look that finds enough space
}

// A refusal is the reason why ordinary writes are rejected. err is for the client.
type refusal struct{ err error }

func newSpace(fs vfs.FS, dir, marker string, want uint64, eased func(), log *slog.Logger) *space {
	s := &space{fs: fs, dir: dir, marker: marker, want: want, log: log, eased: eased}
	s.free.Store(math.MaxInt64)
	s.step.Store(math.MaxInt64)
	_ = fs.Remove(fs.PathJoin(dir, ballastName)) // opening may need its space, and the reserve may have changed
	return s
}

// refuses returns the reason why writes that need space are rejected, nil if they are accepted.
func (s *space) refuses() error {
	if why := s.why.Load(); why != nil {
		return why.err
	}
	return nil
}

// spend notes that n bytes are written, and looks again after every step bytes.
func (s *space) spend(n int) {
	if s.since.Add(int64(n)) >= s.step.Load() {
		s.look()
	}
}

// left is about how many bytes are free now.
func (s *space) left() int64 { return s.free.Load() - s.since.Load() }

// fits fails if a write of n bytes would take free space below the floor. It does not check small batches.
func (s *space) fits(n int) error {
	if int64(n) < s.step.Load()/4 || s.refuses() != nil {
		return s.refuses()
	}
	s.look()
	if floor, _ := s.shares(0); int64(floor)+2*int64(n) > s.left() { // once in the log, once in a table
		return errLarge(n, s.left())
	}
	return s.refuses()
}

// look asks the file system for its free space, and decides whether ordinary writes are accepted.
func (s *space) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since.Store(0)
	if err := s.there(); err != nil {
		s.decide(err, "data folder", s.dir, "error", plain(err))
		return
	}
	use, err := s.fs.GetDiskUsage(s.dir)
	if err != nil { // unknown: accept writes until one fails
		s.free.Store(math.MaxInt64)
		s.decide(nil)
		return
	}
	floor, ballast := s.shares(use.TotalBytes)
	s.free.Store(clamp(use.AvailBytes))
	s.step.Store(max(clamp(floor/8), 64<<10))
	s.spare.Store(clamp(floor / 4))
	if floor == 0 {
		s.step.Store(math.MaxInt64)
		s.decide(nil)
		return
	}
	left, least := use.AvailBytes, floor
	if !s.ballast {
		left -= min(left, ballast)
	}
	if s.why.Load() != nil {
		least += floor / 4 // hysteresis, so that writes do not alternate between rejected and accepted
	}
	if left < least {
		s.decide(errFull(left, floor), "free", size(use.AvailBytes), "data folder", s.dir)
		return
	}
	if !s.ballast && left < ballastFrom*(floor+ballast) {
		if err := s.takeBallast(clamp(ballast)); err != nil {
			s.decide(errFull(left, floor), "data folder", s.dir, "error", plain(err))
			return
		}
	}
	s.decide(nil)
}

// shares returns the sizes of floor and ballast on a file system of total bytes; 0 means the total of the last look.
func (s *space) shares(total uint64) (floor, ballast uint64) {
	if total == 0 {
		return uint64(s.spare.Load()) * 4, 0
	}
	reserve := min(s.want, total/reserveShare)
	return reserve / 2, reserve - reserve/2
}

// there fails if the folder is not the one that the engine opened.
func (s *space) there() error {
	info, err := s.fs.Stat(s.marker)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(fault.Unavailable, err,
			"The data folder has vanished, so nothing is stored. Mount its disk again, or restart mayfly.")
	case err != nil:
		return fault.Wrap(fault.Unavailable, err,
			"The data folder cannot be accessed, so nothing is stored. Check its disk, or restart mayfly.")
	}
	device := info.DeviceID()
	if !s.device.CompareAndSwap(nil, &device) && *s.device.Load() != device {
		return fault.New(fault.Unavailable, "Another disk is mounted over the data folder, so nothing is stored. "+
			"Mount the right one again, or restart mayfly.")
	}
	return nil
}

// decide rejects ordinary writes with err, or accepts them if it is nil, and logs changes.
func (s *space) decide(err error, about ...any) {
	was := s.why.Load()
	if err == nil {
		s.why.Store(nil)
		if was != nil {
			s.log.Info("writes are accepted again", "free", size(uint64(s.free.Load())))
		}
		s.eased()
		return
	}
	s.why.Store(&refusal{err})
	if was == nil || fault.KindOf(was.err) != fault.KindOf(err) {
		s.log.Error("storage refuses writes: "+fault.Message(err), about...)
	}
}

// takeBallast creates the file of the ballast, with blocks that are really allocated. On Linux that needs no writing.
func (s *space) takeBallast(size int64) (err error) {
	path := s.fs.PathJoin(s.dir, ballastName)
	defer func() {
		if err != nil {
			_ = s.fs.Remove(path)
		}
	}()
	f, err := s.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	chunk := make([]byte, 256<<10)
	if runtime.GOOS == "linux" { // on other systems Preallocate does nothing
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
	s.ballast = err == nil
	return err
}

// giveBallast removes the file if it exists. It is called when a write has found no space.
func (s *space) giveBallast() {
	s.mu.Lock()
	given := s.ballast
	if given {
		s.ballast = false
		if err := s.fs.Remove(s.fs.PathJoin(s.dir, ballastName)); err != nil {
			s.log.Error("the ballast could not be removed", "error", plain(err))
		}
	}
	s.mu.Unlock()
	if given {
		s.log.Warn("the disk is full: the ballast was removed", "data folder", s.dir)
		s.look()
	}
}

// spaceForTable fails if a table that grows by n bytes would take the space that the log needs.
func (s *space) spaceForTable(n int) error {
	if s.left()-int64(n) >= s.spare.Load() {
		return nil
	}
	if s.look(); s.left()-int64(n) >= s.spare.Load() {
		return nil
	}
	if s.giveBallast(); s.left()-int64(n) >= s.spare.Load() {
		return nil
	}
	return errNoSpace
}

// errNoSpace is the error of a write to a table, as on a full disk, when the remaining space is for the log.
var errNoSpace = errors.New("no space for tables: the rest of the disk is reserved for the log")

// noSpace reports whether a write has failed because the disk is full.
func noSpace(err error) bool { return vfs.IsNoSpaceError(err) || errors.Is(err, errNoSpace) }

func errFull(free, floor uint64) error {
	return fault.New(fault.OutOfSpace, "The disk is nearly full, so nothing new is stored: %s are free, and at least "+
		"%s are reserved for deletes. Delete documents or free space on the disk; writes then work again.",
		size(free), size(floor))
}

func errLarge(n int, free int64) error {
	return fault.New(fault.OutOfSpace, "The disk has no space for a write of %s: %s are free. "+
		"Delete documents or free space on the disk.", size(uint64(n)), size(uint64(max(free, 0))))
}

// size is a number of bytes in a readable unit.
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
