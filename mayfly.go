// Package mayfly runs a mayfly inside a Go program or a test: a document database with the API of Azure Cosmos DB for
// NoSQL over HTTP, with the API of MongoDB if the option Mongo is given, and with exact time to live: documents
// expire at their second. Connect any Cosmos DB client to Endpoint with Key, and any MongoDB driver to MongoURI.
//
//	db, err := mayfly.Open(ctx, disk.Dir("data"))
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	fmt.Println(db.Endpoint(), db.Key())
//
// Package disk keeps the data in a folder; without it, everything is in memory. For tests, package mayflytest is more
// convenient.
package mayfly

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/embedded"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/node"
)

// The reasons why a clock does not move, for errors.Is.
var (
	// ErrRealClock is returned for a clock that moves by itself. Use VirtualClock.
	ErrRealClock = errors.New("mayfly: the clock is real and moves by itself")
	// ErrBackwards is returned for an instant before the present one.
	ErrBackwards = errors.New("mayfly: the clock moves forward only")
)

// closeTime is how long Close waits for running requests.
const closeTime = 10 * time.Second

// A DB is a running database. Its methods are safe for concurrent use.
type DB struct{ node *node.Node }

// Open starts a database, in memory and on a free port of 127.0.0.1 unless options say otherwise, and returns when it
// answers requests. ctx limits the opening only. The caller closes the database. Several databases can be open in one
// process.
func Open(ctx context.Context, opts ...Option) (*DB, error) {
	s := embedded.Settings{Node: node.Options{
		Memory: 2 << 30, NoSQL: "127.0.0.1:0", TLS: node.TLS{Off: true}, Mongo: node.Mongo{ReplSet: node.ReplSet},
	}}
	for _, o := range opts {
		o(&s)
	}
	s.Node.Engine = memory.New()
	if s.OpenEngine != nil {
		engine, err := s.OpenEngine(ctx, s, "")
		if err != nil {
			return nil, fmt.Errorf("mayfly: %w", err)
		}
		s.Node.Engine = engine
		s.Node.Reopen = func(ctx context.Context, dir string) (kv.Engine, error) { return s.OpenEngine(ctx, s, dir) }
	}
	n, err := node.Start(ctx, s.Node)
	if err != nil {
		return nil, fmt.Errorf("mayfly: %w", err)
	}
	return &DB{n}, nil
}

// Endpoint is the URL for Cosmos DB clients, https with the option TLS.
func (db *DB) Endpoint() string { return db.node.Endpoint() }

// MongoURI is the connection string for MongoDB drivers, "" without the option Mongo. On an address that other machines
// reach, clients have to authenticate, with any user name and Key as the password.
func (db *DB) MongoURI() string { return db.node.MongoURI() }

// Key is the account key in base64.
func (db *DB) Key() string { return db.node.Key() }

// CA is the certificate authority of an https Endpoint in PEM, nil without TLS.
func (db *DB) CA() []byte { return db.node.CA() }

// Clock is the clock by which documents expire.
func (db *DB) Clock() *Clock { return &Clock{db.node} }

// ReclaimNow returns when the space of every expired document is free. Clients see no difference.
func (db *DB) ReclaimNow(ctx context.Context) error { return db.node.ReclaimNow(ctx) }

// Close waits at most ten seconds for running requests, then cuts them off, and stops. It fails if a request does not
// end even then. Only the first call does anything; all calls return its error.
func (db *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return db.node.Close(ctx)
}

// A Clock is the clock of a database. It never runs backwards.
type Clock struct{ node *node.Node }

// Now is the present instant, in UTC.
func (c *Clock) Now() time.Time { return c.node.Clock().Now() }

// Advance moves the clock by d. When it returns, all work that became due is done, and no request sees an earlier
// instant. It fails with ErrRealClock or ErrBackwards.
func (c *Clock) Advance(d time.Duration) error {
	return c.move(func(now time.Time) time.Time { return now.Add(d) })
}

// Set moves the clock to t as Advance does.
func (c *Clock) Set(t time.Time) error {
	return c.move(func(time.Time) time.Time { return t })
}

func (c *Clock) move(to func(now time.Time) time.Time) error {
	_, err := c.node.Move(audit.With(context.Background(), audit.Who{API: audit.Program}), to)
	switch {
	case fault.KindOf(err) == fault.Conflict && !c.node.Virtual():
		return ErrRealClock
	case errors.Is(err, clock.ErrBackwards):
		return ErrBackwards
	case err != nil:
		return fmt.Errorf("mayfly: %w", err)
	}
	return nil
}
