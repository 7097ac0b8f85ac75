package pebble

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

// Syncs are quick while they do not make the log longer. A power failure in between loses nothing, although the log
// has zeros behind its end.
func TestSyncsRarelyMakeTheLogLonger(t *testing.T) {
	mem := vfs.NewCrashableMem()
	e := start(t, Options{FS: kvtest.Cloneable{MemFS: mem}})
	value, longer := strings.Repeat("v", 1000), 0
	const writes = 1000
	for i, size := 0, int64(0); i < writes; i++ {
		set(t, e, fmt.Sprint("k", i), value)
		if now := logBytes(t, mem, "mayfly"); now != size {
			size, longer = now, longer+1
		}
	}
	if longer > 20 { // 1 MB and a few new logs
		t.Errorf("%d of %d writes made the log longer", longer, writes)
	}
	crashed := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(1, 2))})
	stop(t, e)
	e = start(t, Options{FS: crashed})
	for i := range writes {
		want(t, e, fmt.Sprint("k", i), value)
	}
	stop(t, e)
}

// A disk that is nearly full has no space for zeros.
func TestNoZerosOnAFullDisk(t *testing.T) {
	disk := newSmall(40 << 20)
	e := start(t, Options{FS: disk, Reserve: DefaultReserve})
	disk.take(40<<20 - 5<<20 - int64(len(zeros))) // the reserve is an eighth
	e.space.look()
	before := logBytes(t, disk, "mayfly") // the engine itself may have written something
	set(t, e, "k", "v")
	if n := logBytes(t, disk, "mayfly") - before; n >= int64(len(zeros)) {
		t.Errorf("the log has got %d bytes longer", n)
	}
	stop(t, e)
}
