package monitor

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Limits on a command as operators see it, in bytes. Both are those of MongoDB.
// mongodb/mongo: src/mongo/db/curop.cpp, reportState and append
const (
	maxShownCommand  = 1000   // in currentOp, and in $currentOp with truncateOps
	maxProfiledShown = 50_000 // in system.profile, and in $currentOp
	shortScalar      = 160    // of a value in a command that is cut, if it is no document
)

// One rule says which values of a command operators see, in system.profile and among the running operations. The
// values by which documents are selected are there. What documents are to hold is not, because a record would outlive
// the document: of that the shape is shown, as in the log.

// contents are the members of commands that say what documents hold from now on.
var contents = map[string]bool{"documents": true, "u": true, "c": true, "update": true, "applyOps": true}

// writeCommand writes the command of a request. One of more than limit bytes is shown as text that is cut, as in
// MongoDB: {$truncated: text, comment: the client's}. It never holds much more than limit.
func writeCommand(a *doc.Writer, r *call.Request, limit int) {
	d, whole := commandOf(r, limit, "")
	if whole {
		a.Doc("command", d)
		return
	}
	d, _ = commandOf(r, limit, "comment")
	text := code.Summary(doc.Object(d), limit)
	if !strings.HasSuffix(text, "...") {
		text = code.Cut(text, limit-3) + "..."
	}
	a.Object("command")
	a.String("$truncated", text)
	if v := doc.Lookup(r.Body, "comment"); v.Type != 0 && !r.Traits.Secret && len(v.Data) <= limit {
		a.Value("comment", v)
	}
	a.Close()
}

// commandOf gives the command of a request without one member, or the beginning of it if it is larger than limit.
func commandOf(r *call.Request, limit int, without string) (d doc.Doc, whole bool) {
	x := commandWriter{Writer: doc.NewWriter(nil), limit: limit}
	body := r.Shown()
	x.command(body, without)
	for _, name := range []string{"documents", "updates", "deletes"} {
		list, ok := r.Message.Sequence(name)
		if !ok || r.Traits.Secret {
			continue
		}
		x.Array(name)
		for _, d := range list {
			if x.full() {
				break
			}
			if name == "documents" {
				x.shape(x.Index(), doc.Object(d))
			} else {
				x.statement(x.Index(), doc.Object(d))
			}
		}
		x.Close()
	}
	d = x.End()
	return d, !x.cut && len(d) <= limit
}

// A commandWriter writes a command, until it has limit bytes.
type commandWriter struct {
	*doc.Writer
	limit int
	cut   bool // something is left out
}

func (x *commandWriter) full() bool {
	x.cut = x.cut || x.Size() > x.limit
	return x.Size() > x.limit
}

// command writes the members of a command.
func (x *commandWriter) command(d doc.Doc, without string) {
	first, changes := true, changesDocuments(d)
	for name, v := range doc.Members(d) {
		if x.full() {
			return
		}
		switch {
		case first && (name == "explain" || !contents[name]), first && !isNested(v):
			x.first(name, v)
		case name == "$clusterTime", name == without:
		case contents[name], name == "let" && changes:
			x.shape(name, v)
		case (name == "updates" || name == "deletes") && doc.IsArray(v):
			x.Array(x.named(name))
			for statement := range doc.Elements(v) {
				if x.full() {
					break
				}
				x.statement(x.Index(), statement)
			}
			x.Close()
		case name == "pipeline" && doc.IsArray(v) && changes:
			x.pipeline(name, v)
		default:
			x.value(name, v)
		}
		first = false
	}
}

// first writes the member that names the command. That of explain is another command.
func (x *commandWriter) first(name string, v doc.Value) {
	inner, ok := doc.AsDoc(v)
	if name != "explain" || !ok || v.Type != bsoncore.TypeEmbeddedDocument {
		x.value(name, v)
		return
	}
	x.Object(name)
	x.command(inner, "")
	x.Close()
}

// changesDocuments reports whether a command says what documents are to hold.
func changesDocuments(d doc.Doc) bool {
	for name := range doc.Members(d) {
		switch name {
		case "insert", "update", "findAndModify", "findandmodify":
			return true
		}
		break
	}
	v := doc.Lookup(d, "pipeline")
	if !doc.IsArray(v) {
		return false
	}
	for stage := range doc.Elements(v) {
		s, _ := doc.AsDoc(stage)
		for name := range doc.Members(s) {
			if name == "$out" || name == "$merge" {
				return true
			}
		}
	}
	return false
}

// statement writes a statement of an update or a delete.
func (x *commandWriter) statement(name string, v doc.Value) {
	d, ok := doc.AsDoc(v)
	if !ok || v.Type != bsoncore.TypeEmbeddedDocument {
		x.value(name, v)
		return
	}
	x.Object(name)
	for member, value := range doc.Members(d) {
		if x.full() {
			break
		}
		if contents[member] {
			x.shape(member, value)
		} else {
			x.value(member, value)
		}
	}
	x.Close()
}

// pipeline writes a pipeline whose rows are stored: what its stages make of documents is shown by its shape.
func (x *commandWriter) pipeline(name string, v doc.Value) {
	x.Array(name)
	for stage := range doc.Elements(v) {
		if x.full() {
			break
		}
		s, _ := doc.AsDoc(stage)
		x.Object(x.Index())
		for operator, value := range doc.Members(s) {
			if operator == "$match" || operator == "$out" {
				x.value(operator, value)
			} else {
				x.shape(operator, value)
			}
		}
		x.Close()
	}
	x.Close()
}

// shape writes the shape of a value.
func (x *commandWriter) shape(name string, v doc.Value) {
	x.String(x.named(name), code.Cut(string(appendShape(nil, v)), 2*maxShape))
}

// value writes a value, or the beginning of one that there is no room for.
func (x *commandWriter) value(name string, v doc.Value) {
	name = x.named(name)
	switch room := x.limit - x.Size(); {
	case !x.cut && len(v.Data) <= room, len(v.Data) <= shortScalar:
		x.Value(name, v)
	case isNested(v):
		x.cut = true
		if doc.IsArray(v) {
			x.Array(name)
		} else {
			x.Object(name)
		}
		for member, value := range doc.Members(v.Data) {
			if x.full() {
				break
			}
			x.value(member, value)
		}
		x.Close()
	default:
		x.cut = true
		if text, ok := doc.AsString(v); ok {
			x.String(name, code.Cut(text, shortScalar-10)+"...") // as Summary shortens it
		} else {
			x.String(name, "<"+code.TypeName(v)+">")
		}
	}
}

// named is a name of a member, which a client may have made long.
func (x *commandWriter) named(name string) string {
	if len(name) <= maxLoggedName {
		return name
	}
	x.cut = true
	return code.Cut(name, maxLoggedName) + "..."
}

func isNested(v doc.Value) bool {
	return v.Type == bsoncore.TypeEmbeddedDocument || v.Type == bsoncore.TypeArray
}
