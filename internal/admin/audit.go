package admin

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// defaultEvents is how many events of the audit trail an answer has if the request does not say.
const defaultEvents = 1000

// showAudit answers events of the audit trail as JSON lines, the oldest first. since is a time or a duration before
// now, after the number of an event, and max the most events, 0 for all. Without since and after, the events are the
// newest ones; else they are the first ones from there, so that a client can go on after the last number that it has.
func (a *admin) showAudit(w http.ResponseWriter, r *http.Request) error {
	if a.Audit == nil {
		return missing("audit")
	}
	part, err := a.auditPart(r.URL.Query())
	if err != nil {
		return err
	}
	return a.send(w, jsonLines, func(out io.Writer) error { return a.Audit.Write(r.Context(), out, part) })
}

// auditPart reads which events a request asks for.
func (a *admin) auditPart(query url.Values) (part AuditPart, err error) {
	part.Max = defaultEvents
	if text := query.Get("max"); text != "" {
		if part.Max, err = strconv.Atoi(text); err != nil || part.Max < 0 {
			return part, fault.New(fault.Invalid, "max is a number of events, such as 100, or 0 for all")
		}
	}
	if text := query.Get("after"); text != "" {
		if part.After, err = strconv.ParseUint(text, 10, 63); err != nil {
			return part, fault.New(fault.Invalid, "after is the number of an event, such as 17")
		}
	}
	if text := query.Get("since"); text != "" {
		part.Since, err = since(text, a.Clock.Now())
	}
	return part, err
}

// since reads a time, or a duration before now.
func since(text string, now time.Time) (time.Time, error) {
	if t, err := clock.ParseTime(text); err == nil {
		return t, nil
	}
	d, err := clock.ParseDuration(text)
	if err != nil || d < 0 {
		return time.Time{}, fault.New(fault.Invalid,
			"since is a duration before now, such as 24h, or a time, such as 2026-03-01T12:00:00Z")
	}
	return now.Add(-d), nil
}
