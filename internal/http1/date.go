package http1

import (
	"net/http"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/clock"
)

// A date is the value of the Date header, made once a second.
type date struct{ last atomic.Pointer[dated] }

type dated struct {
	second int64 // Unix
	text   string
}

func (d *date) now() string {
	t := clock.Wall()
	if last := d.last.Load(); last != nil && last.second == t.Unix() {
		return last.text
	}
	next := &dated{t.Unix(), t.UTC().Format(http.TimeFormat)}
	d.last.Store(next)
	return next.text
}
