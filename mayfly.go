// Package mayfly runs a mayfly inside a Go program or a test: a document
// database that speaks Azure Cosmos DB for NoSQL over HTTP, and MongoDB's wire protocol with the
// option Mongo, and whose documents end at their second. Point any Cosmos DB client at Endpoint
// with Key, any MongoDB driver at MongoURI.
//
//	db, err := mayfly.Open(ctx, disk.Dir("data"))
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	fmt.Println(db.Endpoint(), db.Key())
//
// Package disk keeps the data in a folder; without it, everything is in memory. Tests are better
// served by package mayflytest.
package mayfly

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/embedded"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/node"
)

// Reasons for which a clock does not move, for errors.Is.
var (
	// ErrRealClock is returned for a clock that moves by itself: open with VirtualClock.
	ErrRealClock = errors.New("mayfly: the clock is real and moves by itself")
	// ErrBackwards is returned for an instant before the present one.
	ErrBackwards = errors.New("mayfly: the clock moves forward only")
)

// closeTime is how long Close lets running requests go on.
const closeTime = 10 * time.Second

// A DB is a running database. Its methods are safe for concurrent use.
type DB struct{ node *node.Node }

// Open starts a database, in memory and on a free port of 127.0.0.1 unless
// options say otherwise, and returns when it answers. ctx bounds the opening only. The caller
// closes it. Several databases can be open in one process.
func Open(ctx context.Context, opts ...Option) (*DB, error) {
	s := embedded.Settings{Node: node.Options{Memory: 2 << 30, NoSQL: "127.0.0.1:0", TLS: node.TLS{Off: true}, Mongo: node.Mongo{ReplSet: node.ReplSet}}}
	for _, o := range opts {
		o(&s)
	}
	s.Node.Engine = memory.New()
	if s.OpenEngine != nil {
		engine, err := s.OpenEngine(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("mayfly: %w", err)
		}
		s.Node.Engine = engine
	}
	n, err := node.Start(ctx, s.Node)
	if err != nil {
		return nil, fmt.Errorf("mayfly: %w", err)
	}
	return &DB{n}, nil
}

// Endpoint is the URL for clients, https when open with TLS.
func (db *DB) Endpoint() string { return db.node.Endpoint() }

// MongoURI is the connection string of the MongoDB door, "" without the option Mongo. On an address
// that other machines reach, clients are user mayfly, or any name, with Key as password.
func (db *DB) MongoURI() string { return db.node.MongoURI() }

// Key is the account key in base64.
func (db *DB) Key() string { return db.node.Key() }

// CA is the certificate authority behind an https Endpoint in PEM, nil
// without TLS.
func (db *DB) CA() []byte { return db.node.CA() }

// Clock is the time by which documents end.
func (db *DB) Clock() *Clock { return &Clock{db.node} }

// ReclaimNow returns when the space of every expired document is free. It
// changes nothing that a client can see.
func (db *DB) ReclaimNow(ctx context.Context) error { return db.node.ReclaimNow(ctx) }

// Close finishes running requests, for at most ten seconds, and stops. It fails
// when one does not end even after it was cut off. Only
// the first call does something; all return its error.
func (db *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return db.node.Close(ctx)
}

// A Clock is a database's time. It never runs backwards.
type Clock struct{ node *node.Node }

// Now is the present instant, in UTC.
func (c *Clock) Now() time.Time { return c.node.Clock().Now() }

// Advance moves the clock by d. When it returns, that time has passed: what
// became due is done, and no request sees an earlier instant. It fails with ErrRealClock or ErrBackwards.
func (c *Clock) Advance(d time.Duration) error {
	return c.move(func(now time.Time) time.Time { return now.Add(d) })
}

// Set moves the clock to t as Advance does.
func (c *Clock) Set(t time.Time) error {
	return c.move(func(time.Time) time.Time { return t })
}

func (c *Clock) move(to func(now time.Time) time.Time) error {
	_, err := c.node.Move(context.Background(), to)
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
