package transfer

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A generator gives ids to documents without one: 12 bytes as MongoDB's drivers make them, of a seed and the number of
// the document. So a document that is sent again has the same id.
type generator struct {
	member string // empty: documents stay as they are
	seed   [8]byte
}

func newSeed() string {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // it never fails
	return hex.EncodeToString(seed[:])
}

func newGenerator(member, seed string) (*generator, error) {
	g := &generator{member: member}
	b, err := hex.DecodeString(seed)
	if err != nil || len(b) != len(g.seed) {
		return nil, fmt.Errorf("the seed of ids %q is not one", seed)
	}
	copy(g.seed[:], b)
	return g, nil
}

// complete appends a line, with an id if it has none.
func (g *generator) complete(dst []byte, row *Row) []byte {
	if g.member == "" {
		return append(dst, row.Text...)
	}
	d, err := doc.FromJSON(nil, row.Text, doc.ParseOptions{MaxBytes: MaxLine})
	if err != nil || !doc.IsUndefined(doc.Lookup(d, g.member)) { // the server says what is wrong
		return append(dst, row.Text...)
	}
	id := binary.BigEndian.AppendUint32(g.seed[:len(g.seed):len(g.seed)], uint32(row.Number))
	dst = append(append(append(dst, `{"`...), g.member...), `":`...)
	if g.member == "_id" {
		dst = append(append(hex.AppendEncode(append(dst, `{"$oid":"`...), id), '"'), '}')
	} else {
		dst = append(hex.AppendEncode(append(dst, '"'), id), '"')
	}
	if !doc.IsEmpty(d) {
		dst = append(dst, ',')
	}
	return append(dst, bytes.TrimLeft(row.Text, " \t")[1:]...)
}
