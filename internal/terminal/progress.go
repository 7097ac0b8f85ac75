package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/mayflydb/mayfly/internal/clock"
)

// lineEvery is how often progress is written to a stream that is no terminal.
const lineEvery = 10 * time.Second

// A Progress shows how far long work has come: as a bar with rate and time left on a terminal, which it rewrites, and
// else as a line now and then. It is not safe for concurrent use.
type Progress struct {
	out         io.Writer
	name, unit  string
	total, done int64 // total is 0 if nobody knows it
	bar         *progressbar.ProgressBar
	watch, line clock.Stopwatch
	first       int64 // of done: work that was done before this run
	begun       bool
}

// NewProgress begins to show work of total units, such as "items" or "bytes"; bytes are shown in binary units. out is
// the stream of messages, so that the stream of results stays clean.
func NewProgress(out io.Writer, name, unit string, total int64) *Progress {
	p := &Progress{out: out, name: name, unit: unit, total: total, watch: clock.Start(), line: clock.Start()}
	if Is(out) {
		p.bar = newBar(out, name, unit, total)
	}
	return p
}

func newBar(out io.Writer, name, unit string, total int64) *progressbar.ProgressBar {
	if total <= 0 {
		total = -1 // a spinner
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(Plain(name)), progressbar.OptionSetWidth(24),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetRenderBlankState(true),
	}
	if unit == "bytes" {
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true))
	} else {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit))
	}
	return progressbar.NewOptions64(total, options...)
}

// Set says how much is done, and of how much; a total of 0 leaves the total as it is. What the first call says was done
// before does not count in the rate.
func (p *Progress) Set(done, total int64) {
	if total > 0 && total != p.total {
		p.total = total
		if p.bar != nil {
			p.bar.ChangeMax64(total)
		}
	}
	if !p.begun {
		p.begun, p.first = true, done
	}
	p.done = done
	switch {
	case p.bar != nil:
		_ = p.bar.Set64(done) // it cannot show an error
	case p.line.Elapsed() >= lineEvery:
		p.line = clock.Start()
		fmt.Fprintln(p.out, p.String())
	}
}

// Close ends the bar, or writes the last line.
func (p *Progress) Close() {
	if p.bar != nil {
		_ = p.bar.Exit()
		_ = p.bar.Clear()
	}
	fmt.Fprintln(p.out, p.String())
}

// String is the line that tells how far the work has come.
func (p *Progress) String() string { return p.at(p.watch.Elapsed()) }

// at is the line after a time of work.
func (p *Progress) at(elapsed time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", Plain(p.name), p.amount(p.done))
	if p.total > 0 {
		fmt.Fprintf(&b, " of %s (%d%%)", p.amount(p.total), int64(100*(float64(p.done)/float64(p.total))))
	}
	if p.unit != "bytes" {
		b.WriteString(" " + p.unit)
	}
	done, seconds := p.done-p.first, elapsed.Seconds()
	if done <= 0 || seconds <= 0 {
		return b.String()
	}
	rate := float64(done) / seconds
	fmt.Fprintf(&b, ", %s/s", p.amount(int64(rate)))
	if left := p.total - p.done; left > 0 {
		wait := time.Duration(float64(left) / rate * float64(time.Second)).Round(time.Second)
		fmt.Fprintf(&b, ", %s left", clock.FormatDuration(wait))
	}
	return b.String()
}

func (p *Progress) amount(n int64) string {
	if p.unit == "bytes" {
		return Bytes(n)
	}
	return Count(n)
}
