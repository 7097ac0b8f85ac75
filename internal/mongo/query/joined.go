package query

import (
	"cmp"
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A Joined reads the other containers that the stages of a pipeline name.
type Joined struct {
	Cursor   *PipelineCursor
	Database string // of the command
}

// Failed gives an error and no rows.
func Failed(err error) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) { yield(nil, err) }
}

func none(func(doc.Doc, error) bool) {}

// Container finds a container; nil without an error if there is no such container.
func (s Joined) Container(n pipeline.Namespace) (*catalog.Container, string, error) {
	db := n.Database
	if db == "" {
		db = s.Database
	}
	c, err := s.Cursor.current.Find(db, n.Container)
	return c, db + "." + n.Container, err
}

// Documents gives the documents of a container, or the rows of a view.
func (s Joined) Documents(_ context.Context, from pipeline.Namespace, match *filter.Filter) pipeline.Rows {
	c, ns, err := s.Container(from)
	switch {
	case err != nil:
		return Failed(err)
	case c == nil:
		return s.given(from)
	case ViewOf(c) != nil:
		rows, err := s.Cursor.ViewRows(c, doc.Empty)
		if err != nil {
			return Failed(err)
		}
		return rows
	}
	if match != nil && match.NeedsScope() {
		match = nil // its variables are the stage's, which checks each document itself
	}
	q := &Selection{Container: c, Namespace: ns, Filter: match, Query: doc.Empty, memory: &s.Cursor.Holding}
	return resumable(func() *session.Operation { return s.Cursor.current }, q, &s.Cursor.Holding)
}

// given gives the documents of a collection that is in no container.
func (s Joined) given(from pipeline.Namespace) pipeline.Rows {
	o, db := s.Cursor.current, cmp.Or(from.Database, s.Database)
	if o.Node.Given == nil {
		return none
	}
	list, err := o.Node.Given(o, db, from.Container)
	if err != nil {
		return Failed(err)
	}
	return givenRows(func() *session.Operation { return s.Cursor.current }, &Selection{Given: list})
}

// Equal gives the documents that {path: {$in: values}} selects, by an index.
func (s Joined) Equal(
	_ context.Context, from pipeline.Namespace, path string, values []doc.Value,
) (pipeline.Rows, bool) {
	c, ns, err := s.Container(from)
	if err != nil {
		return Failed(err), true
	}
	if c == nil {
		return nil, false
	}
	o := s.Cursor.current
	// Without an index this would scan the container once for each set of values. The stage then reads all documents
	// once instead.
	if ViewOf(c) != nil || c.State().Dialect != catalog.Mongo || !s.indexed(c, path) {
		return nil, false
	}
	f, err := filter.Compile(inQuery(path, values), filter.Options{Meter: o.Work()})
	if err != nil {
		return Failed(err), true
	}
	return Rows(o,
		&Selection{Container: c, Namespace: ns, Filter: f, Query: doc.Empty, memory: &s.Cursor.Holding}), true
}

// indexed reports whether an index begins with a path.
func (s Joined) indexed(c *catalog.Container, path string) bool {
	if path == "_id" {
		return true
	}
	for _, x := range c.State().Named {
		// Partial and sparse indexes lack documents that null would select.
		if !x.Building && !x.Hidden && x.Partial == nil && !x.Sparse && !x.Wildcard && x.Columns[0].Path == path {
			return true
		}
	}
	return false
}

// inQuery is {path: {$in: values}}.
func inQuery(path string, values []doc.Value) doc.Doc {
	a := doc.NewWriter(nil)
	a.Object(path)
	a.Array("$in")
	for _, v := range values {
		if v.Type == 0 {
			// A missing value joins with null and with missing ones, and a query for null selects both.
			v = doc.Null()
		}
		a.Value(a.Index(), v)
	}
	a.Close()
	a.Close()
	return a.End()
}
