// Package keyring has the keys of the account: a primary and a secondary one, so that clients can change from one to
// the other, each with a twin that only reads. A key can be replaced while mayfly runs. The APIs ask for the present
// keys with each request, and never keep one.
// https://learn.microsoft.com/azure/cosmos-db/secure-access-to-data#primarysecondary-keys
package keyring

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A Name is which of the keys one is.
type Name string

// The names are those of the service's management API, such as
// https://learn.microsoft.com/rest/api/cosmos-db-resource-provider/database-accounts/regenerate-key
const (
	Primary           Name = "primary"
	Secondary         Name = "secondary"
	PrimaryReadonly   Name = "primaryReadonly"
	SecondaryReadonly Name = "secondaryReadonly"
)

// Names lists all names.
var Names = [...]Name{Primary, Secondary, PrimaryReadonly, SecondaryReadonly}

// Bytes is the length of a key that mayfly makes.
const Bytes = 64

// A Key is one of the keys. It is immutable: a key that replaces it is another Key.
type Key struct {
	Name   Name
	Text   string    // in base64, as clients have it
	Secret []byte    // what Text stands for
	Since  time.Time // when it was made; zero if that is not known
	Origin string    // where it comes from, in words or as the path of a file
}

// ReadOnly reports whether the key allows reading only.
func (k *Key) ReadOnly() bool { return k.Name == PrimaryReadonly || k.Name == SecondaryReadonly }

// newKey reads a key in base64.
func newKey(name Name, text string, since time.Time, origin string) (*Key, error) {
	secret, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(secret) == 0 {
		return nil, fault.New(fault.Invalid, "the %s account key is not base64", name)
	}
	return &Key{Name: name, Text: text, Secret: secret, Since: since, Origin: origin}, nil
}

// made makes a key.
func made(name Name, since time.Time, origin string) *Key {
	secret := make([]byte, Bytes)
	_, _ = rand.Read(secret)
	return &Key{Name: name, Text: base64.StdEncoding.EncodeToString(secret), Secret: secret, Since: since,
		Origin: origin}
}

// derived makes a key from the primary one, which cannot be found out from it.
func derived(primary *Key, name Name) *Key {
	mac := hmac.New(sha512.New, primary.Secret)
	mac.Write([]byte("mayfly: account key " + string(name)))
	secret := mac.Sum(nil)
	return &Key{Name: name, Text: base64.StdEncoding.EncodeToString(secret), Secret: secret,
		Origin: "derived from the primary key"}
}

// A Set is the keys at one moment, in the order of Names. It is immutable.
type Set [len(Names)]*Key

// Key finds a key by name, nil if there is no such name.
func (s *Set) Key(name Name) *Key {
	for _, k := range s {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Find finds the key that a client has sent as text, nil if it is none of them. It takes as long for every text of a
// length.
func (s *Set) Find(text string) (found *Key) {
	sent := sha256.Sum256([]byte(text))
	for _, k := range s {
		own := sha256.Sum256([]byte(k.Text))
		if subtle.ConstantTimeCompare(sent[:], own[:]) == 1 {
			found = k
		}
	}
	return found
}

// Has reports whether k is one of the keys, and not one that has been replaced.
func (s *Set) Has(k *Key) bool {
	for _, own := range s {
		if own == k {
			return true
		}
	}
	return false
}

// A Ring is the keys of an account. It is safe for concurrent use. Get it from New.
type Ring struct {
	o     Options
	now   atomic.Pointer[Set]
	salts []byte

	mu   sync.Mutex // held while a key is replaced
	kept bool       // the file of the other keys has them
}

// Options say where keys come from and go to.
type Options struct {
	// Primary is the primary key in base64, and Origin where it comes from.
	Primary, Origin string
	// Fixed says why the primary key cannot be replaced; "" if it can.
	Fixed string
	// File is where a replaced primary key is kept, and Others the file of the other keys; "" keeps them in memory.
	File, Others string
	// Derived makes the other keys from the primary one, so that they are the same in every process that has it. None
	// of the keys can be replaced then.
	Derived bool
	// Write replaces a file atomically. Others must not be able to read it.
	Write func(path string, content []byte) error
}

// New makes the keys of an account. Keys that no file has are made; they go to a file when somebody is shown one.
func New(o Options) (*Ring, error) {
	r := &Ring{o: o}
	primary, err := newKey(Primary, o.Primary, time.Time{}, o.Origin)
	if err != nil {
		return nil, err
	}
	set := Set{primary}
	if r.kept, err = r.load(&set); err != nil {
		return nil, err
	}
	if !r.kept {
		for i, name := range Names[1:] {
			set[i+1] = made(name, time.Time{}, r.place())
			if o.Derived {
				set[i+1] = derived(primary, name)
			}
		}
		mac := hmac.New(sha256.New, []byte(primary.Text))
		mac.Write([]byte("mayfly: salts"))
		r.salts = mac.Sum(nil)
	}
	r.now.Store(&set)
	return r, nil
}

// place says where keys other than the primary one are.
func (r *Ring) place() string {
	if r.o.Others == "" {
		return "made at the start, and gone at the end"
	}
	return r.o.Others
}

// Now gives the present keys.
func (r *Ring) Now() *Set { return r.now.Load() }

// Salts is a secret that stays the same when keys are replaced.
func (r *Ring) Salts() []byte { return r.salts }

// Keep makes keys durable that are only in memory. It is called before somebody is shown one of them.
func (r *Ring) Keep() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keep(r.Now())
}

func (r *Ring) keep(set *Set) error {
	if r.kept || r.o.Others == "" {
		return nil
	}
	err := r.save(set)
	r.kept = err == nil
	return err
}

// Replaceable fails unless a key can be replaced: with fault.NotFound if there is no such key, with fault.Conflict if
// it is fixed.
func (r *Ring) Replaceable(name Name) error {
	switch {
	case r.Now().Key(name) == nil:
		return fault.New(fault.NotFound, "there is no key %q: name one of %s, %s, %s and %s", name,
			Primary, Secondary, PrimaryReadonly, SecondaryReadonly)
	case r.o.Derived:
		return fault.New(fault.Conflict, "the keys cannot be rotated one by one, because several processes have them: "+
			"restart all of them with another --key")
	case name == Primary && r.o.Fixed != "":
		return fault.New(fault.Conflict, "the primary key cannot be rotated: %s", r.o.Fixed)
	}
	return nil
}

// Rotate replaces a key by a new one, which it returns when that is durable. From then on the old key is worth nothing.
func (r *Ring) Rotate(name Name, now time.Time) (*Key, error) {
	if err := r.Replaceable(name); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.Now()
	if err := r.keep(&next); err != nil { // the salts must not change with the primary key
		return nil, err
	}
	for i := range next {
		if next[i].Name == name {
			next[i] = made(name, now, next[i].Origin)
		}
	}
	if err := r.replace(name, &next); err != nil {
		return nil, err
	}
	r.now.Store(&next)
	return next.Key(name), nil
}

// replace makes a new key durable.
func (r *Ring) replace(name Name, set *Set) error {
	switch {
	case name == Primary && r.o.File != "":
		return r.o.Write(r.o.File, []byte(set.Key(name).Text+"\n"))
	case name != Primary && r.o.Others != "":
		return r.save(set)
	}
	return nil
}
