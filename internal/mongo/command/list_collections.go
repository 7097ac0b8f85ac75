package command

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

func listCollections(r *request, a *answer) error {
	nameOnly := r.bool("nameOnly", false)
	r.bool("authorizedCollections", false)
	accepts, err := compileListFilter(r)
	if err != nil {
		return err
	}
	size := r.batchSize("cursor", doc.Lookup(r.document("cursor"), "batchSize"), maxBatchCount)
	if r.err != nil {
		return r.err
	}
	containers, err := r.s.containersOf(r.db)
	if err != nil {
		return err
	}
	var rows []doc.Doc
	for _, c := range containers {
		row := describe(c, nameOnly)
		ok, err := accepts(row)
		if err != nil {
			return err
		}
		if ok {
			rows = append(rows, row)
		}
	}
	return r.reply(a, r.db+".$cmd.listCollections", &listed{documents: rows}, size, nil)
}

// compileListFilter compiles the member filter of a command that lists containers or databases; without one, everything
// passes.
func compileListFilter(r *request) (func(doc.Doc) (bool, error), error) {
	query := bytes.Clone(r.document("filter"))
	if r.err != nil {
		return nil, r.err
	}
	if doc.IsEmpty(query) {
		return func(doc.Doc) (bool, error) { return true, nil }, nil
	}
	f, err := filter.Compile(query, filter.Options{Meter: r.Work()})
	if err != nil {
		return nil, err
	}
	scope := r.Scope(nil, nil)
	return func(d doc.Doc) (bool, error) {
		scope.Reset(doc.Object(d))
		return f.Match(d, scope)
	}, nil
}

// containersOf lists the containers of a database, none if the database does not exist.
func (s *Server) containersOf(db string) ([]*catalog.Container, error) {
	d, err := s.o.Catalog.Database(db)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.o.Catalog.Containers(d), nil
}

// describe is a container as listCollections shows it.
func describe(c *catalog.Container, nameOnly bool) doc.Doc {
	st, isView := c.State(), query.ViewOf(c) != nil
	a := doc.NewWriter(nil)
	a.String("name", st.Name)
	if isView {
		a.String("type", "view")
	} else {
		a.String("type", "collection")
	}
	if nameOnly {
		return a.End()
	}
	a.Object("options")
	if st.Dialect == catalog.Mongo {
		a.Members(st.Echo)
	}
	a.Close()
	a.Object("info")
	a.Bool("readOnly", isView || st.Dialect != catalog.Mongo)
	if !isView {
		a.Value("uuid", write.UUIDOf(c))
	}
	a.Close()
	if !isView {
		a.Object("idIndex")
		a.Int32("v", 2)
		a.Object("key")
		a.Int32("_id", 1)
		a.Close()
		a.String("name", "_id_")
		a.Close()
	}
	return a.End()
}
