package pipeline

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A graphLookup is $graphLookup: a breadth-first search through a container, from value to value.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/graphLookup/
type graphLookup struct {
	from      Namespace
	as        path
	startWith *expression.Expression
	out, in   path // connectFromField and connectToField
	inText    string
	maxDepth  int64 // -1 for none
	depth     path  // depthField, nil for none
	restrict  *filter.Filter
}

func (s *graphLookup) name() string { return "$graphLookup" }

func (s *graphLookup) containers(see func(Namespace, bool)) { see(s.from, false) }

func (s *graphLookup) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		server, err := r.server("$graphLookup")
		if err != nil {
			yield(nil, err)
			return
		}
		by := &equality{r: r, server: server, from: s.from, path: s.in, text: s.inText}
		scope := r.scope()
		var buf []byte
		for d, err := range in {
			var found doc.Value
			if err == nil {
				scope.Reset(doc.Object(d))
				found, err = s.search(r, by, scope)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			buf = s.as.appendSet(buf[:0], d, found)
			if !yield(buf, nil) {
				return
			}
		}
	}
}

// A search is the state of the search for one document.
type search struct {
	held     budget
	seen     map[string]bool // _id of documents
	asked    map[string]bool // values
	frontier []doc.Value
	found    list
	key      []byte
}

// ask adds a value to the frontier, unless it has been there before.
func (w *search) ask(v doc.Value) {
	w.key = doc.AppendCanonicalBSON(w.key[:0], v)
	if !w.asked[string(w.key)] {
		w.asked[string(w.key)] = true
		w.frontier = append(w.frontier, doc.Clone(v))
		w.held.used += 2*len(w.key) + entryBytes
	}
}

func (s *graphLookup) search(r *run, by *equality, scope *expression.Scope) (doc.Value, error) {
	w := &search{held: budget{stage: "$graphLookup"}, seen: map[string]bool{}, asked: map[string]bool{}}
	start, err := s.startWith.Evaluate(scope)
	if err != nil {
		return doc.Value{}, err
	}
	if doc.IsArray(start) {
		for e := range doc.Elements(start) {
			if err := r.meter.Spend(20 + work.Scanned(len(e.Data))); err != nil {
				return doc.Value{}, err
			}
			w.ask(e)
		}
	} else if start.Type != 0 {
		w.ask(start)
	}
	matching := r.scope()
	for depth := int64(0); len(w.frontier) > 0 && (s.maxDepth < 0 || depth <= s.maxDepth); depth++ {
		values := w.frontier
		w.frontier = nil
		for d, err := range by.find(values, true) {
			if err == nil {
				err = r.meter.Spend(work.Operator + work.Scanned(4*len(d)))
			}
			if err == nil {
				err = s.meet(w, d, depth, matching)
			}
			if err != nil {
				return doc.Value{}, err
			}
		}
	}
	return w.found.value(), nil
}

// meet adds a document that the search has found.
func (s *graphLookup) meet(w *search, d doc.Doc, depth int64, scope *expression.Scope) error {
	missing := true
	m := scope.Work()
	s.in.values(m, doc.Object(d), func(doc.Value) { missing = false })
	if missing {
		return nil // a null in connectFromField is a value, a missing field is not
	}
	if s.restrict != nil {
		scope.Reset(doc.Object(d))
		if ok, err := s.restrict.Match(d, scope); err != nil || !ok {
			return err
		}
	}
	w.key = doc.AppendCanonicalBSON(w.key[:0], doc.Lookup(d, "_id"))
	if w.seen[string(w.key)] {
		return nil
	}
	w.seen[string(w.key)] = true
	if s.depth != nil {
		d = s.depth.appendSet(nil, d, doc.Int(depth))
	}
	w.found.add(doc.Object(d))
	if err := w.held.take(len(d) + len(w.key) + entryBytes); err != nil {
		return err
	}
	s.out.values(m, doc.Object(d), func(v doc.Value) {
		w.ask(v)
		_ = m.Spend(indexCost + work.Scanned(len(v.Data)))
	})
	return cmp.Or(m.Err(), w.held.take(0))
}

func parseGraphLookup(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(code.FailedToParse, "the $graphLookup stage specification must be an object, but found %s",
			code.TypeName(arg))
	}
	s := &graphLookup{maxDepth: -1}
	for name, v := range doc.Members(arg.Data) {
		if err := s.option(c, name, v); err != nil {
			return nil, err
		}
	}
	if s.from.Container == "" || s.as == nil || s.startWith == nil || s.out == nil || s.in == nil {
		return nil, code.New(40105,
			"$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be "+
				"specified.")
	}
	return s, nil
}

func (s *graphLookup) option(c *compiler, name string, v doc.Value) (err error) {
	switch name {
	case "startWith":
		s.startWith, err = expression.Compile(v, c.names)
		return err
	case "maxDepth":
		return s.parseMaxDepth(v)
	case "restrictSearchWithMatch":
		if !isObject(v) {
			return code.New(40185, "restrictSearchWithMatch must be an object, found %s", code.TypeName(v))
		}
		if s.restrict, err = filter.Compile(v.Data, filter.Options{Names: c.names}); err != nil {
			return within("Failed to parse 'restrictSearchWithMatch' option to $graphLookup", err)
		}
		return nil
	}
	if !slices.Contains([]string{"from", "as", "connectFromField", "connectToField", "depthField"}, name) {
		return code.New(40104, "Unknown argument to $graphLookup: %s", name)
	}
	if v.Type != bsoncore.TypeString {
		return code.New(40103, "expected string as argument for %s, found: %s", name, code.TypeName(v))
	}
	text, _ := doc.AsString(v)
	switch name {
	case "from":
		s.from.Container = text
	case "as":
		s.as, err = parsePath(text)
	case "connectFromField":
		s.out, err = parsePath(text)
	case "connectToField":
		s.inText = text
		s.in, err = parsePath(text)
	case "depthField":
		s.depth, err = parsePath(text)
	}
	return err
}

func (s *graphLookup) parseMaxDepth(v doc.Value) error {
	if !doc.IsNumberBSON(v) {
		return code.New(40100, "maxDepth must be numeric, found type: %s", code.TypeName(v))
	}
	n, ok := doc.AsInt64Exact(v)
	switch {
	case float(v) < 0:
		return code.New(40101, "maxDepth requires a nonnegative argument, found: %s", code.Show(v))
	case !ok:
		return code.New(40102, "maxDepth could not be represented as a long long: %s", code.Show(v))
	}
	s.maxDepth = n
	return nil
}
