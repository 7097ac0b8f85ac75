package session_test

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

var start = time.Unix(1_000_000, 0)

// A server is a node over an engine in memory, with one container.
type server struct {
	session.Node
	t     testing.TB
	clock *clock.Virtual
	c     *catalog.Container
}

// serve opens a node whose requests may hold that many bytes together.
func serve(t testing.TB, bytes int64) *server {
	t.Helper()
	s := &server{t: t, clock: clock.NewVirtual(start)}
	engine := memory.New()
	var err error
	s.Catalog, err = catalog.Open(t.Context(), engine, nil)
	s.ok(err)
	s.Store, err = store.Open(t.Context(), engine, s.Catalog)
	s.ok(err)
	s.Clock, s.Budget = s.clock, budget.New(budget.Options{Memory: bytes})
	running, stop := context.WithCancel(context.Background())
	s.Running, s.Lifetime = running, func() time.Duration { return time.Hour }
	s.Interrupt = func(*session.Operation, []*session.Session) {}
	s.Open()
	t.Cleanup(func() {
		stop()
		s.Cursors.Stop()
		s.Close()
		s.ok(s.Store.Close())
		s.ok(engine.Close())
	})
	db, err := s.Catalog.CreateDatabase(t.Context(), start.Unix(), "d", nil)
	s.ok(err)
	s.c, err = s.Catalog.CreateContainer(t.Context(), start.Unix(), db, catalog.Definition{
		Name: "c", Dialect: catalog.Mongo, Partition: catalog.PartitionKey{Paths: []string{"/_pk"}, Version: 2},
		Indexing: catalog.Indexing{None: true},
	}, nil)
	s.ok(err)
	return s
}

func (s *server) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// session gives the session of a client, by its number.
func (s *server) session(client int) *session.Session {
	s.t.Helper()
	x, err := s.Sessions.Find(start, keyOf(client))
	s.ok(err)
	return x
}

func keyOf(client int) (k session.Key) {
	binary.BigEndian.PutUint64(k.ID[:], uint64(client))
	return k
}

// operation is a command in a session.
func (s *server) operation(x *session.Session) *session.Operation {
	return &session.Operation{
		Node: &s.Node, Context: s.t.Context(), At: start, Now: start.Unix(), Session: x, Memory: new(session.Memory),
	}
}

// create stores {_id: id, n: 0}.
func (s *server) create(id int64) {
	s.t.Helper()
	_, err := s.Store.Write(s.t.Context(), s.c, start.Unix(), store.Op{
		Verb: store.Create, Key: store.Identity(doc.Int(id)), Body: counter(id, 0),
	})
	s.ok(err)
}

func counter(id, n int64) doc.Doc {
	a := doc.NewWriter(nil)
	a.Int64("_id", id)
	a.Int64("n", n)
	return a.End()
}

// increment adds one to the n of a document.
func increment(id int64) store.Op {
	edit := func(d access.Document) (doc.Doc, error) {
		n, _ := doc.AsInt(doc.Lookup(d.Body, "n"))
		return counter(id, n+1), nil
	}
	return store.Op{Verb: store.Patch, Key: store.Identity(doc.Int(id)), Edit: edit}
}

// count is the n of a document.
func (s *server) count(id int64) (n int64) {
	s.t.Helper()
	o := s.operation(nil)
	v, err := o.Enter(s.c)
	s.ok(err)
	_, err = o.Read(v, doc.Int(id), func(d access.Document) error {
		n, _ = doc.AsInt(doc.Lookup(d.Body, "n"))
		return nil
	})
	s.ok(err)
	return n
}
