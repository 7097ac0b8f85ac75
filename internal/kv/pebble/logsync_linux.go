//go:build amd64 || arm64

package pebble

import (
	"os"
	"runtime"
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
	file    *os.File // an eventfd that tells when a sync has ended; its counter is not read
	event   uint32   // its descriptor
	ended   syscall.RawConn
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
	s.file, s.event = os.NewFile(event, "eventfd"), uint32(event)
	s.ended, _ = s.file.SyscallConn()
	if s.file.SetReadDeadline(time.Time{}) != nil { // reads would not wait
		s.close()
		return nil
	}
	return s
}

// An aioRequest is struct iocb of linux/aio_abi.h on little-endian systems.
type aioRequest struct {
	_               [12]byte // data, key
	writing         uint32   // flags of pwritev2
	operation       uint16
	_               int16 // priority
	file            uint32
	bytes           *byte
	length          uint64
	offset          int64
	_               uint64
	flags, eventual uint32
}

// An aioEvent is struct io_event.
type aioEvent struct {
	_      [16]byte // data, request
	result int64
	_      int64 // a second result
}

const (
	aioWrite     = 1 // IOCB_CMD_PWRITE
	aioSyncData  = 3 // IOCB_CMD_FDSYNC
	aioTellEvent = 1 // IOCB_FLAG_RESFD

	writeDurably = 2 // RWF_DSYNC, see pwritev2(2)
)

// syncData waits until all data of a file is durable. done is false if the system has not accepted the request.
func (s *syncer) syncData(file uintptr) (done bool, err error) {
	done, _, err = s.request(&aioRequest{operation: aioSyncData, file: uint32(file)})
	return done, err
}

// write writes p to a file that bypasses the cache, and waits until it is durable. Otherwise done is false: the system
// has not accepted the request, or has written only a part.
func (s *syncer) write(file uintptr, p []byte, at int64) (done bool, err error) {
	done, n, err := s.request(&aioRequest{
		operation: aioWrite, file: uint32(file), writing: writeDurably,
		bytes: unsafe.SliceData(p), length: uint64(len(p)), offset: at,
	})
	if err == syscall.EINVAL || err == syscall.EOPNOTSUPP {
		return false, nil
	}
	return done && n == int64(len(p)), err
}

// request waits for the end of a request. done is false if the system has not accepted it.
func (s *syncer) request(r *aioRequest) (done bool, result int64, err error) {
	if s == nil {
		return false, 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer runtime.KeepAlive(r)
	r.flags, r.eventual = aioTellEvent, s.event
	var event aioEvent
	var no syscall.Errno
	// The request is made within Read, which learns of each event that comes after it began.
	err = s.ended.Read(func(uintptr) bool {
		var n uintptr
		if !done {
			n, _, no = syscall.Syscall(syscall.SYS_IO_SUBMIT, s.context, 1, uintptr(unsafe.Pointer(&r)))
			done = no == 0 && n == 1
			return !done
		}
		// This does not wait, so the scheduler need not know, see package socket.
		n, _, no = syscall.RawSyscall6(syscall.SYS_IO_GETEVENTS, s.context, 0, 1, uintptr(unsafe.Pointer(&event)), 0, 0)
		return n == 1 || no != 0 && no != syscall.EINTR
	})
	switch {
	case !done:
		return false, 0, nil
	case err != nil:
		return true, 0, err
	case no != 0:
		return true, 0, no
	case event.result < 0:
		return true, 0, syscall.Errno(-event.result)
	}
	return true, event.result, nil
}

// writesDurably reports whether the file system of a file keeps what write promises. The end of such a request has to
// come after a sync. The file systems that leave requests to iomap do that (iomap_dio_complete in fs/iomap/direct-io.c;
// ext4 and XFS, which before iomap used fs/direct-io.c, with the same promise since Linux 3.12). FUSE, and so virtiofs
// of a virtual machine's host, does not: fuse_direct_write_iter in fs/fuse/file.c has no sync.
func writesDurably(file uintptr) bool {
	const ext4, xfs = 0xEF53, 0x58465342 // see statfs(2)
	var fs syscall.Statfs_t
	return syscall.Fstatfs(int(file), &fs) == nil && (fs.Type == ext4 || fs.Type == xfs)
}

// bypass says whether what is written to a file bypasses the cache of the system, see O_DIRECT in open(2).
func (s *syncer) bypass(file uintptr, on bool) error {
	if s == nil {
		return syscall.ENOSYS
	}
	flags, _, no := syscall.Syscall(syscall.SYS_FCNTL, file, syscall.F_GETFL, 0)
	if no != 0 {
		return no
	}
	flags &^= syscall.O_DIRECT
	if on {
		flags |= syscall.O_DIRECT
	}
	if _, _, no = syscall.Syscall(syscall.SYS_FCNTL, file, syscall.F_SETFL, flags); no != 0 {
		return no
	}
	return nil
}

// close ends the syncer, which must not be in use.
func (s *syncer) close() {
	if s != nil {
		_, _, _ = syscall.Syscall(syscall.SYS_IO_DESTROY, s.context, 0, 0)
		_ = s.file.Close()
	}
}
