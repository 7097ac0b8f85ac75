package placement

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// logicalBits is how many bits of a timestamp count within one millisecond;
// tikv/pd: pkg/tso/tso.go, maxLogical.
const logicalBits = 18

// lead is how far the persisted mark is ahead of the timestamps given, as
// PD's tso-save-interval. After a restart the oracle continues at the mark, so
// it may be ahead of the machine's clock by as much.
const lead = 3 * time.Second

// An oracle gives timestamps that only increase, over restarts too.
type oracle struct {
	file string
	wall func() time.Time

	mu       sync.Mutex
	physical int64 // milliseconds since 1970 of the last timestamp
	logical  int64 // and its count within them
	mark     int64 // milliseconds, persisted: every physical given is below it
}

// openOracle continues after the mark in file, if there is one.
func openOracle(file string, wall func() time.Time) (*oracle, error) {
	o := &oracle{file: file, wall: wall}
	text, err := os.ReadFile(file)
	switch {
	case os.IsNotExist(err):
		return o, nil
	case err != nil:
		return nil, err
	}
	if o.mark, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err != nil {
		return nil, fmt.Errorf("oracle's mark in %s: %w", file, err)
	}
	o.physical = o.mark
	return o, nil
}

// next gives n timestamps and returns the last of them: its milliseconds and
// its count within them.
func (o *oracle) next(n uint32) (physical, logical int64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.wall().UnixMilli(); now > o.physical {
		o.physical, o.logical = now, 0
	}
	if o.logical+int64(n) >= 1<<logicalBits {
		o.physical, o.logical = o.physical+1, 0
	}
	if o.physical >= o.mark {
		mark := o.physical + lead.Milliseconds()
		if err := replace(o.file, []byte(strconv.FormatInt(mark, 10))); err != nil {
			return 0, 0, fmt.Errorf("save the oracle's mark: %w", err)
		}
		o.mark = mark
	}
	o.logical += int64(n)
	return o.physical, o.logical, nil
}

// replace writes a file so that a kill leaves the old content or the new.
func replace(file string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
