package stream

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/store"
)

// A token is a place in a change stream. Tokens are ordered by their time, then by their
// part, and so is what clients see of them.
// https://www.mongodb.com/docs/v7.0/changeStreams/#resume-tokens
type token struct {
	time store.LogTime
	part tokenPart
}

// A tokenPart says which of the places that share a time is meant.
type tokenPart byte

const (
	ofEvent      tokenPart = 0x40 // the event of that time
	ofInvalidate tokenPart = 0x80 // the invalidate that follows it
	behind       tokenPart = 0xC0 // everything of that time has been seen
)

// tokenVersion begins every token. MongoDB's own begin with the type of a timestamp, 0x82.
const tokenVersion = 0x91

const tokenBytes = 1 + 8 + 1

func (t token) String() string {
	b := [tokenBytes]byte{tokenVersion}
	// Big-endian, so that the texts sort like the tokens, as MongoDB's do.
	binary.BigEndian.PutUint64(b[1:], uint64(t.time))
	b[9] = byte(t.part)
	return strings.ToUpper(hex.EncodeToString(b[:]))
}

// document is {_data: "..."}.
func (t token) document() doc.Doc {
	a := doc.NewWriter(nil)
	a.String("_data", t.String())
	return a.End()
}

// parseToken reads what document made.
func parseToken(option string, v doc.Value) (t token, err error) {
	d, ok := doc.AsDoc(v)
	if !ok {
		return t, code.WrongType("$changeStream."+option, v, "object")
	}
	text, ok := doc.AsString(doc.Lookup(d, "_data"))
	if !ok {
		return t, code.New(40647, "Bad resume token: _data of missing or of wrong type")
	}
	b, err := hex.DecodeString(text)
	switch {
	case err != nil:
		return t, code.New(code.FailedToParse, "resume token string was not a valid hex string")
	case len(b) == 0:
		return t, code.New(40649, "invalid empty resume token")
	// A token of a real MongoDB must not be taken for a place in this log.
	case len(b) != tokenBytes || b[0] != tokenVersion:
		return t, code.New(code.InvalidResumeToken, "Invalid resume token: it was not made by mayfly")
	}
	t.time, t.part = store.LogTime(binary.BigEndian.Uint64(b[1:])), tokenPart(b[9])
	if t.part != ofEvent && t.part != ofInvalidate && t.part != behind {
		return t, code.New(code.InvalidResumeToken, "Invalid resume token: it was not made by mayfly")
	}
	return t, nil
}
