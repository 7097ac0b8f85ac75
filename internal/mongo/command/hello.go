package command

import (
	"encoding/binary"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// What the handshake tells a client.
const (
	maxWireVersion  = 21 // MongoDB 7.0
	sessionMinutes  = 30
	replicaVersion  = 1 // of the configuration of the replica set, which never changes
	replicaPriority = 1
)

// hello is the handshake, and how clients monitor the server.
// https://github.com/mongodb/specifications/blob/master/source/mongodb-handshake/handshake.md
func hello(r *request, a *answer) error {
	if v := r.Get("client"); v.Type != 0 {
		d, ok := doc.AsDoc(v)
		if !ok {
			return code.New(code.TypeMismatch, "The client metadata document must be a document")
		}
		if err := r.c.introduce(d); err != nil {
			return err
		}
	}
	if err := awaitTopology(r); err != nil {
		return err
	}
	if call.IsTrue(r.Get("helloOk")) {
		a.Bool("helloOk", true)
	}
	r.topology(a)
	a.Int32("maxBsonObjectSize", update.MaxBytes)
	a.Int32("maxMessageSizeBytes", wire.MaxMessage)
	a.Int32("maxWriteBatchSize", maxWriteBatch)
	a.Date("localTime", r.At.UnixMilli())
	a.Int32("logicalSessionTimeoutMinutes", sessionMinutes)
	a.Int32("connectionId", int(r.c.id))
	a.Int32("minWireVersion", 0)
	a.Int32("maxWireVersion", maxWireVersion)
	a.Bool("readOnly", false)
	r.compression(a)
	if call.IsTrue(r.Get("loadBalanced")) && r.Node.Shares {
		r.c.balanced = true
		a.ObjectID("serviceId", r.s.processID)
	}
	return r.greetUser(a)
}

// topology writes what the server is: a member of a replica set, a mongos, or stand-alone. See discovery.go.
func (r *request) topology(a *answer) {
	writable := "isWritablePrimary"
	if r.Name == "isMaster" {
		writable = "ismaster"
	}
	if !r.c.inSet() {
		a.Bool(writable, true)
		if r.Node.Replicates {
			a.String("msg", "isdbgrid")
		}
		writeTopologyVersion(r, a)
		return
	}
	writeTopologyVersion(r, a)
	a.Strings("hosts", []string{r.Address()})
	a.String("setName", r.s.o.ReplSet)
	a.Int32("setVersion", replicaVersion)
	a.Bool(writable, true)
	a.Bool("secondary", false)
	a.String("primary", r.Address())
	a.String("me", r.Address())
	a.ObjectID("electionId", r.s.electionID())
	a.Object("lastWrite")
	r.optime(a, "opTime")
	a.Date("lastWriteDate", r.At.Unix()*1000)
	r.optime(a, "majorityOpTime")
	a.Date("majorityWriteDate", r.At.Unix()*1000)
	a.Close()
}

// term counts elections: each start of the server is one.
func (s *Server) term() int64 { return s.monitor.Started.Unix() }

// electionID rises from start to start, because clients ignore a primary whose id is lower than one that they know.
func (s *Server) electionID() (id [12]byte) {
	binary.BigEndian.PutUint32(id[:], 0x7fffffff)
	binary.BigEndian.PutUint64(id[4:], uint64(s.term()))
	return id
}

func (r *request) optime(a *answer, name string) {
	a.Object(name)
	ts := r.ClusterTime()
	if ts.Type == 0 {
		ts = doc.Timestamp(uint32(r.At.Unix()), 1)
	}
	a.Value("ts", ts)
	a.Int64("t", r.s.term())
	a.Close()
}

func (r *request) compression(a *answer) {
	var names []string
	for v := range doc.Elements(r.Get("compression")) {
		if s, ok := doc.AsString(v); ok && len(names) < 10 {
			names = append(names, s)
		}
	}
	if agreed := wire.Negotiate(names); len(agreed) > 0 {
		a.Strings("compression", agreed)
	}
}

// greetMechanisms writes by which mechanisms a user can authenticate.
// mongodb/mongo: src/mongo/db/auth/sasl_mechanism_registry.cpp, advertiseMechanismNamesForUser
func (r *request) greetMechanisms(a *answer) error {
	v := r.Get("saslSupportedMechs")
	text, isText := doc.AsString(v)
	d, isDoc := doc.AsDoc(v)
	database, name, ok := strings.Cut(text, ".")
	switch {
	case v.Type == 0:
		return nil
	case isDoc:
		database, _ = doc.AsString(doc.Lookup(d, "db"))
		name, _ = doc.AsString(doc.Lookup(d, "user"))
	case !isText:
		return r.WrongType("saslSupportedMechs", v, "[string, object]")
	case !ok:
		return code.New(code.BadValue, "username must contain a '.' separated database.user pair")
	}
	u, _, err := r.s.accounts.Find(database, name)
	switch {
	case err != nil:
	case u != nil:
		a.Strings("saslSupportedMechs", account.MechanismNames(u.Mechanisms()))
	case r.s.accounts.OpensByKey(name):
		a.Strings("saslSupportedMechs", account.MechanismNames(account.Mechanisms))
	}
	return err
}

// greetUser answers what a client asks about a user, and takes the first step of an authentication that came with the
// handshake, if that succeeds.
func (r *request) greetUser(a *answer) error {
	if err := r.greetMechanisms(a); err != nil {
		return err
	}
	first := r.Document("speculativeAuthenticate")
	if doc.Lookup(first, "saslStart").Type == 0 || r.c.auth.failures >= maxFailures {
		return r.Err
	}
	database, ok := doc.AsString(doc.Lookup(first, "db"))
	if !ok {
		database = account.AdminDatabase
	}
	x, reply, err := r.c.startExchange(database, first)
	if err != nil {
		return nil
	}
	if x.LacksCredential() { // the client has guessed the wrong mechanism, and goes on with saslStart
		r.c.auth.exchange = nil
		return nil
	}
	a.Object("speculativeAuthenticate")
	x.write(a, reply, false)
	a.Close()
	return nil
}
