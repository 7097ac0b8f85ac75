package node

import (
	"context"
	"errors"
	"net"
	"net/url"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/store"
)

// ReplSet is the default name of the replica set, the one that Azure uses.
const ReplSet = "globaldb"

// Mongo configures the API for MongoDB.
type Mongo struct {
	// Address is host:port; empty switches the API off.
	Address string
	// Auth says whether clients have to authenticate: "on", "off", or "" for on if other machines reach the API.
	// Off is not allowed if they do, except for an emulator.
	Auth string
	// ReplSet, Advertise, CosmosTTL and TestCommands are those of command.Options. The default of Advertise is
	// the host of Options.Advertise with the port of the API.
	ReplSet      string
	Advertise    string
	CosmosTTL    bool
	TestCommands bool
}

// conditions compiles filters of partial indexes.
func conditions(query doc.Doc) (func(doc.Doc) bool, error) {
	f, err := filter.Compile(query, filter.Options{})
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the filter of a partial index is not valid")
	}
	return func(d doc.Doc) bool {
		ok, err := f.Match(d, nil)
		return ok && err == nil
	}, nil
}

// chooseMongoAuth decides whether MongoDB clients have to authenticate. The account key is chosen before: an emulator
// does not ask for a password that everybody knows.
func (n *Node) chooseMongoAuth(o Options) (bool, error) {
	switch exposed := n.mongo.exposed(); {
	case o.Mongo.Auth == "off" && exposed && !o.Emulator:
		return false, fault.New(fault.Invalid, "other machines can reach %s: the API for MongoDB needs authentication "+
			"there, except for development, with --emulator", n.mongo.address())
	case o.Mongo.Auth != "":
		return o.Mongo.Auth == "on", nil
	default:
		return exposed && !(o.Emulator && n.account.wellKnown), nil
	}
}

// keepLog makes the store keep the log that change streams read, if clients can open change streams. Otherwise it
// deletes the log of an earlier process: change streams cannot resume across a gap.
func (n *Node) keepLog(ctx context.Context, o Options) error { return n.keepLogOf(ctx, n.store, o) }

func (n *Node) keepLogOf(ctx context.Context, st *store.Store, o Options) error {
	if n.catalog.Shared() {
		return nil // of all processes, none keeps one
	}
	if n.mongo == nil || o.Mongo.ReplSet == "" {
		return st.ForgetLog(ctx)
	}
	return st.KeepLog(ctx, n.clock.Now().Unix(), store.LogOptions{})
}

// openMongo makes the API for MongoDB answer. Without an address it still answers the admin API.
func (n *Node) openMongo(o Options, version string) error {
	if n.mongo == nil {
		if n.admin != nil {
			o.Mongo.ReplSet = "" // nobody reads change streams, so no log is kept
			n.localMongo = command.New(n.mongoOptions(o, "", version))
		}
		return nil
	}
	n.mongoServer = command.New(n.mongoOptions(o, n.advertisedMongo(), version))
	n.localMongo = n.mongoServer
	for _, l := range n.mongo.listeners {
		n.mongo.serving.Go(func() {
			if err := n.mongoServer.Serve(l); err != nil && !errors.Is(err, net.ErrClosed) {
				n.log.Error("an API stopped accepting connections", "api", n.mongo.name, "error", err)
			}
		})
	}
	return nil
}

// advertisedMongo is the host:port of the API for MongoDB that clients are told, "" for the one that they have asked
// for.
func (n *Node) advertisedMongo() string {
	advertise, host := n.options.Mongo.Advertise, hostOf(n.options.Advertise)
	if advertise != "" || host == "" {
		return advertise
	}
	_, port, _ := net.SplitHostPort(n.mongo.address())
	return net.JoinHostPort(host, port)
}

func (n *Node) mongoOptions(o Options, advertise, version string) command.Options {
	if sharesData(n.engine) {
		// Transactions, retryable writes and change streams rest on what one process has in memory, so a client must
		// not be told that they work through any of several.
		o.Mongo.ReplSet, advertise = "", ""
	}
	return command.Options{
		Catalog: n.catalog, Store: n.store, Clock: n.clock, Budget: n.budget, Keys: n.keys, Auth: n.mongoAuth,
		ReplSet: o.Mongo.ReplSet, Advertise: advertise, Exposed: n.mongo.exposed(), CosmosTTL: o.Mongo.CosmosTTL,
		TestCommands: o.Mongo.TestCommands, TLS: n.mongo != nil && n.mongoTLS(), Gate: n.gate,
		Meter: metered{n, apiMongo}, Slow: n.slow, Version: version, Logger: n.log, Hints: n.hints,
		// Both are called within the gate.
		ReclaimNow: func(ctx context.Context) error { return n.reaper.ReclaimNow(ctx) },
		Reclaimed:  func() uint64 { return n.reaper.Reclaimed() },
		Tracer:     o.Tracer,
	}
}

// closeMongo closes the API for MongoDB.
func (n *Node) closeMongo(ctx context.Context) error {
	switch {
	case n.mongo == nil && n.localMongo != nil:
		return n.localMongo.Close(ctx)
	case n.mongo == nil:
		return nil
	case n.mongoServer == nil:
		return n.mongo.close(ctx)
	}
	err := n.mongoServer.Close(ctx)
	n.mongo.serving.Wait()
	return err
}

// MongoURI is the connection string of the API for MongoDB, without user and password; "" when it is off. It names no
// replica set: clients discover that.
func (n *Node) MongoURI() string {
	if n.mongo == nil {
		return ""
	}
	at := n.mongo.address()
	if host, port, _ := net.SplitHostPort(at); net.ParseIP(host).IsUnspecified() {
		at = net.JoinHostPort("localhost", port)
	}
	return n.mongoURI(at)
}

func (n *Node) mongoURI(at string) string {
	u := url.URL{Scheme: "mongodb", Host: at, Path: "/"}
	if n.mongoTLS() {
		u.RawQuery = "tls=true"
	}
	return u.String()
}

// mongoTLS reports whether the API for MongoDB answers TLS only.
func (n *Node) mongoTLS() bool { return n.mongo.scheme == "https" && n.certs.authority == nil }

// MongoAuth reports whether MongoDB clients have to authenticate.
func (n *Node) MongoAuth() bool { return n.mongoServer != nil && n.mongoServer.Auth() }
