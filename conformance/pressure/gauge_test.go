package pressure

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// mostMemory is where a mayfly is killed: the machine has to live on.
const mostMemory = 12 << 30

// A reading is what a mayfly was like at a moment.
type reading struct {
	at           time.Time
	resident     int64 // bytes
	disk, tables int64 // bytes of all files, and of those that hold what lives for long
	written      int64 // bytes that it gave to the disk, since its start
	files        int
	cpu          time.Duration // since its start
	goroutines   int
	lag          time.Duration
	backlog      int
	reclaimed    int // documents, since its start
}

// A gauge reads a mayfly once a second, and its memory ten times.
type gauge struct {
	server *server
	mu     sync.Mutex
	past   []reading
	memory []struct {
		at       time.Time
		resident int64
	}
}

// watch starts a gauge that ends with the test.
func watch(t testing.TB, s *server) *gauge {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("skipped: the memory of a process is read from /proc, which only Linux has")
	}
	g := &gauge{server: s}
	ctx, cancel := context.WithCancel(context.Background())
	var both sync.WaitGroup
	t.Cleanup(func() { cancel(); both.Wait() })
	both.Go(func() {
		for sleep(ctx, 100*time.Millisecond) == nil {
			resident := s.status("VmRSS")
			if resident > mostMemory {
				s.process.Process.Kill()
				t.Errorf("mayfly had %d MiB and was killed for it", resident>>20)
				return
			}
			g.mu.Lock()
			g.memory = append(g.memory, struct {
				at       time.Time
				resident int64
			}{time.Now(), resident})
			g.mu.Unlock()
		}
	})
	both.Go(func() {
		for sleep(ctx, time.Second) == nil {
			r := s.read(ctx)
			g.mu.Lock()
			g.past = append(g.past, r)
			g.mu.Unlock()
		}
	})
	return g
}

// between are the readings of a time.
func (g *gauge) between(from, to time.Time) (found []reading) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.past {
		if !r.at.Before(from) && r.at.Before(to) {
			found = append(found, r)
		}
	}
	return found
}

// peak is the most memory that was seen in a time.
func (g *gauge) peak(from, to time.Time) (most int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.memory {
		if !m.at.Before(from) && m.at.Before(to) {
			most = max(most, m.resident)
		}
	}
	return most
}

// idle says how long after a moment the process first used less than a fifth of a processor, in a second.
func (g *gauge) idle(after time.Time) (time.Duration, bool) {
	readings := g.between(after, time.Now())
	for i := 1; i < len(readings); i++ {
		was, now := readings[i-1], readings[i]
		if now.cpu-was.cpu < now.at.Sub(was.at)/5 {
			return was.at.Sub(after), true
		}
	}
	return 0, false
}

// proc is a file of the system about the process.
func (s *server) proc(name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.process.Process.Pid, name))
	return string(text)
}

// status is a number of bytes in /proc/PID/status: VmRSS is memory now, VmHWM at most.
func (s *server) status(name string) int64 {
	_, rest, _ := strings.Cut(s.proc("status"), name+":")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0 // it has ended
	}
	n, _ := strconv.ParseInt(fields[0], 10, 64)
	return n << 10
}

// cpu is the processor time that it has used.
func (s *server) cpu() time.Duration {
	_, rest, _ := strings.Cut(s.proc("stat"), ") ") // from the third field on
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * (time.Second / 100)
}

// read reads everything.
func (s *server) read(ctx context.Context) reading {
	r := reading{at: time.Now(), resident: s.status("VmRSS"), cpu: s.cpu()}
	if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.process.Process.Pid)); err == nil {
		r.files = len(open)
	}
	_, rest, _ := strings.Cut(s.proc("io"), "\nwrite_bytes: ")
	fmt.Sscan(rest, &r.written)
	filepath.WalkDir(s.dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && entry.Name() != "BALLAST" {
			if info, err := entry.Info(); err == nil { // else deleted while we look
				r.disk += info.Size()
				if filepath.Ext(entry.Name()) == ".sst" {
					r.tables += info.Size()
				}
			}
		}
		return nil
	})
	m, _ := s.metrics(ctx) // a mayfly that does not answer in time has none
	r.goroutines, r.backlog = int(m["go_goroutines"]), int(m["mayfly_lifetime_backlog_documents"])
	r.reclaimed = int(m["mayfly_lifetime_reclaimed_documents_total"])
	r.lag = time.Duration(m["mayfly_lifetime_lag_seconds"] * float64(time.Second))
	return r
}

// metrics are those without labels.
func (s *server) metrics(ctx context.Context) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", s.admin+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.web.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	found := map[string]float64{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && name != "#" {
			found[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return found, nil
}

// slope is how a figure of the readings changes in a second, by least squares.
func slope(readings []reading, of func(reading) float64) float64 {
	if len(readings) < 2 {
		return 0
	}
	var x, y, xx, xy float64
	for _, r := range readings {
		at := r.at.Sub(readings[0].at).Seconds()
		x, y, xx, xy = x+at, y+of(r), xx+at*at, xy+at*of(r)
	}
	n := float64(len(readings))
	return (n*xy - x*y) / (n*xx - x*x)
}

// most is the largest figure of the readings.
func most(readings []reading, of func(reading) float64) float64 {
	if len(readings) == 0 {
		return 0
	}
	return of(slices.MaxFunc(readings, func(a, b reading) int {
		switch x, y := of(a), of(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}))
}

func lagOf(r reading) float64     { return r.lag.Seconds() }
func backlogOf(r reading) float64 { return float64(r.backlog) }
func diskOf(r reading) float64    { return float64(r.disk) }
