package tikv

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	pingcap "github.com/pingcap/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/mayflydb/mayfly/internal/clock"
)

// repeatAfter is how long the log does not repeat a message of the client, which tells some of them every second while
// a cluster is away, and maxMessages how many messages are remembered for that.
const (
	repeatAfter = 30 * time.Second
	maxMessages = 1_000
)

// forwardLog sends what the client library and PD's client log to l, or nowhere. Without it they write to the standard
// error. Their logger is one of the process, so the newest engine decides.
func forwardLog(l *slog.Logger) {
	logger := zap.NewNop()
	if l != nil {
		logger = zap.New(forwarder{l, &repeats{told: map[string]clock.Stopwatch{}}})
	}
	pingcap.ReplaceGlobals(logger, &pingcap.ZapProperties{
		Core: logger.Core(), Level: zap.NewAtomicLevelAt(zap.InfoLevel),
	})
}

// A forwarder is a zapcore.Core over a slog.Logger.
type forwarder struct {
	l       *slog.Logger
	repeats *repeats
}

// repeats knows when a message was told. A repeated one goes to the details.
type repeats struct {
	mu   sync.Mutex
	told map[string]clock.Stopwatch
}

func (r *repeats) again(message string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, ok := r.told[message]; ok && last.Elapsed() < repeatAfter {
		return true
	}
	if len(r.told) >= maxMessages {
		clear(r.told)
	}
	r.told[message] = clock.Start()
	return false
}

// levels puts the client's levels one lower: what it informs of are details of its protocol.
var levels = map[zapcore.Level]slog.Level{
	zapcore.InfoLevel: slog.LevelDebug, zapcore.WarnLevel: slog.LevelWarn, zapcore.ErrorLevel: slog.LevelError,
}

func level(z zapcore.Level) slog.Level {
	if l, ok := levels[z]; ok {
		return l
	}
	return slog.LevelError // what would end the process
}

// Enabled implements zapcore.LevelEnabler.
func (f forwarder) Enabled(z zapcore.Level) bool {
	return z >= zapcore.InfoLevel && f.l.Enabled(context.Background(), level(z))
}

// With implements zapcore.Core.
func (f forwarder) With(fields []zapcore.Field) zapcore.Core {
	return forwarder{f.l.With(attributes(fields)...), f.repeats}
}

// Check implements zapcore.Core.
func (f forwarder) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if f.Enabled(e.Level) {
		return checked.AddCore(e, f)
	}
	return checked
}

// Write implements zapcore.Core.
func (f forwarder) Write(e zapcore.Entry, fields []zapcore.Field) error {
	at := level(e.Level)
	if at > slog.LevelDebug && (ended(fields) || f.repeats.again(e.Message)) {
		at = slog.LevelDebug
	}
	f.l.Log(context.Background(), at, "the TiKV client: "+e.Message, attributes(fields)...)
	return nil
}

// ended reports whether a message is about the end of a context, which is that of a call or of the engine.
func ended(fields []zapcore.Field) bool {
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && errors.Is(err, context.Canceled) {
			return true
		}
	}
	return false
}

// Sync implements zapcore.Core.
func (f forwarder) Sync() error { return nil }

func attributes(fields []zapcore.Field) []any {
	encoder := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(encoder)
	}
	attrs := make([]any, 0, len(encoder.Fields))
	delete(encoder.Fields, "errorVerbose") // a stack of the client's calls
	for key, value := range encoder.Fields {
		attrs = append(attrs, slog.Any(key, value))
	}
	return attrs
}
