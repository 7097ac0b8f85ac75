package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A densify is $densify: it adds documents where a series of values has gaps.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/densify/
type densify struct {
	field  path
	sort   *Sort // by field
	parts  []path
	by     *expression.Expression // of parts, nil for none
	step   doc.Value
	dates  bool
	add    func(v, by doc.Value) (doc.Value, error)
	bounds string    // full or partition, "" for low and high
	low    doc.Value // included
	high   doc.Value // not included
}

// maxDensified is how many documents one stage may add: MongoDB's default of internalQueryMaxAllowedDensifyDocs.
const maxDensified = 500000

func (s *densify) name() string { return "$densify" }

func (s *densify) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		g := &densifyRun{densify: s, r: r, yield: yield}
		if s.bounds == "full" && s.by != nil {
			// All partitions share the bounds, which are known only when all documents have been read.
			all, err := collect(r, in)
			if err == nil {
				err = g.widest(all)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			in = rowsOf(all)
		}
		parted := partitioner{stage: "$densify", by: s.by, sort: s.sort}
		err := parted.collect(r, in, g.partition)
		if err == nil && !g.some && !g.stopped && s.bounds == "" && s.by == nil {
			err = g.partition(&partition{r: r})
		}
		if err != nil && !g.stopped {
			yield(nil, err)
		}
	}
}

// collect keeps all documents in memory.
func collect(r *run, in Rows) ([]doc.Doc, error) {
	held := r.budget("$densify")
	var docs store
	var all []doc.Doc
	for d, err := range in {
		if err == nil {
			err = held.take(len(d) + entryBytes)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, docs.keep(d))
	}
	return all, nil
}

