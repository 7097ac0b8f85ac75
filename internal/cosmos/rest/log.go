package rest

import (
	"log/slog"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// logRequest writes the log line of one request. It leaves out ids and contents of items, and the text of an error,
// which may quote them.
func (e *exchange) logRequest(status int, took time.Duration, err error) {
	about := []any{
		slog.String("activity", e.activityID()),
		slog.String("method", e.Method),
		slog.String("path", loggedPath(e.URL.Path)),
		slog.Int("status", status),
		slog.String("duration", took.String()),
	}
	if err != nil {
		err = classify(err)
		about = append(about, slog.String("error", fault.KindOf(err).String()), slog.Int("substatus",
			translate(err).substatus))
	}
	e.api.log.Debug("request", about...)
}

// loggedPath is a path without the id of an item.
func loggedPath(path string) string {
	const feed = 6 // "", dbs, {}, colls, {}, docs
	parts := strings.SplitN(path, "/", feed+1)
	if len(parts) > feed && parts[feed-1] == "docs" && parts[feed] != "" {
		return strings.TrimSuffix(path, parts[feed]) + "*"
	}
	return path
}
