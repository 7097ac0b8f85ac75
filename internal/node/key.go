package node

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keyring"
)

// WellKnownKey is the public account key of every Cosmos DB emulator.
// https://learn.microsoft.com/azure/cosmos-db/emulator#authentication
const WellKnownKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// Sizes of account keys in bytes: of a key that mayfly makes, and the smallest that it accepts.
const (
	keyBytes    = 64
	minKeyBytes = 32
)

// Files of account keys in the data folder.
const (
	keyFile  = "account.key"  // the primary key, if it was made because none was given
	keysFile = "account.keys" // the other keys, once somebody was shown one
)

// An account is the account key, and where it comes from, in words.
type account struct {
	key, place string
	wellKnown  bool
}

// openKeys makes the keys of the account: those of all processes that share the data are the same.
func (a account) openKeys(dir string, shared bool) (*keyring.Ring, error) {
	o := keyring.Options{Primary: a.key, Origin: a.place, Write: writeFile, Derived: shared}
	if dir != "" {
		o.Others = filepath.Join(dir, keysFile)
	}
	switch {
	case a.wellKnown:
		o.Fixed = "it is the well-known emulator key; start with --key to have one of your own"
	case a.place == given:
		o.Fixed = "it is given by the setting --key; change it there and restart"
	default:
		o.File = a.place
	}
	return keyring.New(o)
}

// given is the place of a key that a setting gives.
const given = "as given"

// chooseKey applies the rules for account keys. exposed says that other machines may reach some API; the well-known key
// would not protect it.
func chooseKey(text string, exposed, allowWellKnown bool, dir string) (account, error) {
	if text == "" && (!exposed || allowWellKnown) {
		text = WellKnownKey
	}
	if text == "" {
		return keptKey(dir)
	}
	key, err := decodeKey(text)
	if err != nil {
		return account{}, err
	}
	wellKnown, _ := base64.StdEncoding.DecodeString(WellKnownKey)
	switch {
	case !bytes.Equal(key, wellKnown):
		return account{key: text, place: given}, nil
	case exposed && !allowWellKnown:
		return account{}, fault.New(fault.Invalid,
			"other machines can reach this address, and the emulator key is public: "+
				"give a key of your own with --key, leave it out to have one made, or add --allow-well-known-key")
	}
	return account{key: text, place: "the well-known emulator key", wellKnown: true}, nil
}

func decodeKey(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the account key is not base64: make one with `openssl rand -base64 %d`",
			keyBytes)
	}
	if len(key) < minKeyBytes {
		return nil, fault.New(fault.Invalid,
			"the account key has %d bytes, but needs at least %d: make one with `openssl rand -base64 %d`",
			len(key), minKeyBytes, keyBytes)
	}
	return key, nil
}

// keptKey reads the key that an earlier start kept in dir, or makes one.
func keptKey(dir string) (account, error) {
	if dir == "" {
		return account{}, fault.New(fault.Invalid, "an address that other machines can reach needs an account key, "+
			"and without a data folder there is no place to keep one: give it with --key")
	}
	path := filepath.Join(dir, keyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, keyBytes)
		rand.Read(key)
		text = []byte(base64.StdEncoding.EncodeToString(key) + "\n")
		err = writeFile(path, text)
	}
	if err != nil {
		return account{}, fmt.Errorf("account key: %w", err)
	}
	text = bytes.TrimSpace(text)
	if _, err := decodeKey(string(text)); err != nil {
		return account{}, fmt.Errorf("%s: %w", path, err)
	}
	return account{key: string(text), place: path}, nil
}

// allowed says what the sender of a key to the admin API may do.
func (n *Node) allowed(key string) (read, write bool) {
	k := n.keys.Now().Find(key)
	return k != nil, k != nil && !k.ReadOnly()
}

// othersHaveAccess reports whether the mode of a file gives any right to others than its owner. Windows has no such
// modes.
func othersHaveAccess(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}
