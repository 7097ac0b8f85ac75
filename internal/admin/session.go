package admin

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// sessionCookie is the cookie by which a browser shows its session. A page's scripts cannot read it, and no page of
// another site can make the browser send it.
// https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Set-Cookie
const sessionCookie = "mayfly_session"

// Limits of sessions.
const (
	maxSessions = 1000           // at the same time
	sessionTime = 12 * time.Hour // by the machine's time
	sessionID   = 32             // bytes
)

// sessions are the browsers that have signed in. They are in memory only. The zero value has none.
type sessions struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]session // by the hash of the id, which is nowhere but in the cookie
}

// A session counts like the key that it began with. It keeps the key's text and asks for its rights each time, so it
// ends when the key is replaced.
type session struct {
	key string
	age clock.Stopwatch
}

func (s session) over() bool { return s.age.Elapsed() >= sessionTime }

// begin makes a session, and returns its id. If there are too many, the oldest one ends.
func (s *sessions) begin(key string) (id string) {
	secret := make([]byte, sessionID)
	_, _ = rand.Read(secret)
	id = base64.RawURLEncoding.EncodeToString(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[[sha256.Size]byte]session{}
	}
	if len(s.all) >= maxSessions {
		s.makeRoom()
	}
	s.all[sha256.Sum256([]byte(id))] = session{key, clock.Start()}
	return id
}

// makeRoom forgets the sessions that are over, or else the oldest one.
func (s *sessions) makeRoom() {
	var oldest [sha256.Size]byte
	most := time.Duration(-1)
	for hash, one := range s.all {
		if one.over() {
			delete(s.all, hash)
		} else if age := one.age.Elapsed(); age > most {
			oldest, most = hash, age
		}
	}
	if len(s.all) >= maxSessions {
		delete(s.all, oldest)
	}
}

// key is the key of the session whose cookie a request has, "" if there is none.
func (s *sessions) key(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	hash := sha256.Sum256([]byte(cookie.Value))
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[hash]
	if ok && one.over() {
		delete(s.all, hash)
		return ""
	}
	return one.key
}

// end forgets the session whose cookie a request has.
func (s *sessions) end(r *http.Request) {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, sha256.Sum256([]byte(cookie.Value)))
	}
}

// sessionState is what a page has to know before it shows anything.
type sessionState struct {
	NeedsKey bool `json:"needsKey"` // a key is needed for some requests, or for all
	SignedIn bool `json:"signedIn"` // the request has a session, or a key, that holds
	Write    bool `json:"write"`    // the sender may change things
}

// stateFor says what a sender may do; has is whether it sent a key that holds, which then says what it may.
func (a *admin) stateFor(has bool, may rights) sessionState {
	open := a.Allowed == nil || a.Local && a.Public
	return sessionState{NeedsKey: !open, SignedIn: has, Write: may.write || open && !has}
}

// showSession needs no key.
func (a *admin) showSession(r *http.Request) (any, error) {
	key, may, err := a.sender(r)
	if err != nil {
		return nil, err
	}
	return a.stateFor(key != "", may), nil
}

// beginSession takes {"key": "..."}, and answers with a cookie. A session that the browser has ends.
func (a *admin) beginSession(w http.ResponseWriter, r *http.Request) error {
	body, err := read[struct{ Key string }](r, `{"key": "the account key"}`)
	if err != nil {
		return err
	}
	if a.Allowed == nil {
		return missing("account key")
	}
	may, ok, err := a.prove(r, body.Key)
	if err != nil {
		return err
	}
	if !ok {
		return fault.New(fault.Unauthorized, "this is no account key of this mayfly")
	}
	a.sessions.end(r)
	setSessionCookie(w, r, a.sessions.begin(body.Key), 0)
	a.write(w, http.StatusOK, a.stateFor(true, may))
	return nil
}

// endSession needs no key: who has no session ends none.
func (a *admin) endSession(w http.ResponseWriter, r *http.Request) error {
	a.sessions.end(r)
	setSessionCookie(w, r, "", -1)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// setSessionCookie sets the cookie, without an end of its own: the browser forgets it when it is closed. maxAge -1
// removes it.
func setSessionCookie(w http.ResponseWriter, r *http.Request, id string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: id, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
}