func rowsOf(all []doc.Doc) Rows {
	return func(yield func(doc.Doc, error) bool) {
		for _, d := range all {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// A densifyRun is one run of a densify.
type densifyRun struct {
	*densify
	r         *run
	yield     func(doc.Doc, error) bool
	least     doc.Value // of all documents, with full bounds and partitions
	greatest  doc.Value
	generated int
	some      bool // there was a partition
	stopped   bool // the consumer wants no more
	buf       []byte
}

// errStopped ends the stage when its consumer wants no more.
var errStopped = code.New(code.Interrupted, "stopped")

func (g *densifyRun) give(d doc.Doc) error {
	if !g.yield(d, nil) {
		g.stopped = true
		return errStopped
	}
	return nil
}

func (g *densifyRun) widest(all []doc.Doc) error {
	for _, d := range all {
		v := g.field.in(d)
		if nullish(v) {
			continue
		}
		if err := g.check(v); err != nil {
			return err
		}
		if g.least.Type == 0 || g.r.meter.Compare(v, g.least) < 0 {
			g.least = v
		}
		if g.greatest.Type == 0 || g.r.meter.Compare(v, g.greatest) > 0 {
			g.greatest = v
		}
	}
	return nil
}

func (g *densifyRun) check(v doc.Value) error {
	switch {
	case v.Type != bsoncore.TypeDateTime && !doc.IsNumberBSON(v):
		return code.New(5733201, "Densify field type must be numeric or a date")
	case v.Type == bsoncore.TypeDateTime && !g.dates:
		return code.New(6053600, "Encountered date densify value in collection when step does not have a date unit.")
	case doc.IsNumberBSON(v) && g.dates:
		return code.New(6053601, "Encountered numeric densify value in collection when step has a date unit.")
	}
	return nil
}

// partition yields the documents of one partition and new ones between them.
func (g *densifyRun) partition(p *partition) error {
	g.some = true
	entries := p.entries
	for len(entries) > 0 && nullish(g.field.in(entries[0].d)) {
		if err := g.give(entries[0].d); err != nil {
			return err
		}
		entries = entries[1:]
	}
	if len(entries) == 0 && len(p.entries) > 0 {
		return nil
	}
	next, high, closed := g.low, g.high, false
	if g.bounds != "" {
		next, high, closed = g.field.in(entries[0].d), g.field.in(entries[len(entries)-1].d), false
	}
	if g.least.Type != 0 {
		next, high, closed = g.least, g.greatest, true
	}
	like := doc.Empty
	if len(entries) > 0 {
		var err error
		if like, err = g.shared(entries[0].d); err != nil {
			return err
		}
	}
	for _, e := range entries {
		v := g.field.in(e.d)
		if err := g.check(v); err != nil {
			return err
		}
		var err error
		if next, err = g.upTo(next, v, high, closed, like); err != nil {
			return err
		}
		if g.r.meter.Equal(next, v) {
			if next, err = g.add(next, g.step); err != nil {
				return err
			}
		}
		if err := g.give(e.d); err != nil {
			return err
		}
	}
	_, err := g.upTo(next, doc.Value{Type: bsoncore.TypeMaxKey}, high, closed, like)
	return err
}

// upTo yields new documents for the values from next on that are below v and high.
func (g *densifyRun) upTo(next, v, high doc.Value, closed bool, like doc.Doc) (doc.Value, error) {
	for g.r.meter.Compare(next, v) < 0 {
		if c := g.r.meter.Compare(next, high); c > 0 || c == 0 && !closed {
			break
		}
		if err := g.r.meter.Spend(stepCost + work.Scanned(len(like))); err != nil {
			return next, err
		}
		if g.generated++; g.generated > maxDensified {
			return next, code.New(5897900,
				"Generated %d documents in $densify, which is over the limit of %d. Increase the "+
					"'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents", g.generated,
				maxDensified)
		}
		g.buf = g.field.appendSet(g.buf[:0], like, next)
		err := g.give(g.buf)
		if err != nil {
			return next, err
		}
		if next, err = g.add(next, g.step); err != nil {
			return next, err
		}
	}
	return next, g.r.meter.Err()
}

// shared is a document with the fields that define the partition, copied from one of its documents.
func (g *densifyRun) shared(one doc.Doc) (doc.Doc, error) {
	d := doc.Empty
	for _, p := range g.parts {
		if err := g.r.passing(one); err != nil {
			return nil, err
		}
		if of := p.in(one); of.Type != 0 {
			d = p.appendSet(nil, d, of)
		}
	}
	return d, nil
}

func parseDensify(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(code.FailedToParse, "The $densify stage specification must be an object, found %s",
			code.TypeName(arg))
	}
	s := &densify{}
	ranged := false
	for name, v := range doc.Members(arg.Data) {
		var err error
		switch name {
		case "field":
			text, ok := doc.AsString(v)
			if !ok {
				return nil, wrongType("$densify", name, v, "string")
			}
			s.sort = &Sort{}
			if s.field, err = parsePath(text); err == nil {
				s.sort.parts = []sortPart{{path: s.field}}
			}
		case "partitionByFields":
			s.parts, s.by, err = parsePartitionFields(c, "$densify", v)
		case "range":
			ranged = true
			err = s.parseRange(v)
		default:
			err = unknownField("$densify", name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case s.field == nil:
		return nil, missingField("$densify", "field")
	case !ranged:
		return nil, missingField("$densify", "range")
	case s.bounds == "partition" && s.by == nil:
		return nil, code.New(5733408, "One cannot specify the bounds as 'partition' without specifying a non-empty "+
			"array of partitionByFields. You may have meant to specify 'full' bounds.")
	}
	for _, p := range s.parts {
		n := min(len(p), len(s.field))
		if slices.Equal(p[:n], s.field[:n]) {
			return nil, code.New(8993000,
				"BSON field '$densify.partitionByFields' contains the field that is being densified")
		}
	}
	return s, nil
}

func (s *densify) parseRange(v doc.Value) (err error) {
	if !isObject(v) {
		return wrongType("$densify", "range", v, "object")
	}
	var bounds, unit doc.Value
	for name, m := range doc.Members(v.Data) {
		switch name {
		case "step":
			s.step = m
		case "unit":
			unit = m
		case "bounds":
			bounds = m
		default:
			return unknownField("$densify.range", name)
		}
	}
	_, whole := doc.AsInt64Exact(s.step)
	switch {
	case s.step.Type == 0:
		return missingField("$densify.range", "step")
	case bounds.Type == 0:
		return missingField("$densify.range", "bounds")
	case !doc.IsNumberBSON(s.step) || !(float(s.step) > 0):
		return code.New(5733401, "The step parameter in a range statement must be a strictly positive numeric value")
	case unit.Type != 0 && !whole:
		return code.New(6586400,
			"The step parameter in a range statement must be a whole number when densifying a date range")
	}
	s.dates = unit.Type != 0
	if s.add, err = adder(unit); err != nil {
		return err
	}
	return s.parseBounds(bounds)
}

func (s *densify) parseBounds(v doc.Value) error {
	if text, ok := doc.AsString(v); ok {
		if text != "full" && text != "partition" {
			return code.New(5946802, "Bounds string must either be 'full' or 'partition'")
		}
		s.bounds = text
		return nil
	}
	if !doc.IsArray(v) {
		return code.New(5733404,
			"The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two "+
				"numbers or two dates")
	}
	var ends []doc.Value
	for e := range doc.Elements(v) {
		ends = append(ends, e)
	}
	if len(ends) != 2 {
		return code.New(5733403, "A bounding array in a range statement must have exactly two elements")
	}
	s.low, s.high = ends[0], ends[1]
	date := s.low.Type == bsoncore.TypeDateTime
	switch {
	case doc.CompareBSON(s.low, s.high) > 0:
		return code.New(5733402, "A bounding array must be an ascending array of either two dates or two numbers")
	case doc.IsNumberBSON(s.low) && s.dates:
		return code.New(5733409, "Numeric bounds may not have unit parameter")
	case doc.IsNumberBSON(s.low) && !doc.IsNumberBSON(s.high):
		return code.New(5733406, "A bounding array must contain either both dates or both numeric types")
	case date && s.high.Type != s.low.Type:
		return code.New(5733405, "A bounding array must contain either both dates or both numeric types")
	case date && !s.dates:
		return code.New(5733410, "A bounding array of dates must specify a unit")
	case !date && !doc.IsNumberBSON(s.low):
		return code.New(5946800, "Explicit bounds must be numeric or dates")
	case !date && (s.low.Type != s.high.Type || s.low.Type != s.step.Type):
		return code.New(5876900, "Upper bound, lower bound, and step must all have the same type")
	}
	return nil
}
