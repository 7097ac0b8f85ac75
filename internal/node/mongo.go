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

// ReplSet is the name of the replica set by default, as Azure has it.
const ReplSet = "globaldb"

// Mongo says how the MongoDB door looks.
type Mongo struct {
	// Address is host:port; empty switches the door off.
	Address string
	// Auth asks clients who they are: "on", "off", or "" for on unless only this machine
	// reaches the door. Off is refused where others reach it, unless the node is an emulator.
	Auth string
	// ReplSet, Advertise, CosmosTTL and TestCommands are those of command.Options. Without
	// Advertise, the host of Options.Advertise is advertised, if that is given.
	ReplSet      string
	Advertise    string
	CosmosTTL    bool
	TestCommands bool
}

// conditions compiles filters of partial indexes.
func conditions(query doc.Doc) (func(doc.Doc) bool, error) {
	f, err := filter.Compile(query, filter.Options{})
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the filter of a partial index cannot be read")
	}
	return func(d doc.Doc) bool {
		ok, err := f.Match(d, nil)
		return ok && err == nil
	}, nil
}

// mongoAuth tells whether MongoDB clients are asked who they are. It needs the account key: an
// emulator does not ask for one that everybody knows.
func (n *Node) mongoAuth(o Options) (bool, error) {
	switch exposed := n.mongo.exposed(); {
	case o.Mongo.Auth == "off" && exposed && !o.Emulator:
		return false, fault.New(fault.Invalid, "other machines reach %s: MongoDB does not go without authentication there, "+
			"except for development, with --emulator", n.mongo.address())
	case o.Mongo.Auth != "":
		return o.Mongo.Auth == "on", nil
	default:
		return exposed && !(o.Emulator && n.account.wellKnown), nil
	}
}

// keepLog lets the store keep the log that change streams read, if there may be some; what an earlier
// process has kept is of no use without what happens from now on.
func (n *Node) keepLog(ctx context.Context, o Options) error {
	if n.mongo == nil || o.Mongo.ReplSet == "" {
		return n.store.ForgetLog(ctx)
	}
	return n.store.KeepLog(ctx, n.clock.Now().Unix(), store.LogOptions{})
}

// openMongo lets the MongoDB door answer.
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
		Catalog: n.catalog, Store: n.store, Clock: n.clock, Budget: n.budget, Key: n.account.key, Auth: n.askMongo,
		ReplSet: o.Mongo.ReplSet, Advertise: advertise, Exposed: n.mongo.exposed(), CosmosTTL: o.Mongo.CosmosTTL, TestCommands: o.Mongo.TestCommands,
		TLS: n.mongoTLS(), ReclaimNow: n.reaper.ReclaimNow, Meter: metered{n, apiMongo}, Slow: o.Slow, Version: version, Logger: n.log, Hints: n.hints,
		Reclaimed: n.reaper.Reclaimed,
	})
	for _, l := range n.mongo.listeners {
		n.mongo.serving.Go(func() {
			if err := n.mongoServer.Serve(l); err != nil && !errors.Is(err, net.ErrClosed) {
				n.log.Error("door failed", "door", n.mongo.name, "error", err)
			}
		})
	}
	return nil
}

// closeMongo ends the MongoDB door.
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

// MongoURI is the connection string of the MongoDB door, without user and password; "" when it is off. It names
// no replica set, since clients find that out where there is one.
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

// mongoTLS reports that the MongoDB door answers nothing but TLS.
func (n *Node) mongoTLS() bool { return n.mongo.scheme == "https" && n.certs.authority == nil }

// MongoAuth reports whether the MongoDB door asks clients who they are.
func (n *Node) MongoAuth() bool { return n.mongoServer != nil && n.mongoServer.Auth() }
