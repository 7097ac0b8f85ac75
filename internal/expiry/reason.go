package expiry

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Start is the second from which the life of a document counts. byProperty is false if that is its stamp, because the
// policy has no property, or the document no number there.
func (p *Policy) Start(d Document) (from Stamp, byProperty bool) {
	from = d.from(p.property)
	if p.property == nil {
		return from, false
	}
	f, ok := doc.AsFloat(p.property.Lookup(d.Body))
	return from, ok && f > -maxInstant && f < maxInstant
}

// A Miss says why a rule of dates does not end a document.
type Miss uint8

// The reasons, in the order in which they are looked for.
const (
	Hit        Miss = iota // it does end it
	MissFilter             // the document does not match the filter of a partial index
	MissAbsent             // there is nothing under the path
	MissArray              // there is an array without a date
	MissType               // there is something else that is no date
)

// Why is the first second at which the rule ends a document, or the reason why it does not.
func (r *DateRule) Why(body doc.Doc) (at Stamp, miss Miss) {
	if at, ok := r.deadline(body); ok {
		return max(at, 1), Hit
	}
	if r.matches != nil && !r.matches(body) {
		return 0, MissFilter
	}
	return 0, missUnder(doc.Object(body), r.steps)
}

// missUnder says what is under a path instead of a date. It goes through arrays as earliestDate does; of several
// elements, the one that comes closest to a date is the reason.
func missUnder(v doc.Value, path []string) Miss {
	if len(path) == 0 {
		switch {
		case doc.IsUndefined(v):
			return MissAbsent
		case doc.IsArray(v):
			return MissArray
		}
		return MissType
	}
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		return missUnder(doc.Lookup(doc.Doc(v.Data), path[0]), path[1:])
	case bsoncore.TypeArray:
		if at, ok := doc.ElementIndex(path[0]); ok {
			return missUnder(element(v, at), path[1:])
		}
		miss := MissAbsent
		for element := range doc.Elements(v) {
			if element.Type == bsoncore.TypeEmbeddedDocument {
				miss = max(miss, missUnder(element, path))
			}
		}
		return miss
	}
	return MissAbsent
}
