package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
)

// foreign is a document of a NoSQL container as this door shows it: its id is its _id too.
func foreign(body doc.Doc) (doc.Doc, error) {
	out := make([]byte, 4, len(body)+64)
	out = doc.AppendElement(out, "_id", doc.Lookup(body, "id"))
	for name, v := range doc.Members(body) {
		if name != "_id" {
			out = doc.AppendElement(out, name, v)
		}
	}
	out = append(out, 0)
	setLength(out, 0)
	return out, nil
}
