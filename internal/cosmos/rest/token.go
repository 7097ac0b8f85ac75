package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keyring"
)

// A resourceToken is what a resource token contains: the permission, its version, the container and the times between
// which it is valid. Replacing or deleting the permission, or recreating the container, revokes the token.
type resourceToken struct {
	permission uint64 // number
	sequence   uint64
	database   uint32
	container  uint32
	from, to   int64 // Unix seconds of the API's clock
}

const tokenBytes = 8 + 8 + 4 + 4 + 8 + 8

// issue signs a token with the key that has asked for it: `type=resource&ver=1&sig=…;`. Clients treat it as opaque.
// It ends with that key, because whoever knew the key could make tokens.
func (v *verifier) issue(t resourceToken, key *keyring.Key) string {
	var sealed []byte
	for _, k := range v.keys().each {
		if k.Key == key {
			sealed = k.seal(t.bytes())
		}
	}
	return "type=resource&ver=1&sig=" + base64.RawURLEncoding.EncodeToString(sealed) + ";"
}

func (t resourceToken) bytes() []byte {
	b := make([]byte, 0, tokenBytes+sha256.Size)
	b = binary.BigEndian.AppendUint64(b, t.permission)
	b = binary.BigEndian.AppendUint64(b, t.sequence)
	b = binary.BigEndian.AppendUint32(b, t.database)
	b = binary.BigEndian.AppendUint32(b, t.container)
	b = binary.BigEndian.AppendUint64(b, uint64(t.from))
	return binary.BigEndian.AppendUint64(b, uint64(t.to))
}

// seal appends the signature of b.
func (k *keySigner) seal(b []byte) []byte {
	mac := hmac.New(sha256.New, k.tokens)
	mac.Write(b)
	return mac.Sum(b)
}

// open verifies and parses the sig part of a token.
func (v *verifier) open(sig string) (t resourceToken, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(sig, ";"))
	if err != nil || len(raw) != tokenBytes+sha256.Size {
		return t, false
	}
	signed := func(k keySigner) bool {
		return !k.ReadOnly() && hmac.Equal(k.seal(raw[:tokenBytes:tokenBytes]), raw)
	}
	if keys := v.keys(); !slices.ContainsFunc(keys.each[:], signed) {
		return t, false
	}
	return resourceToken{
		permission: binary.BigEndian.Uint64(raw),
		sequence:   binary.BigEndian.Uint64(raw[8:]),
		database:   binary.BigEndian.Uint32(raw[16:]),
		container:  binary.BigEndian.Uint32(raw[20:]),
		from:       int64(binary.BigEndian.Uint64(raw[24:])),
		to:         int64(binary.BigEndian.Uint64(raw[32:])),
	}, true
}

// checkToken checks the sig part of a resource token at an instant, and returns what its permission allows.
func (a *API) checkToken(sig string, now time.Time) (grant, error) {
	t, ok := a.verifier.open(sig)
	if !ok {
		return grant{}, gatewayFault(fault.Unauthorized, "The input authorization token can't serve the request. The "+
			"resource token was not issued by this account.")
	}
	if now.Unix() >= t.to {
		return grant{}, expired(time.Unix(t.from, 0), time.Unix(t.to, 0), now)
	}
	p, err := a.catalog.ResourceByNumber(catalog.Permission, t.permission)
	if err != nil || p.Sequence != t.sequence {
		return grant{}, errRevoked
	}
	g, err := a.grantOf(p)
	if err != nil || !t.covers(g.scope) {
		return grant{}, errRevoked
	}
	g.permission = p
	return g, nil
}

// covers reports whether the scope is still the one that the token was issued for.
func (t resourceToken) covers(s scope) bool {
	return s.database.ID == t.database && (s.container == nil && t.container == 0 ||
		s.container != nil && s.container.ID == t.container)
}

var errRevoked = gatewayFault(fault.Forbidden, "The permission behind the resource token was replaced or deleted, or "+
	"its resource is gone. Read the permission again for a new token.")
