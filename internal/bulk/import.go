package bulk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"slices"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// Bounds of what is parsed before it is written.
const (
	groupLines = 1_000
	groupBytes = 1 << 20
)

var conflicts = map[string]store.OnConflict{
	string(transfer.RejectExisting):  store.RejectExisting,
	string(transfer.SkipExisting):    store.SkipExisting,
	string(transfer.ReplaceExisting): store.ReplaceExisting,
}

// Import writes the documents of lines into a container, in their order, and returns a transfer.Outcome. Parameters are
// stamps (new or keep), onConflict (fail, skip or replace) and resent (no or yes: the lines may have been written by a
// request whose answer was lost, see store.ImportOptions). A line that cannot be written is rejected alone; an
// error that ends the import leaves written what came before, so that the same lines can be sent again with
// onConflict=skip.
func (l *Lines) Import(
	ctx context.Context, db, container string, query map[string][]string, in io.Reader,
) (any, error) {
	values := url.Values(query)
	if err := onlyThese(values, "stamps", "onConflict", "resent"); err != nil {
		return nil, err
	}
	stamps, err := choose(values, "stamps", string(transfer.NewStamps), string(transfer.KeepStamps))
	if err != nil {
		return nil, err
	}
	conflict, err := choose(values, "onConflict", "fail", "skip", "replace")
	if err != nil {
		return nil, err
	}
	resent, err := choose(values, "resent", "no", "yes")
	if err != nil {
		return nil, err
	}
	c, err := l.find(db, container)
	if err != nil {
		return nil, err
	}
	leave, err := l.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	m, err := l.importer(c, transfer.Stamps(stamps), conflicts[conflict])
	if err != nil {
		return nil, err
	}
	m.options.Resent = resent == "yes"
	l.budget.Open(&m.loan.share)
	defer m.loan.share.Close()
	err = m.readAll(budget.With(ctx, &m.loan.share), in)
	slices.SortFunc(m.done.Rejections, func(a, b transfer.Rejection) int { return cmp.Compare(a.Line, b.Line) })
	return m.done, err
}

// An importer writes lines into one container.
type importer struct {
	l       *Lines
	c       *catalog.Container
	parser  *parser
	options store.ImportOptions
	done    transfer.Outcome

	loan  loan
	docs  []store.Incoming
	lines []int // of docs
	bytes int
}

func (l *Lines) importer(c *catalog.Container, stamps transfer.Stamps, conflict store.OnConflict) (*importer, error) {
	p, err := newParser(c.State(), stamps == transfer.KeepStamps)
	if err != nil {
		return nil, err
	}
	return &importer{
		l: l, c: c, parser: p, options: store.ImportOptions{OnConflict: conflict, Lenient: p.mongo},
		docs: make([]store.Incoming, 0, groupLines), lines: make([]int, 0, groupLines),
	}, nil
}

func (m *importer) readAll(ctx context.Context, in io.Reader) error {
	lines := transfer.NewLineReader(in, transfer.MaxLine)
	lines.Grow = func(bytes int) error { return m.loan.take(ctx, bytes) }
	for number := 1; ; number++ {
		line, _, tooLong, err := lines.Next()
		switch {
		case err == io.EOF:
			return m.flush(ctx)
		case fault.KindOf(err) != fault.Internal: // of the budget
			return err
		case err != nil:
			return fault.Wrap(fault.Invalid, err, "The lines cannot be read to their end.")
		case tooLong:
			m.reject(number, fault.New(fault.TooLarge, "The line has more than %d bytes.", transfer.MaxLine))
			continue
		}
		if err := m.take(ctx, number, line); err != nil {
			return err
		}
	}
}

// take parses a line, and writes what has gathered when that is much.
func (m *importer) take(ctx context.Context, number int, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	if err := m.loan.hold(ctx, len(line)); err != nil {
		return err
	}
	d, ok, err := m.parser.parse(line)
	switch {
	case err != nil:
		m.reject(number, err)
		return nil
	case !ok:
		return nil
	}
	m.done.Lines++
	m.docs, m.lines = append(m.docs, d), append(m.lines, number)
	if m.bytes += len(d.Body); m.bytes < groupBytes && len(m.docs) < groupLines {
		return nil
	}
	return m.flush(ctx)
}

// flush writes what has gathered.
func (m *importer) flush(ctx context.Context) error {
	if len(m.docs) == 0 {
		return nil
	}
	done, err := m.l.store.Import(ctx, m.c, m.l.now(), m.docs, m.options)
	m.done.Written += done.Written
	m.done.Replaced += done.Replaced
	m.done.Skipped += done.Skipped
	m.done.Overdue += done.Overdue
	for _, r := range done.Rejected {
		m.done.Lines--
		m.reject(m.lines[r.Index], r.Err)
	}
	clear(m.docs)
	m.loan.giveBack()
	m.docs, m.lines, m.bytes = m.docs[:0], m.lines[:0], 0
	return err
}

func (m *importer) reject(line int, err error) {
	m.done.Lines++
	m.done.Rejected++
	if len(m.done.Rejections) < transfer.MaxRejections {
		m.done.Rejections = append(m.done.Rejections, transfer.Rejection{Line: line, Reason: reason(err)})
	}
}

// reason is the text for an error of one line.
func reason(err error) string {
	var ttl *expiry.BadTTL
	if errors.As(err, &ttl) {
		return "The ttl " + ttl.Value + " is no life span. " + fault.Message(err)
	}
	if text := fault.Message(err); text != "" && !errors.Is(err, store.ErrExists) {
		return text
	}
	var taken *store.TakenKey
	if errors.As(err, &taken) {
		return "Another document has the same values: " + taken.Error() + "."
	}
	var duplicate *store.Duplicate
	if errors.As(err, &duplicate) {
		return "Another document has the same values in the unique index " + duplicate.Index.Name + "."
	}
	return err.Error()
}
