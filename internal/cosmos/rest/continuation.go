package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A continuation token is base64 (URL alphabet, no padding) of a version byte, a position of the store, and a
// checksum over both, the container and the selection. It refers to no state of the server, so it survives restarts
// and policy changes. It is ASCII that needs no escaping in JSON or a URL.
const (
	tokenVersion  = 1
	tokenSumBytes = 12
	maxToken      = 32 << 10 // characters; enough for positions in the longest partition keys
)

var errToken = fault.New(fault.Invalid,
	"Invalid Continuation Token. Send a token as it came, in a request for the same feed.")

// continuation writes the token with which a feed of container c, limited to
// scope, goes on behind a position. query is the shape of a query over it.
func continuation(c *catalog.Container, scope access.Scope, at []byte, query ...string) string {
	raw := append([]byte{tokenVersion}, at...)
	raw = append(raw, tokenSum(c, scope, raw, query)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseContinuation reads it back. A token that is damaged, forged, or of another
// container, selection or query is fault.Invalid.
func parseContinuation(
	text string, c *catalog.Container, scope access.Scope, query ...string,
) (access.Position, error) {
	if len(text) > maxToken {
		return nil, errToken
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) <= 1+tokenSumBytes || raw[0] != tokenVersion {
		return nil, errToken
	}
	signed, sum := raw[:len(raw)-tokenSumBytes], raw[len(raw)-tokenSumBytes:]
	if !hmac.Equal(sum, tokenSum(c, scope, signed, query)) {
		return nil, errToken
	}
	return access.Position(signed[1:]), nil
}

// tokenSum guards against accidents and guesses, not against readers of this
// source: a position reaches nothing that its selection does not.
func tokenSum(c *catalog.Container, scope access.Scope, signed []byte, query []string) []byte {
	var text []byte
	text = binary.LittleEndian.AppendUint32(text, c.ID)
	text = appendScope(text, scope)
	for _, q := range query {
		text = appendPart(text, 'q', []byte(q))
	}
	text = appendPart(text, 't', signed)
	h := hmac.New(sha256.New, []byte("mayfly continuation"))
	h.Write(text)
	return h.Sum(nil)[:tokenSumBytes]
}

// appendScope appends a form of a scope that no other one has.
func appendScope(dst []byte, scope access.Scope) []byte {
	switch scope := scope.(type) {
	case access.Partition:
		for _, v := range scope {
			dst = appendPart(dst, 'p', append([]byte{byte(v.Type)}, v.Data...))
		}
	case *access.Span:
		dst = appendPart(dst, 's', scope.Low)
		dst = appendPart(dst, 's', scope.High)
	}
	return dst
}

func appendPart(dst []byte, kind byte, data []byte) []byte {
	dst = binary.AppendUvarint(append(dst, kind), uint64(len(data)))
	return append(dst, data...)
}
