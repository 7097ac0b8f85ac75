package main

import (
	"io"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/terminal"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// progressAfter is how long work takes before its progress is shown: less needs no words.
const progressAfter = time.Second

// A lateProgress shows the progress of work that takes longer than a moment.
type lateProgress struct {
	out        io.Writer
	name, unit string
	after      time.Duration
	since      clock.Stopwatch
	bar        *terminal.Progress // nil until there is something to show
}

func newProgress(out io.Writer, name, unit string) *lateProgress {
	return &lateProgress{out: out, name: name, unit: unit, after: progressAfter, since: clock.Start()}
}

// set says how much is done, and of how much; 0 if nobody knows it.
func (p *lateProgress) set(done, total int64) {
	if p.bar == nil {
		if p.since.Elapsed() < p.after {
			return
		}
		p.bar = terminal.NewProgress(p.out, p.name, p.unit, total)
	}
	p.bar.Set(done, total)
}

func (p *lateProgress) close() {
	if p.bar != nil {
		p.bar.Close()
		p.bar = nil
	}
}

// A transferProgress shows the passes of an import or an export: bytes of a file whose size is known, else documents.
type transferProgress struct {
	out     io.Writer
	name    string
	after   time.Duration
	sorting bool
	pass    *lateProgress
}

func newTransferProgress(out io.Writer, name string) *transferProgress {
	return &transferProgress{out: out, name: name, after: progressAfter}
}

// Update shows how far the work is.
func (p *transferProgress) Update(s transfer.Status) {
	if p.pass == nil || p.sorting != s.Sorting {
		p.close()
		name, unit := p.name, "documents"
		if s.Sorting {
			name += ", reading the stamps"
		}
		if s.Total > 0 {
			unit = "bytes"
		}
		p.sorting, p.pass = s.Sorting, newProgress(p.out, name, unit)
		p.pass.after = p.after
	}
	if p.pass.unit == "bytes" {
		p.pass.set(s.Bytes, s.Total)
	} else {
		p.pass.set(s.Rows, 0)
	}
}

func (p *transferProgress) close() {
	if p.pass != nil {
		p.pass.close()
	}
}
