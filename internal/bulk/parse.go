package bulk

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/store"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// systemMembers are what the API for NoSQL adds to an item. `_ts` becomes the stamp, the others have no meaning in
// another place.
var systemMembers = []string{"_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"}

// A parser turns lines into documents for one container.
type parser struct {
	mongo bool
	keep  bool // stamps
	valid *filter.Filter
}

func newParser(st *catalog.State, keep bool) (*parser, error) {
	p := &parser{mongo: st.Dialect == catalog.Mongo, keep: keep}
	if !p.mongo {
		return p, nil
	}
	query, ok := doc.AsDoc(doc.Lookup(st.Echo, "validator"))
	level, _ := doc.AsString(doc.Lookup(st.Echo, "validationLevel"))
	action, _ := doc.AsString(doc.Lookup(st.Echo, "validationAction"))
	if !ok || level == "off" || action == "warn" {
		return p, nil
	}
	var err error
	p.valid, err = filter.Compile(query, filter.Options{})
	return p, err
}

// parse reads one line. ok is false for a line that only says a position.
func (p *parser) parse(line []byte) (in store.Incoming, ok bool, err error) {
	if transfer.IsPosition(line) {
		return in, false, nil
	}
	o := doc.ParseOptions{}
	if p.mongo {
		o.MaxBytes = transfer.MaxLine
	}
	body, err := doc.FromJSON(nil, line, o)
	if err != nil {
		return in, false, err
	}
	if p.mongo {
		in, err = p.document(body)
	} else {
		in, err = p.item(body)
	}
	return in, true, err
}

// item reads an item of Cosmos DB.
func (p *parser) item(body doc.Doc) (in store.Incoming, err error) {
	if p.keep {
		if in.Stamp, err = stampOf(body, transfer.ItemStamp); err != nil {
			return in, err
		}
	}
	in.Body = doc.Without(body, systemMembers...)
	return in, nil
}

// document reads a document of MongoDB.
func (p *parser) document(body doc.Doc) (in store.Incoming, err error) {
	plain := doc.Lookup(body, transfer.StampMember)
	if body, err = doc.FromExtended(body); err != nil {
		return in, err
	}
	if p.keep {
		if in.Stamp, err = stampOf(body, transfer.StampMember); err != nil {
			return in, err
		}
	}
	if p.keep || isStamp(plain) {
		body = doc.Without(body, transfer.StampMember)
	} else if !doc.IsUndefined(plain) && !doc.IsUndefined(doc.Lookup(body, transfer.QuotedStamp)) {
		return in, errTwoStamps
	}
	body = transfer.UnquoteStamp(body)
	id := doc.Lookup(body, "_id")
	if doc.IsUndefined(id) {
		return in, fault.New(fault.Invalid, "The document has no _id.")
	}
	if err := update.Check(body); err != nil {
		return in, err
	}
	if p.valid != nil {
		if ok, err := p.valid.Match(body, nil); err != nil {
			return in, err
		} else if !ok {
			return in, fault.New(fault.Invalid, "The document fails the validator of the collection.")
		}
	}
	in.Body = idFirst(body, id)
	return in, nil
}

// idFirst puts the _id in front, where MongoDB keeps it.
func idFirst(body doc.Doc, id doc.Value) doc.Doc {
	for name := range doc.Members(body) {
		if name == "_id" {
			return body
		}
		break
	}
	at, out := bsoncore.AppendDocumentStart(make([]byte, 0, len(body)))
	out = doc.AppendElement(out, "_id", id)
	for name, v := range doc.Members(body) {
		if name != "_id" {
			out = doc.AppendElement(out, name, v)
		}
	}
	out, _ = bsoncore.AppendDocumentEnd(out, at)
	return out
}

// stampOf reads the stamp that a document brings along.
func stampOf(body doc.Doc, member string) (expiry.Stamp, error) {
	v := doc.Lookup(body, member)
	if doc.IsUndefined(v) {
		return 0, fault.New(fault.Invalid, "The document has no %s, so there is no stamp to keep. "+
			"Add it, in Unix seconds, or import with new stamps.", member)
	}
	stamp, _ := doc.AsInt(v)
	if !isStamp(v) {
		return 0, fault.New(fault.Invalid,
			"The %s of the document is not a whole number of Unix seconds from 1 on.", member)
	}
	return stamp, nil
}

// isStamp reports whether a value may be a stamp. Without stamps to keep, any other `$ts` is a member of the document.
func isStamp(v doc.Value) bool {
	stamp, ok := doc.AsInt(v)
	return ok && stamp >= 1 && stamp <= maxStamp
}

var errTwoStamps = fault.New(fault.Invalid, "The document has the members $ts and $$ts, which stands for a $ts of its "+
	"own, and the first is no stamp. Leave one of them out.")

// maxStamp is far above every clock, and far below where adding a life span could overflow.
const maxStamp = 1 << 40
