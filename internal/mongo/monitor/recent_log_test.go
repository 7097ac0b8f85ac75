package monitor

import (
	"log/slog"
	"strings"
	"testing"
)

// The log keeps the newest lines in their order, each cut off, and counts those that it has dropped.
func TestRecentLog(t *testing.T) {
	m := &Monitor{}
	log := m.Keep(slog.New(slog.DiscardHandler))
	for n := range keptLines + 3 {
		log.Info("line", "n", n)
	}
	log.Info(strings.Repeat("x", 2*maxLogBytes))
	log.Debug("not kept")
	lines, total := m.Log.Lines()
	if total != keptLines+4 || len(lines) != keptLines {
		t.Fatalf("%d lines of %d", len(lines), total)
	}
	if first := lines[0]; !strings.Contains(first, `"n":4}`) {
		t.Errorf("the oldest line is %s", first)
	}
	if last := lines[len(lines)-1]; len(last) != maxLogBytes {
		t.Errorf("the newest line has %d bytes", len(last))
	}
}
