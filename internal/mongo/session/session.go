package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// SessionMinutes is how long a session is kept that nobody uses.
const SessionMinutes = 30

// Limits of sessions. They are forgotten when nobody has used them for sessionMinutes.
const (
	maxSessions  = 100_000
	sessionTime  = SessionMinutes * time.Minute
	lookEvery    = time.Minute // for sessions that are to be forgotten
	lookWhenFull = time.Second
)

// Kinds of binary data. https://bsonspec.org/spec.html
const (
	GenericBinary = 0
	UUIDBinary    = 4
)

// Sessions are the logical sessions of a server, and what is open in them.
// https://github.com/mongodb/specifications/blob/master/source/sessions/driver-sessions.md
type Sessions struct {
	node   *Node
	most   int // sessions
	mu     sync.Mutex
	of     map[Key]*Session
	looked clock.Stopwatch // since the last look for old ones

	transactions
	Kept    replies
	Retries Recall
}

// A Key tells sessions apart: users have their own.
type Key struct {
	ID   [16]byte
	User account.Identity
}

// A Session is a logical session: what retries and transactions belong to.
type Session struct {
	Key  Key
	ID   string       // key.id
	used atomic.Int64 // uptime of the server at the last use
	Seen atomic.Int64 // the same, in Unix milliseconds of the clock
	Gone atomic.Bool  // it has been forgotten

	turn chan struct{} // full while an operation with a transaction number runs; what follows is its

	Number      int64  // the newest transaction number, -1 before the first
	Stage       Stage  // of that
	Reply       *Reply // to the retryable write of that number
	Unknown     error  // of the write or the commit of that number, which may or may not have happened; else nil
	Transaction *Transaction
}

// A Stage is what has become of a transaction number.
type Stage uint8

const (
	Retryable  Stage = iota // it is that of a retryable write
	inProgress              // of a transaction that is open
	Committed               // of a transaction
	Aborted                 // of one that was given up
)

func (s *Sessions) init(n *Node) {
	s.node, s.most, s.of, s.looked = n, maxSessions, map[Key]*Session{}, clock.Start()
	s.transactions.init()
	s.Kept.init(n.Budget)
	if s.Retries = (answers{s}); n.Shares {
		s.Retries = receipts{s}
	}
}

// close ends all that is open; no operation runs any more.
func (s *Sessions) close() {
	s.sweeper.Wait()
	for _, t := range s.running() {
		t.session.Abort(s)
	}
	s.Kept.close()
}

// forgetAll drops all sessions with their transactions and answers; no operation runs.
func (s *Sessions) forgetAll() {
	for _, x := range s.Choose(func(*Session) bool { return true }) {
		x.turn <- struct{}{} // the sweeper may have it for a moment
		x.Abort(s)
		s.mu.Lock()
		s.forget(x)
		s.mu.Unlock()
		x.Release()
	}
}

// Take waits for the turn of the session. Release gives it back.
func (x *Session) Take(ctx context.Context) error {
	select {
	case x.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *Session) tryTake() bool {
	select {
	case x.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// Release gives back the turn of the session.
func (x *Session) Release() { <-x.turn }

// Find gives the session of a key, a new one when there is none.
func (s *Sessions) Find(at time.Time, key Key) (*Session, error) {
	uptime := s.node.Uptime.Elapsed()
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.of[key]
	if x == nil {
		s.forgetOld(uptime)
		if len(s.of) >= s.most {
			return nil, code.New(code.TooManyLogicalSessions,
				"Unable to add session into the cache because the number of active sessions is too high")
		}
		x = &Session{Key: key, ID: string(key.ID[:]), Number: -1, turn: make(chan struct{}, 1)}
		s.of[key] = x
	}
	x.used.Store(int64(uptime))
	x.Seen.Store(at.UnixMilli())
	return x, nil
}

// forgetOld drops sessions that nobody has used for long, now and then; when there are too many, also
// those that have nothing to remember.
func (s *Sessions) forgetOld(uptime time.Duration) {
	full := len(s.of) >= s.most
	if since := s.looked.Elapsed(); since < lookWhenFull || !full && since < lookEvery {
		return
	}
	s.looked = clock.Start()
	s.forgetIdle(uptime-sessionTime, full)
}

// forgetIdle drops sessions that nobody has used since the server had been up for so long.
func (s *Sessions) forgetIdle(since time.Duration, full bool) {
	for _, x := range s.of {
		if !x.tryTake() {
			continue
		}
		idle := time.Duration(x.used.Load()) < since
		if x.Transaction == nil && (idle || full && x.Number < 0) {
			s.forget(x)
		}
		x.Release()
	}
}

// forget drops a session; the caller holds mu and has the session's turn.
func (s *Sessions) forget(x *Session) {
	x.Gone.Store(true)
	s.Kept.Drop(x)
	if s.of[x.Key] == x {
		delete(s.of, x.Key)
	}
}

// Choose gives the sessions that a function wants.
func (s *Sessions) Choose(want func(*Session) bool) (list []*Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.of {
		if want(x) {
			list = append(list, x)
		}
	}
	return list
}

// End forgets sessions whose client has no more use for them, with their transactions and
// cursors. Those in which an operation runs are left alone.
func (s *Sessions) End(list []*Session) {
	var ended []*Session
	for _, x := range list {
		if !x.tryTake() {
			continue
		}
		x.Abort(s)
		s.mu.Lock()
		s.forget(x)
		s.mu.Unlock()
		x.Release()
		ended = append(ended, x)
	}
	s.killCursors(ended)
}

// Kill ends what runs and what is open in sessions: operations but by, transactions and cursors.
func (s *Sessions) Kill(by *Operation, list []*Session) error {
	if len(list) == 0 {
		return nil
	}
	s.node.Interrupt(by, list)
	for _, x := range list {
		if err := x.Take(by.Context); err != nil {
			return err
		}
		x.Abort(s)
		x.Release()
	}
	s.killCursors(list)
	return nil
}

func (s *Sessions) killCursors(list []*Session) {
	if len(list) == 0 || s.node.Cursors.count() == 0 {
		return
	}
	of := map[Key]bool{}
	for _, x := range list {
		of[x.Key] = true
	}
	for _, x := range s.node.Cursors.list() {
		if len(x.SessionID) == 16 && of[KeyOf(x.SessionID, x.Owner)] {
			s.node.Cursors.Kill(x)
		}
	}
}

// KeyOf is the key of the session of a user that has this id, of 16 bytes.
func KeyOf(id string, u account.Identity) Key { return Key{ID: [16]byte([]byte(id)), User: u} }

// Counts tells how many sessions there are, how many transactions are open, and how many documents those have written.
func (s *Sessions) Counts() (sessions, transactions, documents int) {
	s.mu.Lock()
	sessions = len(s.of)
	s.mu.Unlock()
	s.guard.Lock()
	defer s.guard.Unlock()
	return sessions, len(s.transactions.open), len(s.locks)
}

// Limit bounds how many sessions there are.
func (s *Sessions) Limit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = n
}

// ForgetUnused drops the sessions without a transaction that no client has used since the call.
func (s *Sessions) ForgetUnused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetIdle(s.node.Uptime.Elapsed(), false)
}

// ForgetReplies drops the answers that are kept for retries.
func (s *Sessions) ForgetReplies() { s.Kept.clear() }

// Named gives a session, nil if there is none.
func (s *Sessions) Named(key Key) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[key]
}

// Refresh keeps a session from being forgotten.
func (s *Sessions) Refresh(x *Session, at time.Time) {
	x.used.Store(int64(s.node.Uptime.Elapsed()))
	x.Seen.Store(at.UnixMilli())
}
