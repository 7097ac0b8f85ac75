package bulk

import (
	"context"
	"errors"
	"io"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// Bounds of an export's steps.
const (
	positionRows = 1_000     // between two positions
	partBytes    = 64 << 10  // that are written at once
	maxKeptLine  = 256 << 10 // memory of a buffer that is used again
)

// Export writes the living documents of a container as lines, as they were at one moment, in the order of the change
// feed, or of their stamps where there are several feeds; those that expire before their turn are left out. Parameters
// are after (a position), positions (yes or no: lines that say how far the export is), format (canonical or relaxed,
// for collections of MongoDB), and stamps (yes or no: with the stamp of each document of MongoDB; items always have
// theirs in `_ts`).
func (l *Lines) Export(ctx context.Context, db, container string, query map[string][]string, out io.Writer) error {
	values := url.Values(query)
	if err := onlyThese(values, "after", "positions", "format", "stamps"); err != nil {
		return err
	}
	c, err := l.find(db, container)
	if err != nil {
		return err
	}
	x := exporter{l: l, c: c, out: out}
	if err := x.configure(values); err != nil {
		return err
	}
	l.budget.Open(&x.loan.share)
	defer x.loan.share.Close()
	return x.run(ctx)
}

// An exporter writes the lines of one container.
type exporter struct {
	l         *Lines
	c         *catalog.Container
	out       io.Writer
	after     access.Position
	positions bool
	stamps    bool
	relaxed   bool

	loan loan
	view catalog.View
	rows int

	part   []byte
	lines  []exported // of the part
	bodies []byte     // of the lines
}

// An exported is a document whose line is in the part: from where to where, and what its life goes by.
type exported struct {
	from, to int
	version  expiry.Document
}

func (x *exporter) configure(values url.Values) error {
	positions, err := choose(values, "positions", "yes", "no")
	if err != nil {
		return err
	}
	stamps, err := choose(values, "stamps", "yes", "no")
	if err != nil {
		return err
	}
	form, err := choose(values, "format", "canonical", "relaxed")
	if err != nil {
		return err
	}
	x.positions, x.stamps, x.relaxed = positions == "yes", stamps == "yes", form == "relaxed"
	x.after, err = x.parsePosition(values.Get("after"))
	return err
}

// parsePosition reads a position of this container, see transfer.AppendPosition. It has a stamp if there are several
// ranges.
func (x *exporter) parsePosition(text string) (access.Position, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, ".")
	var n [3]uint64
	ok := len(parts) == 2 || len(parts) == 3
	for i := 0; i < len(parts) && ok; i++ {
		var err error
		n[i], err = strconv.ParseUint(parts[i], 10, 63)
		ok = err == nil
	}
	if !ok || n[0] > math.MaxUint32 {
		return nil, fault.New(fault.Invalid, "The position %q is none that an export has given.", text)
	}
	if uint32(n[0]) != x.c.ID {
		return nil, fault.New(fault.Precondition, "The position %q is one of another container. "+
			"If this one was deleted and created again, export it from the beginning.", text)
	}
	if n[1] == 0 { // nothing had been exported
		return nil, nil
	}
	if (len(parts) == 3) != x.several() {
		return nil, fault.New(fault.Invalid, "The position %q is none that an export of this container has given.",
			text)
	}
	return access.ValuePosition(nil, []doc.Value{doc.Int(int64(n[2]))}, n[1]), nil
}

// several reports whether the container has several feeds.
func (x *exporter) several() bool { return len(x.c.State().Ranges()) > 1 }

func (x *exporter) run(ctx context.Context) error {
	if err := x.look(ctx); err != nil {
		return err
	}
	last := slices.Clone(x.after)
	// The documents of all ranges, in the order in which an import can keep their stamps.
	walk := access.Access{Of: &access.Walk{Range: access.Range{Path: access.Path{{Name: "_ts"}}}}, After: x.after}
	for d, err := range x.l.store.Scan(ctx, x.view, walk) {
		if err != nil {
			return err
		}
		if err := x.row(ctx, &d); err != nil {
			return err
		}
		last = append(last[:0], d.Position...)
		if x.positions && x.rows%positionRows == 0 {
			x.appendPosition(last, false)
		}
		if len(x.part) >= partBytes {
			if err := x.flush(ctx); err != nil {
				return err
			}
		}
	}
	if x.positions {
		x.appendPosition(last, true)
	}
	return x.flush(ctx)
}

