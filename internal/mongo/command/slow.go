package command

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// logRequest writes the lines of a request that is over: of every one at debug, of a slow one at info.
func logRequest(r *request, took time.Duration) {
	if slow := r.s.slow.Load(); slow > 0 && int64(took) >= slow {
		r.s.Log.Info("slow request", slices.Concat([]any{slog.String("api", "mongo")}, aboutRequest(r, took), plansOfRequest(r))...)
	}
	if r.s.Log.Enabled(context.Background(), slog.LevelDebug) {
		r.s.Log.Debug("request", aboutRequest(r, took)...)
	}
}

// maxLoggedName bounds the name of a container in the log, because a client may send anything as one.
const maxLoggedName = 255

// aboutRequest gives the attributes of every line. Documents and the values in queries stay out of the log, and so does
// the text of an error, which may quote them.
func aboutRequest(r *request, took time.Duration) []any {
	name, namespace := "unknown", ""
	if r.counted != nil {
		name, namespace = r.Name, namespaceOf(r)
	}
	return []any{
		slog.String("command", name),
		slog.String("namespace", namespace[:min(len(namespace), maxLoggedName)]),
		slog.String("duration", took.String()),
		slog.String("code", statusName(int(r.Status))),
		slog.Int("connection", int(r.c.id)),
	}
}

// plansOfRequest gives further attributes of a slow request. The names are those of MongoDB's log, in snake case.
// https://www.mongodb.com/docs/v7.0/reference/log-messages/#logging-slow-operations
func plansOfRequest(r *request) (more []any) {
	x := &r.Trace
	switch {
	case x.Plan != nil:
		more = append(more, slog.String("plan_summary", x.Plan.Summary()))
	case x.Points > 0:
		more = append(more, slog.String("plan_summary", "IDHACK"))
	}
	if x.Plan != nil || x.Points > 0 {
		more = append(more,
			slog.Uint64("keys_examined", x.Stats.Keys+x.Points),
			slog.Uint64("docs_examined", x.Stats.Documents+x.Points),
			slog.Int64("nreturned", x.Returned))
	}
	if text := shapeOfRequest(r); text != "" {
		more = append(more, slog.String("shape", text))
	}
	return more
}

// shaped are the members of commands whose shape the log shows.
var shaped = []string{
	"filter", "query", "q", "sort", "projection", "pipeline", "update", "updates", "deletes", "arrayFilters",
}

// maxShape bounds the shape of a command, in bytes.
const maxShape = 1000

// shapeOfRequest shows the fields and operators of a command without their values.
func shapeOfRequest(r *request) string {
	if r.counted == nil || r.command.secret {
		return ""
	}
	var b []byte
	begin := func(name string) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, name...), '=')
	}
	for _, name := range shaped {
		if list, ok := r.msg.Sequence(name); ok {
			begin(name)
			b = append(b, '[')
			for i, d := range list {
				if i > 0 {
					b = append(b, ", "...)
				}
				if b = appendShape(b, doc.Object(d)); len(b) > maxShape {
					break
				}
			}
			b = append(b, ']')
		} else if v := doc.Lookup(r.body, name); v.Type == bsoncore.TypeEmbeddedDocument ||
			v.Type == bsoncore.TypeArray {
			begin(name)
			b = appendShape(b, v)
		}
	}
	if len(b) > maxShape {
		b = append(b[:maxShape], "…"...)
	}
	return string(b)
}

// appendShape appends {name: shape} for an object, [shape] for an array, and ? for anything else. It stops soon after
// maxShape.
func appendShape(b []byte, v doc.Value) []byte {
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		d, _ := doc.AsDoc(v)
		b = append(b, '{')
		first := true
		for name, member := range doc.Members(d) {
			if !first {
				b = append(b, ", "...)
			}
			first = false
			b = append(append(b, name...), ": "...)
			if b = appendShape(b, member); len(b) > maxShape {
				break
			}
		}
		return append(b, '}')
	case bsoncore.TypeArray:
		b = append(b, '[')
		first, plain := true, false
		for element := range doc.Elements(v) {
			scalar := element.Type != bsoncore.TypeEmbeddedDocument && element.Type != bsoncore.TypeArray
			if scalar && plain {
				continue // one ? stands for all of them
			}
			plain = plain || scalar
			if !first {
				b = append(b, ", "...)
			}
			first = false
			if b = appendShape(b, element); len(b) > maxShape {
				break
			}
		}
		return append(b, ']')
	}
	return append(b, '?')
}
