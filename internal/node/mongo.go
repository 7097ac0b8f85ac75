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
func (n *Node) keepLog(ctx context.Context, o Options) error {
	if n.mongo == nil || o.Mongo.ReplSet == "" {
		return n.store.ForgetLog(ctx)
	}
	return n.store.KeepLog(ctx, n.clock.Now().Unix(), store.LogOptions{})
}

// openMongo makes the API for MongoDB answer.
func (n *Node) openMongo(o Options, version string) error {
	if n.mongo == nil {
		return nil
	}
	advertise := o.Mongo.Advertise
	if host := hostOf(o.Advertise); advertise == "" && host != "" {
		_, port, _ := net.SplitHostPort(n.mongo.address())
		advertise = net.JoinHostPort(host, port)
	}
	n.mongoServer = command.New(command.Options{
		Catalog: n.catalog, Store: n.store, Clock: n.clock, Budget: n.budget, Key: n.account.key, Auth: n.mongoAuth,
		ReplSet: o.Mongo.ReplSet, Advertise: advertise, Exposed: n.mongo.exposed(), CosmosTTL: o.Mongo.CosmosTTL,
		TestCommands: o.Mongo.TestCommands, TLS: n.mongoTLS(), ReclaimNow: n.reaper.ReclaimNow,
		Meter: metered{n, apiMongo}, Slow: o.Slow, Version: version, Logger: n.log, Hints: n.hints,
		Reclaimed: n.reaper.Reclaimed,
	})
	for _, l := range n.mongo.listeners {
		n.mongo.serving.Go(func() {
			if err := n.mongoServer.Serve(l); err != nil && !errors.Is(err, net.ErrClosed) {
				n.log.Error("an API stopped accepting connections", "door", n.mongo.name, "error", err)
			}
		})
	}
	return nil
}

// closeMongo closes the API for MongoDB.
func (n *Node) closeMongo(ctx context.Context) error {
	switch {
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
	u := url.URL{Scheme: "mongodb", Host: n.mongo.address(), Path: "/"}
	if host, port, _ := net.SplitHostPort(u.Host); net.ParseIP(host).IsUnspecified() {
		u.Host = net.JoinHostPort("localhost", port)
	}
	if n.mongoTLS() {
		u.RawQuery = "tls=true"
	}
	return u.String()
}

// mongoTLS reports whether the API for MongoDB answers TLS only.
func (n *Node) mongoTLS() bool { return n.mongo.scheme == "https" && n.certs.authority == nil }

// MongoAuth reports whether MongoDB clients have to authenticate.
func (n *Node) MongoAuth() bool { return n.mongoServer != nil && n.mongoServer.Auth() }
