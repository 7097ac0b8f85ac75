package command

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Limits of sessions. They are forgotten when nobody has used them for sessionMinutes.
const (
	maxSessions  = 100_000
	sessionTime  = sessionMinutes * time.Minute
	lookEvery    = time.Minute // for sessions that are to be forgotten
	lookWhenFull = time.Second
)

// Kinds of binary data. https://bsonspec.org/spec.html
const (
	genericBinary = 0
	uuidBinary    = 4
)

// sessions are the logical sessions of a server, and what is open in them.
// https://github.com/mongodb/specifications/blob/master/source/sessions/driver-sessions.md
type sessions struct {
	s      *Server
	most   int // sessions
	mu     sync.Mutex
	of     map[sessionKey]*session
	looked clock.Stopwatch // since the last look for old ones

	transactions
	kept replies
	last atomic.Uint64 // the newest cluster time that was told
}

// A sessionKey tells sessions apart: users have their own.
type sessionKey struct {
	id   [16]byte
	user account.Identity
}

// A session is a logical session: what retries and transactions belong to.
type session struct {
	key  sessionKey
	id   string       // key.id
	used atomic.Int64 // uptime of the server at the last use
	seen atomic.Int64 // the same, in Unix milliseconds of the clock
	gone atomic.Bool  // it has been forgotten

	turn chan struct{} // full while a request with a transaction number runs; what follows is its

	number int64  // the newest transaction number, -1 before the first
	stage  stage  // of that
	reply  *reply // to the retryable write of that number
	tx     *transaction
}

// A stage is what has become of a transaction number.
type stage uint8

const (
	retryable  stage = iota // it is that of a retryable write
	inProgress              // of a transaction that is open
	committed
	aborted
)

// A membership is what a request has to do with its session.
type membership struct {
	session *session     // nil when the request names none
	tx      *transaction // nil outside of a multi-document transaction

	turn     bool      // the request has the session's
	repeated bool      // the answer is that of an earlier request
	wrote    bool      // something may have been written
	told     doc.Value // cluster time, once it was asked for
	forced   *forced   // what a fail point wants
	severed  bool      // a fail point wants that there is no answer
}

func (s *sessions) init(server *Server) {
	s.s, s.most, s.of, s.looked = server, maxSessions, map[sessionKey]*session{}, clock.Start()
	s.transactions.init()
	s.kept.init(server.o.Budget)
}

// close ends all that is open; no request runs any more.
func (s *sessions) close() {
	s.sweeper.Wait()
	for _, t := range s.running() {
		t.session.abort(s)
	}
	s.kept.close()
}

// join finds the session, retry and transaction that a request belongs to, before its command
// runs; r.repeated when the answer is written already.
func (r *request) join(a *answer) error {
	if r.s.o.Auth && r.c.user == nil {
		return nil
	}
	if err := r.checkSession(); err != nil {
		return err
	}
	if err := r.checkConcerns(); err != nil {
		return err
	}
	if r.lsid.Type == 0 {
		return nil
	}
	key, err := r.sessionKey()
	if err != nil {
		return err
	}
	if err := r.attend(key); err != nil || !r.hasTxn {
		return err
	}
	if r.autocommit.Type != 0 {
		return r.joinTransaction()
	}
	return r.joinRetry(a)
}

// attend finds the session, and waits for its turn when the request has a transaction number.
func (r *request) attend(key sessionKey) error {
	for {
		x, err := r.s.sessions.find(r, key)
		if err != nil {
			return err
		}
		r.c.mu.Lock()
		r.session = x
		r.c.mu.Unlock()
		if !r.hasTxn {
			return nil
		}
		if err := x.take(r.ctx); err != nil {
			return err
		}
		if !x.gone.Load() {
			r.turn = true
			return nil
		}
		x.release()
	}
}

