// Package update has MongoDB's update language: {$set: {a: 1}, $push: {b: 2}}, compiled once and applied to raw BSON in
// one pass over the document. An operator's parsing, checks and work sit in one file. It also has what the other kinds
// of writes need: replacements, the initial document of an upsert, the checks of a result, and the description of a
// change for change streams. It never evaluates a pipeline and never reads a clock.
// https://www.mongodb.com/docs/v7.0/reference/operator/update/
package update

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// An Update is a compiled update. It is immutable and safe for concurrent use. It shares the memory of the documents
// that it was compiled from, which must not change.
type Update struct {
	root    *node
	renames []*rename
}

// Options of Compile.
type Options struct {
	// ArrayFilters are the conditions for $[identifier]. They may not have an $expr.
	ArrayFilters []doc.Doc

	// Names has the meter for the cost of compiling; nil counts nothing.
	Names *expression.Names
}

// Input is what the result of an update depends on in addition to the document.
type Input struct {
	Now         time.Time // of the whole command
	ClusterTime doc.Value // a timestamp; undefined stands for Now as a timestamp
	Meter       *work.Meter
	Inserting   bool // the document is the new one of an upsert: its names may begin with $, as for inserts
}

// timestamp is the value for $currentDate and for empty timestamps.
func (in Input) timestamp() doc.Value {
	if doc.IsUndefined(in.ClusterTime) {
		return doc.Timestamp(uint32(in.Now.Unix()), 1)
	}
	return in.ClusterTime
}

// IsReplacement reports whether an update is a replacement: its first name is not an operator.
func IsReplacement(update doc.Doc) bool {
	for name := range doc.Members(update) {
		return !strings.HasPrefix(name, "$")
	}
	return true
}

// Apply appends the updated document to dst and returns that document alone. If nothing changes, it returns d itself,
// not changed. w is the element that `$` stands for. Errors are *code.Error.
func (u *Update) Apply(dst []byte, d doc.Doc, w filter.Where, in Input) (out doc.Doc, changed bool, err error) {
	x := run{in: in, id: doc.Lookup(d, idName), base: len(dst)}
	x.path = x.room[:0]
	if w.Found {
		x.matched = strconv.Itoa(w.Element)
	}
	if err := x.prepare(u.renames, d); err != nil {
		return nil, false, err
	}
	if err := x.spend(len(d)); err != nil {
		return nil, false, err
	}
	dst, changed, err = x.object(dst, d, u.root)
	if err == nil {
		err = in.Meter.Err()
	}
	if err != nil || !changed {
		return d, false, err
	}
	out = dst[x.base:]
	if x.dollars && !in.Inserting {
		if err := checkDollarNames(out); err != nil {
			return nil, false, err
		}
	}
	return out, true, x.checkSize(dst)
}

// A run is one application of an update to one document.
type run struct {
	in      Input
	scope   *expression.Scope  // for evaluating array filters, nil until the first
	id      doc.Value          // of the document
	matched string             // the index that `$` stands for, "" if the query found none
	base    int                // start of the document in dst
	path    []string           // the names to the current place
	room    [8]string          // memory for path, enough for most runs
	values  []doc.Value        // the value that each $rename moves, undefined if there is none
	merged  map[[2]*node]*node // for array elements that more than one part of the update concerns
	scratch []byte             // an array element wrapped for an array filter
	dollars bool               // a root name that begins with $ was written
}

// spend counts a step over n bytes.
func (x *run) spend(n int) error { return x.in.Meter.Spend(work.Element + work.Copied(n)) }

// matching is the scope for evaluating array filters.
func (x *run) matching() *expression.Scope {
	if x.scope == nil {
		x.scope = &expression.Scope{Meter: x.in.Meter}
	}
	return x.scope
}

func (x *run) dotted() string { return strings.Join(x.path, ".") }

// idText is the document's _id for messages.
func (x *run) idText() string {
	if doc.IsUndefined(x.id) {
		return "no id"
	}
	return elementText(idName, x.id)
}

// checkSize fails if what was written so far is larger than a document may be.
func (x *run) checkSize(dst []byte) error {
	if len(dst)-x.base <= MaxBytes {
		return nil
	}
	if x.in.Inserting {
		return code.New(17420, "Document to upsert is larger than %d", MaxBytes)
	}
	return code.New(17419, "Resulting document after update is larger than %d", MaxBytes)
}

// unchanged reports whether two values have the same type and bytes.
func unchanged(a, b doc.Value) bool { return a.Type == b.Type && bytes.Equal(a.Data, b.Data) }
