package pebble

import "github.com/cockroachdb/pebble/v2/vfs"

// zeros are written ahead of the end of a log. A sync of bytes that replace others costs a third of one of bytes that
// make a file longer, because the file system has nothing to note then.
var zeros = pages(256 << 10)

// A logFile is a log that is being written.
type logFile struct {
	vfs.File
	disk   *disk
	end    int64 // of what was written
	filled int64 // up to where the file has bytes: the end, zeros, or what is left of the log that the file was before
}

func newLogFile(f vfs.File, d *disk) *logFile {
	l := &logFile{File: f, disk: d}
	if info, err := f.Stat(); err == nil {
		l.filled = info.Size()
	}
	return l
}

func (f *logFile) Write(p []byte) (int, error) {
	if f.disk.gone.Load() {
		return 0, errGone
	}
	n, err := f.File.Write(p)
	f.disk.space.spend(n)
	f.end += int64(n)
	if err == nil && f.end > f.filled {
		f.fill()
	}
	return n, f.note(err)
}

// fill writes zeros behind the end, if there is plenty of space. Readers take zeros for the end of the log. A failure
// matters only when the log gets there.
func (f *logFile) fill() {
	f.filled = f.end
	if f.disk.space.fits(len(zeros)) != nil {
		return
	}
	n, _ := f.File.WriteAt(zeros, f.end)
	f.disk.space.spend(n)
	f.filled += int64(n)
}

func (f *logFile) Sync() error     { return f.sync(f.File.Sync) }
func (f *logFile) SyncData() error { return f.sync(f.File.SyncData) }
func (f *logFile) Close() error    { return f.note(f.File.Close()) }

func (f *logFile) sync(how func() error) error {
	if f.disk.gone.Load() { // a directLog would write
		return errGone
	}
	return f.note(how())
}

func (f *logFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.note(err)
}

// Preallocate reserves space for later writes, if there is plenty.
func (f *logFile) Preallocate(offset, length int64) error {
	if f.disk.space.fits(int(length)) != nil {
		return nil
	}
	f.disk.space.spend(int(length))
	return f.File.Preallocate(offset, length)
}

func (f *logFile) note(err error) error {
	if err != nil {
		f.disk.failed(err)
	}
	return err
}
