package account

import (
	"slices"
	"sync"

	"github.com/mayflydb/mayfly/internal/keyring"
)

// The account keys are passwords of every name that createUser has not made, on every database, because Azure's
// connection strings have the name of an account as the user. All such names are one user: with all rights by a
// read-write key, with those of readAnyDatabase by a read-only one. Each has its own salt, as users have, so that the
// answer to the first step does not tell which users exist. The credentials are derived from the keys and the salt only
// when a client sends its proof, since a client may ask for any number of names and never prove one.

// maxProvenNames bounds how many names are remembered for which a client has proven that it has the account key.
const maxProvenNames = 1000

// provenNames remembers the credentials of names for which clients have proven that they have an account key, because
// deriving one takes some milliseconds. Clients without the key add nothing to it.
type provenNames struct {
	// deriving is held while a credential is derived, so that clients who try one name after the other use at most
	// one processor.
	deriving sync.Mutex

	mu    sync.Mutex
	known map[keyName]credential
}

type keyName struct {
	key       *keyring.Key
	mechanism *Mechanism
	name      string
	salt      string // made from the database too
}

// find gives the credential of a name that has been proven before.
func (p *provenNames) find(n keyName) (credential, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.known[n]
	return c, ok
}

// keep remembers the credential of a name that has been proven, in place of any other when there are too many.
func (p *provenNames) keep(n keyName, c credential) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[keyName]credential{}
	}
	for other := range p.known {
		if len(p.known) < maxProvenNames {
			break
		}
		delete(p.known, other)
	}
	p.known[n] = c
}

// derive makes the credential of a name from its account key.
func (p *provenNames) derive(n keyName) (credential, error) {
	p.deriving.Lock()
	defer p.deriving.Unlock()
	return n.mechanism.derive(n.name, n.key.Text, []byte(n.salt))
}

// OpensByKey reports whether the account keys would be the passwords of a name if no user had it.
func (a *Accounts) OpensByKey(name string) bool { return a.keys != nil && len(name) <= maxName }

// A proof is what the last step of a conversation is checked against.
type proof struct {
	accounts *Accounts
	name     keyName // without a key
	byKey    bool    // the account keys are the passwords
	possible bool    // there is a password
	// shown is the credential that the first step was answered from. If byKey, its keys are zeros until check fills
	// them in: the conversation shares the slices.
	shown credential
}

// check runs the last step, and returns the account key that the client has proven to have, nil for a user's password.
// provenBy says whether the client's proof was made with the password of a credential. A step that fails takes as long
// as any other that fails, the time of one derivation for each account key, so that the time does not tell which users
// exist.
func (p *proof) check(provenBy func(credential) bool, step func() error) (key *keyring.Key, err error) {
	var name keyName
	var c credential
	derived := 0
	if p.byKey {
		if name, c, derived, err = p.find(provenBy); err != nil {
			return nil, err
		}
		copy(p.shown.stored, c.stored)
		copy(p.shown.server, c.server)
	}
	if err = step(); err == nil {
		if name.key != nil {
			p.accounts.proven.keep(name, c)
		}
		return name.key, nil
	}
	if p.accounts.keys != nil {
		for _, k := range p.accounts.keys.Now()[min(derived, len(keyring.Names)):] {
			name = p.name
			name.key = k
			_, _ = p.accounts.proven.derive(name)
		}
	}
	return nil, err
}

// find finds the account key that a client has proven to have: first among credentials that have been proven before,
// then by deriving others. Without one it returns a zero name. derived is the number of credentials that it has made.
func (p *proof) find(provenBy func(credential) bool) (name keyName, c credential, derived int, err error) {
	var others []keyName
	for _, k := range p.accounts.keys.Now() {
		name = p.name
		name.key = k
		c, known := p.accounts.proven.find(name)
		if known && provenBy(c) {
			return name, c, derived, nil
		}
		if !known {
			others = append(others, name)
		}
	}
	for _, name := range others {
		if c, err = p.accounts.proven.derive(name); err != nil {
			return name, c, derived, err
		}
		if derived++; provenBy(c) {
			return name, c, derived, nil
		}
	}
	return keyName{}, credential{}, derived, nil
}

// blank is a credential without keys. Its salt is always the same, as a user's salt is.
func (a *Accounts) blank(m *Mechanism, database, name string) credential {
	size := m.hash().Size()
	return credential{
		mechanism: m, iterations: m.iterations,
		salt: a.saltOf(m, database, name), stored: make([]byte, size), server: make([]byte, size),
	}
}

func (a *Accounts) saltOf(m *Mechanism, database, name string) []byte {
	return a.derived(m.Name+" salt "+database+"."+name, m.saltBytes)
}

// proofOf gives what a client has to prove to be a user: the password of the user, or else an account key. number
// identifies the user, and is 0 if there is none. For names without a password the proof is one that nothing satisfies.
func (a *Accounts) proofOf(m *Mechanism, database, name string) (p *proof, number uint64, err error) {
	p = &proof{accounts: a, shown: a.blank(m, database, name)}
	p.name = keyName{mechanism: m, name: name, salt: string(p.shown.salt)}
	u, number, err := a.Find(database, name)
	if err != nil {
		return nil, 0, err
	}
	if u == nil || number == 0 {
		p.byKey = a.OpensByKey(name)
		p.possible = p.byKey
		return p, 0, nil
	}
	if i := slices.IndexFunc(u.credentials, func(c credential) bool { return c.mechanism == m }); i >= 0 {
		p.shown, p.possible = u.credentials[i], true
	}
	return p, number, nil
}
