package monitor

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
)

// How much of the log is kept for clients.
const (
	keptLines   = 1024
	maxLogBytes = 1000 // of a line
)

// A RecentLog has the newest lines of the log of this API: a ring, whose oldest line is at next once it is full.
type RecentLog struct {
	mu    sync.Mutex
	lines []string
	next  int
	total int
}

func (x *RecentLog) add(line string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.total++
	if len(x.lines) < keptLines {
		x.lines = append(x.lines, line)
		return
	}
	x.lines[x.next] = line
	x.next = (x.next + 1) % keptLines
}

// Lines gives the lines that are kept, the oldest first, and how many there have been.
func (x *RecentLog) Lines() (lines []string, total int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append(append(lines, x.lines[x.next:]...), x.lines[:x.next]...), x.total
}

// A tee is a handler that keeps lines for clients, and hands them on.
type tee struct {
	slog.Handler
	line slog.Handler // writes to RecentLog
}

// A lineWriter adds what is written to it, a line at a time, to RecentLog.
type lineWriter struct{ to *RecentLog }

func (b lineWriter) Write(line []byte) (int, error) {
	text := bytes.TrimRight(line, "\n")
	b.to.add(string(bytes.ToValidUTF8(text[:min(len(text), maxLogBytes)], nil)))
	return len(line), nil
}

// keep makes a logger that also keeps its lines for clients.
func (x *RecentLog) keep(log *slog.Logger) *slog.Logger {
	line := slog.NewJSONHandler(lineWriter{x}, &slog.HandlerOptions{ReplaceAttr: logMember})
	return slog.New(tee{Handler: log.Handler(), line: line})
}

// logMember renames the members of a line to what MongoDB calls them.
// https://www.mongodb.com/docs/v7.0/reference/log-messages/
func logMember(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case a.Key == slog.TimeKey:
		return slog.Group("t", slog.String("$date", a.Value.Time().UTC().Format("2006-01-02T15:04:05.000Z07:00")))
	case a.Key == slog.LevelKey:
		return slog.String("s", a.Value.String()[:1])
	}
	return a
}

func (k tee) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || k.Handler.Enabled(ctx, level)
}

func (k tee) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelInfo {
		_ = k.line.Handle(ctx, record.Clone())
	}
	if !k.Handler.Enabled(ctx, record.Level) {
		return nil
	}
	return k.Handler.Handle(ctx, record)
}

func (k tee) WithAttrs(list []slog.Attr) slog.Handler {
	return tee{Handler: k.Handler.WithAttrs(list), line: k.line.WithAttrs(list)}
}

func (k tee) WithGroup(name string) slog.Handler {
	return tee{Handler: k.Handler.WithGroup(name), line: k.line.WithGroup(name)}
}
