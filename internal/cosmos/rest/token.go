package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
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

// issue signs a token: `type=resource&ver=1&sig=…;`. Clients treat it as opaque.
func (k *keyring) issue(t resourceToken) string {
	return "type=resource&ver=1&sig=" + base64.RawURLEncoding.EncodeToString(k.seal(t.bytes())) + ";"
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
func (k *keyring) seal(b []byte) []byte {
	mac := hmac.New(sha256.New, k.tokens)
	mac.Write(b)
	return mac.Sum(b)
}

// open verifies and parses the sig part of a token.
func (k *keyring) open(sig string) (t resourceToken, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(sig, ";"))
	if err != nil || len(raw) != tokenBytes+sha256.Size {
		return t, false
	}
	if !hmac.Equal(k.seal(raw[:tokenBytes:tokenBytes]), raw) {
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

// checkToken checks the sig part of a resource token and returns what its permission allows.
func (a *API) checkToken(sig string) (grant, error) {
	t, ok := a.keys.open(sig)
	if !ok {
		return grant{}, gatewayFault(fault.Unauthorized, "The input authorization token can't serve the request. The "+
			"resource token was not issued by this account.")
	}
	if now := a.clock.Now(); now.Unix() >= t.to {
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
	return g, nil
}

// covers reports whether the scope is still the one that the token was issued for.
func (t resourceToken) covers(s scope) bool {
	return s.database.ID == t.database && (s.container == nil && t.container == 0 ||
		s.container != nil && s.container.ID == t.container)
}

var errRevoked = gatewayFault(fault.Forbidden, "The permission behind the resource token was replaced or deleted, or "+
	"its resource is gone. Read the permission again for a new token.")