func (x *session) take(ctx context.Context) error {
	select {
	case x.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *session) tryTake() bool {
	select {
	case x.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

func (x *session) release() { <-x.turn }

// leave is called when the command has run, or join has failed.
func (r *request) leave(a *answer, err error) error {
	if r.turn {
		switch {
		case r.tx != nil && r.tx.over(err):
			r.session.abort(&r.s.sessions)
		case err == nil && !r.repeated && r.autocommit.Type == 0:
			r.remember(a)
		}
		r.session.release()
		r.turn = false
	}
	if err == nil {
		r.answerConcern(a)
	}
	return err
}

// find gives the session of a key, a new one when there is none.
func (s *sessions) find(r *request, key sessionKey) (*session, error) {
	uptime := s.s.uptime.Elapsed()
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.of[key]
	if x == nil {
		s.forgetOld(uptime)
		if len(s.of) >= s.most {
			return nil, code.New(code.TooManyLogicalSessions, "Unable to add session into the cache because the number of active sessions is too high")
		}
		x = &session{key: key, id: string(key.id[:]), number: -1, turn: make(chan struct{}, 1)}
		s.of[key] = x
	}
	x.used.Store(int64(uptime))
	x.seen.Store(r.at.UnixMilli())
	return x, nil
}

// forgetOld drops sessions that nobody has used for long, now and then; when there are too many, also
// those that have nothing to remember.
func (s *sessions) forgetOld(uptime time.Duration) {
	full := len(s.of) >= s.most
	if since := s.looked.Elapsed(); since < lookWhenFull || !full && since < lookEvery {
		return
	}
	s.looked = clock.Start()
	s.forgetIdle(uptime-sessionTime, full)
}

// forgetIdle drops sessions that nobody has used since the server had been up for so long.
func (s *sessions) forgetIdle(since time.Duration, full bool) {
	for _, x := range s.of {
		if !x.tryTake() {
			continue
		}
		idle := time.Duration(x.used.Load()) < since
		if x.tx == nil && (idle || full && x.number < 0) {
			s.forget(x)
		}
		x.release()
	}
}

// forget drops a session; the caller holds mu and has the session's turn.
func (s *sessions) forget(x *session) {
	x.gone.Store(true)
	s.kept.drop(x)
	if s.of[x.key] == x {
		delete(s.of, x.key)
	}
}

// choose gives the sessions that a function wants.
func (s *sessions) choose(want func(*session) bool) (list []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.of {
		if want(x) {
			list = append(list, x)
		}
	}
	return list
}

// end forgets sessions whose client has no more use for them, with their transactions and
// cursors. Those in which a request runs are left alone.
func (s *sessions) end(list []*session) {
	var ended []*session
	for _, x := range list {
		if !x.tryTake() {
			continue
		}
		x.abort(s)
		s.mu.Lock()
		s.forget(x)
		s.mu.Unlock()
		x.release()
		ended = append(ended, x)
	}
	s.killCursors(ended)
}

// kill ends what runs and what is open in sessions: requests but r, transactions and cursors.
func (s *sessions) kill(r *request, list []*session) error {
	if len(list) == 0 {
		return nil
	}
	s.interrupt(r, list)
	for _, x := range list {
		if err := x.take(r.ctx); err != nil {
			return err
		}
		x.abort(s)
		x.release()
	}
	s.killCursors(list)
	return nil
}

// interrupt ends the requests, other than r, of sessions.
func (s *sessions) interrupt(r *request, list []*session) {
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	for c := range s.s.connections {
		c.mu.Lock()
		if x := c.running; x != nil && x != r && x.session != nil && slices.Contains(list, x.session) {
			c.cancel()
		}
		c.mu.Unlock()
	}
}

func (s *sessions) killCursors(list []*session) {
	if len(list) == 0 || s.s.cursors.count() == 0 {
		return
	}
	of := map[sessionKey]bool{}
	for _, x := range list {
		of[x.key] = true
	}
	for _, x := range s.s.cursors.list() {
		if len(x.lsid) == 16 && of[keyOf(x.lsid, x.user)] {
			s.s.cursors.kill(x)
		}
	}
}

func keyOf(id string, u *account.Identity) sessionKey {
	k := sessionKey{id: [16]byte([]byte(id))}
	if u != nil {
		k.user = *u
	}
	return k
}

// sessionID tells whose cursors are whose, "" without a session.
func (r *request) sessionID() string {
	if r.session == nil {
		return ""
	}
	return r.session.id
}

// sessionKey reads lsid.
func (r *request) sessionKey() (sessionKey, error) {
	d, ok := doc.AsDoc(r.lsid)
	if !ok {
		return sessionKey{}, wrongTypeOf("OperationSessionInfo.lsid", r.lsid, "object")
	}
	id, err := readSession(d, "lsid")
	if err != nil {
		return sessionKey{}, err
	}
	return keyOf(string(id[:]), r.c.user), nil
}

// readSession reads the id of a session from {id: UUID}.
func readSession(d doc.Doc, field string) (id [16]byte, err error) {
	found := false
	for name, v := range doc.Members(d) {
		switch name {
		case "id":
			found = true
			if id, err = readUUID(v, field+".id"); err != nil {
				return id, err
			}
		case "uid":
			return id, code.New(code.Unauthorized, "Unauthorized to set user digest in LogicalSessionId")
		case "txnNumber", "txnUUID":
			return id, code.New(code.InvalidOptions, "Internal sessions are not supported")
		default:
			return id, code.New(code.UnknownFieldOfCommand, "BSON field '%s.%.200s' is an unknown field.", field, name)
		}
	}
	if !found {
		return id, code.New(code.MissingFieldOfCommand, "BSON field '%s.id' is missing but a required field", field)
	}
	return id, nil
}

func readUUID(v doc.Value, field string) (id [16]byte, err error) {
	if v.Type != bsoncore.TypeBinary {
		return id, wrongTypeOf(field, v, "binData")
	}
	subtype, data, _, ok := bsoncore.ReadBinary(v.Data)
	switch {
	case !ok || subtype != uuidBinary:
		return id, code.New(code.TypeMismatch, "BSON field '%s' is the wrong binData type, expected type 'UUID'", field)
	case len(data) != len(id):
		return id, code.New(code.InvalidUUID, "uuid must be a 16-byte binary field with UUID (4) subtype")
	}
	return [16]byte(data), nil
}

// checkSession holds the members about sessions against each other.
func (r *request) checkSession() error {
	switch {
	case r.hasTxn && r.s.o.ReplSet == "":
		return needsSet(code.IllegalOperation, "Transaction numbers are only allowed on a replica set member or mongos.")
	case r.hasTxn && r.lsid.Type == 0:
		return code.New(code.InvalidOptions, "Transaction number requires a session ID to also be specified")
	case r.hasTxn && r.txnNumber < 0:
		return code.New(code.InvalidOptions, "Transaction number cannot be negative")
	case r.autocommit.Type != 0 && !r.hasTxn:
		return code.New(code.InvalidOptions, "'autocommit' field requires a transaction number to also be specified")
	case r.startsTxn.Type != 0 && r.autocommit.Type == 0:
		return code.New(code.InvalidOptions, "'startTransaction' field requires 'autocommit' field to also be specified")
	}
	if v := r.autocommit; v.Type != 0 {
		if on, ok := doc.AsBool(v); !ok {
			return r.wrongType("autocommit", v, "bool")
		} else if on {
			return code.New(code.InvalidOptions, "Specifying autocommit=true is not allowed.")
		}
	}
	if v := r.startsTxn; v.Type != 0 {
		if on, ok := doc.AsBool(v); !ok {
			return r.wrongType("startTransaction", v, "bool")
		} else if !on {
			return code.New(code.InvalidOptions, "Specifying startTransaction=false is not allowed.")
		}
	}
	return nil
}
