package transfer

import (
	"bytes"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// StampMember carries the stamp of a document of MongoDB in a line. It cannot be `_ts`, which such a document may have
// as a member of its own. A member `$ts` of its own has one more $ in a line, see QuoteStamp.
const StampMember = "$ts"

// ItemStamp carries the stamp of an item of Cosmos DB, which has no member of its own with that name.
const ItemStamp = "_ts"

// QuoteStamp gives a document of MongoDB the names that it has in a line: `$ts` becomes `$$ts`, `$$ts` becomes `$$$ts`,
// and so on. So a `$ts` in a line that mayfly wrote is always the stamp.
func QuoteStamp(d doc.Doc) doc.Doc {
	return renamed(d, func(name string) string {
		if isQuotable(name) {
			return "$" + name
		}
		return name
	})
}

// UnquoteStamp undoes QuoteStamp. A `$ts` stays as it is.
func UnquoteStamp(d doc.Doc) doc.Doc {
	return renamed(d, func(name string) string {
		if name != StampMember && isQuotable(name) {
			return name[1:]
		}
		return name
	})
}

// QuotedStamp is the name of a member `$ts` of its own in a line.
const QuotedStamp = "$" + StampMember

// isQuotable reports whether a name is `$ts`, with any number of $ in front.
func isQuotable(name string) bool {
	return strings.HasPrefix(name, "$") && strings.TrimLeft(name, "$") == "ts"
}

// renamed gives the members at the root other names.
func renamed(d doc.Doc, name func(string) string) doc.Doc {
	if !bytes.Contains(d, []byte(StampMember+"\x00")) {
		return d
	}
	at, out := bsoncore.AppendDocumentStart(make([]byte, 0, len(d)+8))
	for old, v := range doc.Members(d) {
		out = doc.AppendElement(out, name(old), v)
	}
	out, _ = bsoncore.AppendDocumentEnd(out, at)
	return out
}

// lastMember is the name of the last member, which is the stamp in a line of an export.
func lastMember(d doc.Doc) (last string) {
	for name := range doc.Members(d) {
		last = name
	}
	return last
}
