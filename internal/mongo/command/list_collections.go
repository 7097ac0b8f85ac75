package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

func listCollections(r *request, a *answer) error {
	nameOnly := r.bool("nameOnly", false)
	r.bool("authorizedCollections", false)
	accepts, err := r.listFilter()
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

// listFilter compiles the member filter of a command that lists containers or databases; without one, everything
// passes.
func (r *request) listFilter() (func(doc.Doc) (bool, error), error) {
	query := bytes.Clone(r.document("filter"))
	if r.err != nil {
		return nil, r.err
	}
	if doc.IsEmpty(query) {
		return func(doc.Doc) (bool, error) { return true, nil }, nil
	}
	f, err := filter.Compile(query, filter.Options{Meter: r.work()})
	if err != nil {
		return nil, err
	}
	scope := r.scope(nil, nil)
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

// describe gives a container as listCollections shows it.
func describe(c *catalog.Container, nameOnly bool) doc.Doc {
	st, isView := c.State(), viewOf(c) != nil
	a := newAnswer(nil)
	a.string("name", st.Name)
	if isView {
		a.string("type", "view")
	} else {
		a.string("type", "collection")
	}
	if nameOnly {
		return a.end()
	}
	a.object("options")
	if st.Dialect == catalog.Mongo {
		a.members(st.Echo)
	}
	a.close()
	a.object("info")
	a.bool("readOnly", isView || st.Dialect != catalog.Mongo)
	if !isView {
		a.value("uuid", uuidOf(c))
	}
	a.close()
	if !isView {
		a.object("idIndex")
		a.int32("v", 2)
		a.object("key")
		a.int32("_id", 1)
		a.close()
		a.string("name", "_id_")
		a.close()
	}
	return a.end()
}

// uuidOf makes the UUID of a container from its number, which is never given to another one.
func uuidOf(c *catalog.Container) doc.Value {
	sum := sha256.Sum256(binary.BigEndian.AppendUint32([]byte("mayfly container "), c.ID))
	id := sum[:16]
	// Version 8 is for UUIDs made by a rule of one's own: RFC 9562 section 5.8.
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return doc.Value{Type: bsoncore.TypeBinary, Data: append([]byte{16, 0, 0, 0, 4}, id...)}
}
