package command

import (
	"slices"
	"sync"
)

// The account key is the password of every name that createUser has not made, on every database, as Azure's
// connection strings have the name of an account for a user. All such names are one user with all rights. Each has a
// salt of its own, as a user has, so that the first answer does not tell which names createUser has made. What a
// proof is held against is derived from the key and the salt when the proof comes, since a client may ask for any
// number of names and never prove one.

// maxKeyNames bounds how many names are remembered for which a client has proven that it has the key.
const maxKeyNames = 1000

// A keyring has what clients who have the account key have proven it by. Others add nothing to it.
type keyring struct {
	// turn is held while a credential is derived, so that strangers who try one name after the other
	// have one processor at most.
	turn sync.Mutex

	mu    sync.Mutex
	known map[keyName]credential
}

type keyName struct {
	mechanism *mechanism
	name      string
	salt      string // it has the database in it
}

// find gives the credential of a name that has been proven before.
func (k *keyring) find(n keyName) (credential, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, ok := k.known[n]
	return c, ok
}

// keep remembers the credential of a name that has been proven.
func (k *keyring) keep(n keyName, c credential) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		k.known = map[keyName]credential{}
	}
	for other := range k.known {
		if len(k.known) < maxKeyNames {
			break
		}
		delete(k.known, other)
	}
	k.known[n] = c
}

// derive makes the credential of a name from the account key.
func (k *keyring) derive(n keyName, key string) (credential, error) {
	k.turn.Lock()
	defer k.turn.Unlock()
	return n.mechanism.derive(n.name, key, []byte(n.salt))
}

// isKeyName reports whether the account key may be the password of a name that createUser has not made.
func (s *Server) isKeyName(name string) bool { return s.o.Key != "" && len(name) <= maxUserName }

// A proof is what a conversation holds its last step against.
type proof struct {
	s    *Server
	name keyName
	// account tells that the account key is the password.
	account bool
	// shown is what the first step was answered with. The keys of an account's come with the last step.
	shown credential
}

// check runs the last step. A step that fails takes as long whatever it fails for: one derivation.
func (p *proof) check(step func() error) error {
	c, known := credential{}, false
	if p.account {
		var err error
		if c, known = p.s.keyring.find(p.name); !known {
			if c, err = p.s.keyring.derive(p.name, p.s.o.Key); err != nil {
				return err
			}
		}
		copy(p.shown.stored, c.stored)
		copy(p.shown.server, c.server)
	}
	err := step()
	switch derived := p.account && !known; {
	case err != nil && !derived:
		_, _ = p.s.keyring.derive(p.name, p.s.o.Key)
	case err == nil && derived:
		p.s.keyring.keep(p.name, c)
	}
	return err
}

// blank is the credential of a name that is not kept, without keys: no proof is right for it. Its
// salt stays the same, as that of a user would.
func (s *Server) blank(m *mechanism, database, name string) credential {
	size := m.hash().Size()
	return credential{mechanism: m, iterations: m.iterations, salt: s.saltOf(m, database, name), stored: make([]byte, size), server: make([]byte, size)}
}

func (s *Server) saltOf(m *mechanism, database, name string) []byte {
	return s.secretOf(m.name+" salt "+database+"."+name, m.saltBytes)
}

// proofOf gives what a user is to prove, by what is kept of a password or else by the account key. number is that of
// the user's record, known is false when nothing is right.
func (s *Server) proofOf(m *mechanism, database, name string) (p *proof, number uint64, known bool, err error) {
	p = &proof{s: s, shown: s.blank(m, database, name)}
	p.name = keyName{mechanism: m, name: name, salt: string(p.shown.salt)}
	u, number, err := s.findUser(database, name)
	switch {
	case err != nil:
		return nil, 0, false, err
	case u == nil || number == 0:
		p.account = s.isKeyName(name)
		return p, 0, p.account, nil
	}
	i := slices.IndexFunc(u.credentials, func(c credential) bool { return c.mechanism == m })
	if i >= 0 {
		p.shown = u.credentials[i]
	}
	return p, number, i >= 0, nil
}
