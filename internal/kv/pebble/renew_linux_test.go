//go:build !race

package pebble

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
)

// TestMemTablesReturnTheirMemory fills memtables and pauses: what they took is the system's again, each time. It runs
// in a process of its own, since what other tests leave counts, too. The race detector takes more than all that.
func TestMemTablesReturnTheirMemory(t *testing.T) {
	if ranAlone(t) {
		return
	}
	const memTable = 32 << 20
	e := start(t, Options{Dir: t.TempDir(), MemTableBytes: memTable, CacheBytes: 1 << 20})
	defer stop(t, e)
	for round := range 2 {
		many(t, e, 4*memTable>>10)
		if got := e.db.Metrics().MemTable; got.Size+got.ZombieSize < 2*memTable {
			t.Fatalf("%d bytes in memtables, too few for this test", got.Size+got.ZombieSize)
		}
		debug.FreeOSMemory()
		before := residentBytes(t)
		rest(e, pauseChecks+1)
		debug.FreeOSMemory()
		if after := residentBytes(t); after > before-memTable*5/4 {
			t.Errorf("round %d: %d MiB were resident, and %d are after the pause; the memtables have %d",
				round, before>>20, after>>20, 2*memTable>>20)
		}
		set(t, e, "key", "value")
		want(t, e, "key", "value")
	}
}

// ranAlone reports whether it has run the test in a process of its own. In that process, it has not.
func ranAlone(t *testing.T) bool {
	t.Helper()
	const alone = "MAYFLY_TEST_ALONE"
	if os.Getenv(alone) != "" {
		return false
	}
	process := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=2m")
	process.Env = append(os.Environ(), alone+"=1")
	if out, err := process.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

// residentBytes is the anonymous memory of the process.
func residentBytes(t testing.TB) (n int64) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "RssAnon:")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatal(err)
	}
	return n << 10
}
