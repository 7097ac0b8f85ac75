package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A window selects neighbours of a document, by position or by a range of the sort key's values.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/setWindowFields/
type window struct {
	ranged    bool // low and high are about values
	low, high bound
	plus      func(v doc.Value, by doc.Value) (doc.Value, error) // of a ranged window
}

// A bound is an end of a window.
type bound struct {
	open   bool      // unbounded
	by     int       // positions from the document; "current" is 0
	offset doc.Value // of a ranged window
}

// wholeWindow is the window of the whole partition.
func wholeWindow() *window { return &window{low: bound{open: true}, high: bound{open: true}} }

// each calls f for each document with its window, the part [from, to) of the partition.
func (w *window) each(p *partition, f func(i, from, to int) error) error {
	from, to := 0, 0
	n := len(p.entries)
	for i := range n {
		if err := p.r.turn(); err != nil {
			return err
		}
		if w.ranged {
			var err error
			if from, to, err = w.byValue(p, i, from, to); err != nil {
				return err
			}
		} else {
			from, to = w.low.position(i, 0, n), w.high.position(i+1, n, n)
		}
		if err := f(i, from, max(from, to)); err != nil {
			return err
		}
	}
	return nil
}

func (b bound) position(i, open, n int) int {
	if b.open {
		return open
	}
	return min(max(i+b.by, 0), n)
}

// byValue moves the ends of a window to those of document i. The ends never move back, since the documents are sorted.
// The window of a value that is not a number or a date has only equal values.
func (w *window) byValue(p *partition, i, from, to int) (int, int, error) {
	key := p.entries[i].keys[0]
	at := func(j int) doc.Value { return p.entries[j].keys[0] }
	low, high := key, key
	err := p.r.meter.Spend(2 * stepCost)
	if err != nil {
		return 0, 0, err
	}
	if isDate := key.Type == bsoncore.TypeDateTime; doc.IsNumberBSON(key) || isDate {
		if !w.low.open {
			low, err = w.plus(key, w.low.offset)
		}
		if err == nil && !w.high.open {
			high, err = w.plus(key, w.high.offset)
		}
		if err != nil {
			return 0, 0, err
		}
	} else {
		return 0, 0, code.New(5429414,
			"Invalid range: Expected the sortBy field to be a number or a date, but it was %s", code.TypeName(key))
	}
	if w.low.open {
		from = 0
	} else {
		for from < len(p.entries) && p.r.meter.Compare(at(from), low) < 0 {
			from++
		}
	}
	if w.high.open {
		to = len(p.entries)
	} else {
		for to < len(p.entries) && p.r.meter.Compare(at(to), high) <= 0 {
			to++
		}
	}
	return from, to, nil
}

// parseWindow parses {documents: [low, high]} or {range: [low, high], unit: text}.
func parseWindow(c *compiler, v doc.Value, sort *Sort) (*window, error) {
	if !isObject(v) {
		return nil, code.New(code.FailedToParse, "'window' field must be an object")
	}
	var positions, values, unit doc.Value
	for name, m := range doc.Members(v.Data) {
		switch name {
		case "documents":
			positions = m
		case "range":
			values = m
		case "unit":
			unit = m
		default:
			return nil, code.New(code.FailedToParse,
				"'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' "+
					"field")
		}
	}
	switch {
	case positions.Type != 0 && (values.Type != 0 || unit.Type != 0), positions.Type == 0 && values.Type == 0:
		return nil, code.New(code.FailedToParse, "Window bounds can specify either 'documents' or 'unit', not both.")
	case positions.Type != 0:
		return parsePositions(positions, sort)
	}
	return parseRange(c, values, unit, sort)
}

func parsePositions(v doc.Value, sort *Sort) (*window, error) {
	w := &window{}
	err := w.ends("documents", v, func(b *bound, v doc.Value) error {
		n, ok := doc.AsInt64Exact(v)
		if !doc.IsNumberBSON(v) || !ok || int64(int32(n)) != n {
			return code.New(code.FailedToParse, "Numeric document-based bounds must be an integer")
		}
		b.by = int(n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if sort == nil && !(w.low.open && w.high.open) {
		return nil, code.New(5339901, "Document-based bounds require a sortBy")
	}
	if !w.low.open && !w.high.open && w.low.by > w.high.by {
		return nil, code.New(5339900, "Lower bound must not exceed upper bound: %s", code.Show(v))
	}
	return w, nil
}

func parseRange(c *compiler, v, unit doc.Value, sort *Sort) (*window, error) {
	w := &window{ranged: true}
	err := w.ends("range", v, func(b *bound, v doc.Value) error {
		if !doc.IsNumberBSON(v) {
			return code.New(code.FailedToParse, "Range-based bounds expression must be a number")
		}
		if _, whole := doc.AsInt64Exact(v); unit.Type != 0 && !whole {
			return code.New(code.FailedToParse, "With 'unit', range-based bounds must be an integer")
		}
		b.offset = v
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case sort == nil || len(sort.parts) != 1 || sort.parts[0].descending:
		return nil, code.New(5339902, "Range-based window require sortBy a single field in ascending order")
	}
	w.plus, err = adder(unit)
	return w, err
}

// ends parses the two ends.
func (w *window) ends(what string, v doc.Value, number func(b *bound, v doc.Value) error) error {
	if !doc.IsArray(v) || count(v) != 2 {
		return code.New(code.FailedToParse, "Window bounds must be a 2-element array: %s: %s", what, code.Show(v))
	}
	b := &w.low
	for e := range doc.Elements(v) {
		text, isText := doc.AsString(e)
		switch {
		case text == "unbounded":
			b.open = true
		case text == "current":
			b.offset = doc.Int32(0)
		case isText:
			return code.New(code.FailedToParse, "Window bounds must be 'unbounded', 'current', or a number.")
		default:
			if err := number(b, e); err != nil {
				return err
			}
		}
		b = &w.high
	}
	return nil
}
