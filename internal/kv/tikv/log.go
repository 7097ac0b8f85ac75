package tikv

import (
	"context"
	"log/slog"

	pingcap "github.com/pingcap/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// forwardLog sends what the client library and PD's client log to l, or nowhere. Without it they write to the standard
// error. Their logger is one of the process, so the newest engine decides.
func forwardLog(l *slog.Logger) {
	logger := zap.NewNop()
	if l != nil {
		logger = zap.New(forwarder{l})
	}
	pingcap.ReplaceGlobals(logger, &pingcap.ZapProperties{
		Core: logger.Core(), Level: zap.NewAtomicLevelAt(zap.InfoLevel),
	})
}

// A forwarder is a zapcore.Core over a slog.Logger.
type forwarder struct{ l *slog.Logger }

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
	return forwarder{f.l.With(attributes(fields)...)}
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
	f.l.Log(context.Background(), level(e.Level), "the TiKV client: "+e.Message, attributes(fields)...)
	return nil
}

// Sync implements zapcore.Core.
func (f forwarder) Sync() error { return nil }

func attributes(fields []zapcore.Field) []any {
	encoder := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(encoder)
	}
	attrs := make([]any, 0, len(encoder.Fields))
	for key, value := range encoder.Fields {
		attrs = append(attrs, slog.Any(key, value))
	}
	return attrs
}
