package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// work is the meter of what the request costs: of its expressions, filters, updates and stages, while they are compiled and
// while they run. It asks whether the request has to stop.
func (r *request) work() *work.Meter {
	if r.meter.Stop == nil {
		r.meter.Stop = r.stopped
		if r.c != nil && r.c.stopped != nil {
			r.meter.Stop = r.c.stopped // which is there already
		}
	}
	return &r.meter
}

// stops fails when the request that runs has to stop.
func (c *connection) stops() error {
	if r := c.running; r != nil { // only this goroutine changes it
		return r.stopped()
	}
	return nil
}

// meter counts the work of a cursor for whichever request reads it at the moment.
func (p *piping) meter() *work.Meter {
	return &work.Meter{Stop: func() error { return p.now.stopped() }}
}
