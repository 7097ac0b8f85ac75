//go:build amd64 || arm64

package pebble

import (
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// A syncer makes data of files durable as fdatasync does, and lets its goroutine wait as for a network, not in a system
// call. In a system call of a fraction of a millisecond, the goroutine keeps a processor of Go's scheduler until the
// scheduler's monitor takes it away, and with hundreds of such calls a second the monitor never rests: a tenth of all
// processor time of a server that writes. The interface is Linux's AIO, see io_submit(2): IOCB_CMD_FDSYNC runs the same
// vfs_fsync_range as fdatasync, in a thread of the kernel (fs/aio.c, since Linux 4.18).
type syncer struct {
	mu      sync.Mutex // held during a sync
	context uintptr
	done    *os.File // an eventfd that is readable when a sync has ended
	event   uint32   // its descriptor
}

// newSyncer returns nil if the system does not allow AIO.
func newSyncer() *syncer {
	s := &syncer{}
	if _, _, no := syscall.Syscall(syscall.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&s.context)), 0); no != 0 {
		return nil
	}
	event, _, no := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if no != 0 {
		_, _, _ = syscall.Syscall(syscall.SYS_IO_DESTROY, s.context, 0, 0)
		return nil
	}
	s.done, s.event = os.NewFile(event, "eventfd"), uint32(event)
	if s.done.SetReadDeadline(time.Time{}) != nil { // reads would not wait
		s.close()
		return nil
	}
	return s
}

// An aioRequest is struct iocb of linux/aio_abi.h on little-endian systems.
type aioRequest struct {
	_               [16]byte // data, key, flags of reading and writing
	operation       uint16
	_               int16 // priority
	file            uint32
	_               [32]byte // buffer, its length, offset, reserved
	flags, eventual uint32
}

// An aioEvent is struct io_event.
type aioEvent struct {
	_      [16]byte // data, request
	result int64
	_      int64 // a second result
}

const (
	aioSyncData  = 3 // IOCB_CMD_FDSYNC
	aioTellEvent = 1 // IOCB_FLAG_RESFD
)

// syncData waits until all data of a file is durable. done is false if the system has not accepted the request.
func (s *syncer) syncData(file uintptr) (done bool, err error) {
	if s == nil {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	request := &aioRequest{operation: aioSyncData, file: uint32(file), flags: aioTellEvent, eventual: s.event}
	n, _, no := syscall.Syscall(syscall.SYS_IO_SUBMIT, s.context, 1, uintptr(unsafe.Pointer(&request)))
	if no != 0 || n != 1 {
		return false, nil
	}
	var count [8]byte
	if _, err := s.done.Read(count[:]); err != nil {
		return true, err
	}
	var event aioEvent
	for {
		_, _, no = syscall.Syscall6(syscall.SYS_IO_GETEVENTS, s.context, 1, 1, uintptr(unsafe.Pointer(&event)), 0, 0)
		switch {
		case no == syscall.EINTR:
			continue
		case no != 0:
			return true, no
		case event.result < 0:
			return true, syscall.Errno(-event.result)
		}
		return true, nil
	}
}

// close ends the syncer, which must not be in use.
func (s *syncer) close() {
	if s != nil {
		_, _, _ = syscall.Syscall(syscall.SYS_IO_DESTROY, s.context, 0, 0)
		_ = s.done.Close()
	}
}
