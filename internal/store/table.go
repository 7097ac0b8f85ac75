package store

import (
	"bytes"
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Tabulate fills a table from index entries alone: of a whole container, or of what one range of values selects. Each
// path is a walk over its entries, and the numbers at their ends say which values are of one document. An entry takes
// about a fifth of the time of a document of 1 KiB.
//
// What entries lead to is not looked at, so all of it must be alive, as Count finds out. ok is false if that is not so,
// if entries hold only a part of a bound or of a value, if a path is not indexed, and if reading the documents takes
// less time. A table of Ends or Values needs neither that everything is alive nor that lifetime counts from
// the write.
func (s *Store) Tabulate(
	ctx context.Context, v catalog.View, a access.Access, x *access.Table,
) (of access.Tabled, ok bool, err error) {
	only, ok := selectedByOne(a)
	ends, values := ok && atEnds(x, only), ok && withinPath(x, only)
	if !ok || !v.Identity().Partitioned() || !v.Policy.Plain() && !ends && !values || len(x.Columns) > costs.columns {
		return of, false, nil
	}
	all := access.Intersection{}
	if only != nil {
		all = append(all, only)
	}
	t, err := s.newTally(ctx, v, access.Access{Of: &access.Filter{Set: all}, Stats: a.Stats})
	if err != nil {
		return of, false, err
	}
	defer t.close()
	w := tabulation{tally: t, table: x, only: only}
	fill := w.fill
	switch {
	case ends:
		fill = w.ends
	case values:
		fill = w.values
	}
	err = t.eachSettled(fill)
	if err == errInexact {
		return of, false, nil
	}
	return w.of, err == nil, err
}

// selectedByOne returns the range of a path that selects the documents of an access, nil for the whole container. ok is
// false for every other selection.
func selectedByOne(a access.Access) (x *access.Range, ok bool) {
	if a.After != nil {
		return nil, false
	}
	switch of := a.Of.(type) {
	case nil:
		return nil, true
	case *access.Walk:
		x, ok = &of.Range, of.Scope == nil && of.Set == nil && !of.Absent
	case *access.Filter:
		x, ok = of.Set.(*access.Range)
		ok = ok && of.Scope == nil
	}
	return x, ok && x.Composite == 0 && !isStamp(x)
}

// A tabulation is one Tabulate.
type tabulation struct {
	*tally
	table *access.Table
	only  *access.Range // that selects the documents, nil for all
	of    access.Tabled

	// Of the range of the container that it is in.
	documents uint64
	first     uint64   // the lowest number of a document
	places    []uint32 // what is known of the documents, from the first on; see below
	free      uint32   // the place of a selected document without a group
	selected  uint64
	rest      int // the group of selected documents without a place of their own

	last []byte                        // the form of the value that was decoded last
	room [keys.MaxStringBytes + 8]byte // for its bytes
}

// maxPlaces is how many numbers a range may have from its first document to its newest: 4 MiB of places.
const maxPlaces = 1 << 20

// Places of documents. A document of the n-th group has the place inGroup + n.
const (
	unknown = iota // not selected, unless all are
	chosen         // selected
	leftOut        // in a group that the table leaves out
	inGroup
)

// fill adds the documents of a range to the table.
func (w *tabulation) fill(x catalog.Range) error {
	counter, err := counterOf(w.ctx, w.snapshot, w.rng)
	if err != nil || counter.Documents == 0 {
		return err
	}
	// The numbers of a range that was split from another one begin with that one.
	if !w.alive || len(x.Parents) > 0 || counter.Documents < uint64(costs.tabled) {
		return errInexact
	}
	w.documents, w.selected, w.free, w.rest = counter.Documents, counter.Documents, unknown, -1
	if w.only != nil || w.table.By != nil {
		if err := w.makePlaces(counter); err != nil {
			return err
		}
	}
	if w.only != nil {
		if err := w.choose(); err != nil {
			return err
		}
	}
	if err := w.group(); err != nil {
		return err
	}
	for column := range w.table.Columns {
		if err := w.column(column); err != nil {
			return err
		}
	}
	w.of.Documents += w.selected
	if w.selected == w.documents {
		w.of.Bytes += counter.Bytes
	} else { // at most maxPlaces
		w.of.Bytes += w.selected * counter.Bytes / w.documents
	}
	return nil
}

// makePlaces makes a place for every number from that of the first document to that of the newest.
func (w *tabulation) makePlaces(counter keys.Counter) error {
	if err := w.openRecords(); err != nil {
		return err
	}
	if err := w.land(w.records.Next()); err != nil {
		return err
	}
	last := keys.NumberOf(w.rng.Range, counter.Number)
	if !w.here || last < w.at {
		return errInexact
	}
	w.first = w.at
	n := last - w.first + 1
	if n > maxPlaces || n > 4*counter.Documents+uint64(costs.aloneLeast) {
		return errInexact // too many, or few of them are documents
	}
	if n <= uint64(cap(w.places)) {
		w.places = w.places[:n]
		clear(w.places)
		return nil
	}
	if err := w.table.Hold(int(n) * 4); err != nil {
		return err
	}
	w.places = make([]uint32, n)
	return nil
}

// place finds the place of a document.
func (w *tabulation) place(number uint64) (*uint32, error) {
	if i := number - w.first; i < uint64(len(w.places)) {
		return &w.places[i], nil
	}
	return nil, errInexact
}

// entriesAt finds the entries of a path or of a range on one, of which each document has one.
func (w *tabulation) entriesAt(x *access.Range) (e entryRange, err error) {
	e, ok := w.entries(x)
	if !ok || !e.once || !e.exact {
		return e, errInexact
	}
	return e, nil
}

// valuesAt is the range of the values of a path: that which selects the documents, if it is on the path.
func (w *tabulation) valuesAt(path access.Path) *access.Range {
	if w.only != nil && slices.Equal(w.only.Path, path) {
		return w.only
	}
	return &access.Range{Path: path}
}

// over calls step with the number and the value of each entry.
func (w *tabulation) over(e entryRange, step func(number uint64, form []byte) error) error {
	if e.empty() {
		return nil
	}
	n := 0
	return w.walk(e.interval, func(it kv.Iterator) error {
		if n++; n%checkEvery == 0 {
			if err := w.table.Work(checkEvery); err != nil {
				return err
			}
		}
		number, form, err := numberAndForm(it.Key(), e)
		if err != nil {
			return err
		}
		return step(number, form)
	})
}

// choose marks the documents of the range that selects them.
func (w *tabulation) choose() error {
	e, err := w.entriesAt(w.only)
	if err != nil {
		return err
	}
	w.selected, w.free = 0, chosen
	err = w.over(e, func(number uint64, _ []byte) error {
		at, err := w.place(number)
		if err == nil {
			*at = chosen
			w.selected++
		}
		return err
	})
	walks := uint64(len(w.table.Columns))
	if w.table.By != nil {
		walks++
	}
	if err == nil && w.selected*uint64(costs.perNumber) < walks*w.documents {
		return errInexact // a seek for each document takes less time than the walks
	}
	return err
}

// group gives the selected documents their places.
func (w *tabulation) group() error {
	left := w.selected
	if w.table.By != nil && left > 0 {
		e, err := w.entriesAt(w.valuesAt(w.table.By))
		if err != nil {
			return err
		}
		g := grouping{w: w}
		w.last = nil
		if err := w.over(e, g.add); err != nil {
			return err
		}
		g.count()
		left -= g.all
	}
	if left == 0 {
		return nil
	}
	id, err := w.table.Group(doc.Value{})
	if w.rest = id; err == nil && id >= 0 {
		w.table.Count(id, left)
	}
	return err
}

// A grouping goes over the entries of Table.By.
type grouping struct {
	w     *tabulation
	id    int    // the group of the last value
	place uint32 // of its documents
	known bool
	n     uint64 // its documents so far
	all   uint64 // documents with a value
}

func (g *grouping) add(number uint64, form []byte) error {
	w := g.w
	if !bytes.Equal(form, w.last) {
		g.count()
		w.last, g.known = append(w.last[:0], form...), false
	}
	at, err := w.place(number)
	if err != nil || *at != w.free {
		return err
	}
	if !g.known { // only now, since there may be no document of the value among those selected
		if err := g.begin(form); err != nil {
			return err
		}
	}
	*at = g.place
	g.n++
	return nil
}

// begin turns to the group of a value.
func (g *grouping) begin(form []byte) error {
	v, whole, err := keys.DecodeValue(g.w.room[:0], form)
	switch {
	case err != nil:
		return corrupt(err, "index entry")
	case !whole:
		return errInexact
	}
	if g.id, err = g.w.table.Group(v); err != nil {
		return err
	}
	g.known, g.place = true, leftOut
	if g.id >= 0 {
		g.place = inGroup + uint32(g.id)
	}
	return nil
}

// count counts the documents of the last value.
func (g *grouping) count() {
	if g.n > 0 && g.id >= 0 {
		g.w.table.Count(g.id, g.n)
	}
	g.all, g.n = g.all+g.n, 0
}

// column adds the values of a column.
func (w *tabulation) column(column int) error {
	if w.selected == 0 {
		return nil
	}
	e, err := w.entriesAt(w.valuesAt(w.table.Columns[column]))
	if err != nil {
		return err
	}
	w.last = nil
	var v doc.Value
	var whole bool
	return w.over(e, func(number uint64, form []byte) error {
		group, err := w.groupOf(number)
		if err != nil || group < 0 {
			return err
		}
		if !bytes.Equal(form, w.last) {
			w.last = append(w.last[:0], form...)
			if v, whole, err = keys.DecodeValue(w.room[:0], form); err != nil {
				return corrupt(err, "index entry")
			}
		}
		if doc.IsUndefined(v) || !w.table.Add(group, column, v, whole) {
			return errInexact
		}
		return nil
	})
}

// groupOf finds the group of a document, negative if it is not in the table.
func (w *tabulation) groupOf(number uint64) (group int, err error) {
	if w.only == nil && w.table.By == nil {
		return w.rest, nil
	}
	at, err := w.place(number)
	switch {
	case err != nil:
		return 0, err
	case *at >= inGroup:
		return int(*at - inGroup), nil
	case *at == w.free:
		return w.rest, nil
	}
	return -1, nil
}
