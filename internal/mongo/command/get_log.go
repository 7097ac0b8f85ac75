package command

import (
	"bytes"
	"context"
	"log/slog"
	"sync"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func getLog(r *request, a *answer) error {
	name, ok := doc.AsString(r.arg)
	if !ok {
		return wrongMember("getLog.getLog", r.arg, "string")
	}
	switch name {
	case "*":
		a.strings("names", []string{"global", "startupWarnings"})
	case "global":
		lines, total := r.s.recent.all()
		a.int32("totalLinesWritten", total)
		a.strings("log", lines)
	case "startupWarnings": // there is nothing that the server warns of
		a.int32("totalLinesWritten", 0)
		a.strings("log", nil)
	default:
		return code.New(code.OperationFailed, "No log named '%.50s'", name)
	}
	return nil
}

// How much of the log is kept for clients.
const (
	keptLines   = 1024
	maxLogBytes = 1000 // of a line
)

// recent is the newest lines of the log of this door, oldest first from next on.
type recent struct {
	mu    sync.Mutex
	lines []string
	next  int
	total int
}

func (x *recent) add(line string) {
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

func (x *recent) all() (lines []string, total int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append(append(lines, x.lines[x.next:]...), x.lines[:x.next]...), x.total
}

// keeper is a handler that keeps lines beside handing them on.
type keeper struct {
	slog.Handler
	line slog.Handler // writes it for recent
}

// A lineBuffer gives what is written to it, a line at a time, to recent.
type lineBuffer struct{ to *recent }

func (b lineBuffer) Write(line []byte) (int, error) {
	text := bytes.TrimRight(line, "\n")
	b.to.add(string(bytes.ToValidUTF8(text[:min(len(text), maxLogBytes)], nil)))
	return len(line), nil
}

// keep makes a logger that keeps its lines for clients.
func (x *recent) keep(log *slog.Logger) *slog.Logger {
	line := slog.NewJSONHandler(lineBuffer{x}, &slog.HandlerOptions{ReplaceAttr: logMember})
	return slog.New(keeper{Handler: log.Handler(), line: line})
}

// logMember gives the members of a line MongoDB's names.
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

func (k keeper) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || k.Handler.Enabled(ctx, level)
}

func (k keeper) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelInfo {
		_ = k.line.Handle(ctx, record.Clone())
	}
	if !k.Handler.Enabled(ctx, record.Level) {
		return nil
	}
	return k.Handler.Handle(ctx, record)
}

func (k keeper) WithAttrs(list []slog.Attr) slog.Handler {
	return keeper{Handler: k.Handler.WithAttrs(list), line: k.line.WithAttrs(list)}
}

func (k keeper) WithGroup(name string) slog.Handler {
	return keeper{Handler: k.Handler.WithGroup(name), line: k.line.WithGroup(name)}
}