// look asks for the time and the policy.
func (x *exporter) look(ctx context.Context) (err error) {
	x.view, err = x.c.Enter(ctx, x.l.now())
	return err
}

// row appends the line of a document, unless it has expired since the export began.
func (x *exporter) row(ctx context.Context, d *access.Document) error {
	x.rows++
	version := expiry.Document{Wrote: d.Stamp, TTL: d.TTL, Sequence: d.Sequence, Body: d.Body}
	if x.view.Policy.Dead(version, x.view.Now) {
		return nil
	}
	if err := x.loan.hold(ctx, len(d.Body)); err != nil {
		return err
	}
	from, body := len(x.part), len(x.bodies)
	x.bodies = append(x.bodies, d.Body...) // the scan uses the memory of d again
	version.Body = doc.Doc(x.bodies[body:len(x.bodies):len(x.bodies)])
	x.part = x.appendLine(x.part, d)
	x.lines = append(x.lines, exported{from, len(x.part), version})
	return nil
}

// appendLine appends a document with its stamp, which comes last.
func (x *exporter) appendLine(dst []byte, d *access.Document) []byte {
	member := transfer.ItemStamp
	switch mongo := x.c.State().Dialect == catalog.Mongo; {
	case mongo && x.relaxed:
		dst = doc.AppendRelaxedJSON(dst, transfer.QuoteStamp(d.Body))
	case mongo:
		dst = doc.AppendCanonicalJSON(dst, transfer.QuoteStamp(d.Body))
	default:
		dst = doc.AppendJSON(dst, d.Body)
	}
	if x.c.State().Dialect == catalog.Mongo {
		if member = transfer.StampMember; !x.stamps {
			return append(dst, '\n')
		}
	}
	dst = dst[:len(dst)-1] // the brace
	if !doc.IsEmpty(d.Body) {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '"'), member...), `":`...)
	return append(strconv.AppendInt(dst, d.Stamp, 10), "}\n"...)
}

func (x *exporter) appendPosition(at access.Position, done bool) {
	var stamp int64
	values, place, _ := at.Values() // none before the first document
	if x.several() && len(values) == 1 {
		stamp, _ = doc.AsInt(values[0])
	}
	x.part = transfer.AppendPosition(x.part, x.c.ID, place, stamp, done)
}

// flush sends the part. It asks for the time at the last moment, because much time may have passed since its lines were
// appended: the scan goes on for long where many documents in a row are dead. For the same reason nothing of the part
// stays in a buffer behind.
func (x *exporter) flush(ctx context.Context) error {
	if len(x.part) == 0 {
		return nil
	}
	before := x.view
	if err := x.look(ctx); err != nil {
		return err
	}
	if x.view != before {
		x.dropDead()
	}
	_, err := x.out.Write(x.part)
	if out, ok := x.out.(interface{ Flush() error }); ok && err == nil {
		if err = out.Flush(); errors.Is(err, errors.ErrUnsupported) { // there is no buffer
			err = nil
		}
	}
	x.loan.giveBack()
	clear(x.lines)
	x.part, x.lines, x.bodies = x.part[:0], x.lines[:0], x.bodies[:0]
	if cap(x.part) > maxKeptLine || cap(x.bodies) > maxKeptLine {
		x.part, x.bodies = nil, nil
	}
	return err
}

// dropDead takes the lines out of the part whose documents are dead by now. Lines with positions stay.
func (x *exporter) dropDead() {
	kept, done := 0, 0
	for i := range x.lines {
		l := &x.lines[i]
		if !x.view.Policy.Dead(l.version, x.view.Now) {
			continue
		}
		kept += copy(x.part[kept:], x.part[done:l.from])
		done = l.to
	}
	kept += copy(x.part[kept:], x.part[done:])
	x.part = x.part[:kept]
}
