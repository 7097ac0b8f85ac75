package function

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
)

var itemFunctions = []Function{
	{Name: "DOCUMENTID", Family: "Item", Min: 1, Max: 1, Run: documentID},
}

// ridBytes is the length of a document's resource id: four bytes each for the database and the container, eight for
// the document. The type is in the last four bits.
const (
	ridBytes   = 16
	ridNumbers = 1<<60 - 1
)

// documentID is the number in the _rid of an item.
func documentID(c *Call, args []doc.Value) doc.Value {
	item, ok := doc.AsDoc(args[0])
	if !ok {
		return undefined
	}
	rid, ok := doc.AsString(doc.Lookup(item, "_rid"))
	if !ok || len(rid) != base64.StdEncoding.EncodedLen(ridBytes) || strings.ContainsAny(rid, "\r\n") {
		return undefined
	}
	var text [24]byte
	copy(text[:], rid)
	for i, b := range text {
		if b == '-' { // replaces a slash, which would end a path segment
			text[i] = '/'
		}
	}
	var raw [18]byte
	if n, err := base64.StdEncoding.Decode(raw[:], text[:]); err != nil || n != ridBytes {
		return undefined
	}
	return scratchOf(c).int(int64(binary.LittleEndian.Uint64(raw[8:ridBytes]) & ridNumbers))
}
