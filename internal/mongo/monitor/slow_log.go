package monitor

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/slow"
)

// LogRequest writes the lines of a request that is over: of every one at debug, of a slow one at info. known says
// that its command exists, connection is the number of its connection.
func (m *Monitor) LogRequest(r *call.Request, known bool, connection int32, took time.Duration) {
	about := func() []any { return aboutRequest(r, known, connection, took) }
	if m.SlowLog.Mongo.Slow(took) {
		m.SlowLog.Add(slowRequest(r, known), took)
		api := []any{slog.String("api", "mongo")}
		m.Node.Log.Info("slow request", slices.Concat(api, about(), plansOfRequest(r, known))...)
	}
	if m.Node.Log.Enabled(context.Background(), slog.LevelDebug) {
		m.Node.Log.Debug("request", about()...)
	}
}

// slowRequest is what an operator may see of a slow request later. It has no values, as the log.
func slowRequest(r *call.Request, known bool) slow.Request {
	x := &r.Trace
	kept := slow.Request{
		API: slow.Mongo, Operation: "unknown", Query: shapeOfRequest(r, known),
		Examined: x.Stats.Documents + x.Points, Returned: uint64(max(x.Returned, 0)),
	}
	if known {
		kept.Operation, kept.Database, kept.Container = r.Name, r.DB, r.ContainerName()
	}
	switch {
	case x.Plan != nil:
		kept.Plan = x.Plan.Summary()
	case x.Points > 0:
		kept.Plan = "IDHACK"
	}
	return kept
}

// maxLoggedName bounds the name of a container in the log, because a client may send anything as one.
const maxLoggedName = 255

// aboutRequest gives the attributes of every line. Documents and the values in queries stay out of the log, and so does
// the text of an error, which may quote them.
func aboutRequest(r *call.Request, known bool, connection int32, took time.Duration) []any {
	name, namespace := "unknown", ""
	if known {
		name, namespace = r.Name, r.Namespace()
	}
	return []any{
		slog.String("command", name),
		slog.String("namespace", code.Cut(namespace, maxLoggedName)),
		slog.String("duration", took.String()),
		slog.String("code", statusName(int(r.Status))),
		slog.Int("connection", int(connection)),
	}
}

// plansOfRequest gives further attributes of a slow request. The names are those of MongoDB's log, in snake case.
// https://www.mongodb.com/docs/v7.0/reference/log-messages/#logging-slow-operations
func plansOfRequest(r *call.Request, known bool) (more []any) {
	x := &r.Trace
	switch {
	case x.Plan != nil:
		more = append(more, slog.String("plan_summary", summaryOf(x.Plan)))
	case x.Points > 0:
		more = append(more, slog.String("plan_summary", "IDHACK"))
	}
	if x.Plan != nil || x.Points > 0 {
		more = append(more,
			slog.Uint64("keys_examined", x.Stats.Keys+x.Points),
			slog.Uint64("docs_examined", x.Stats.Documents+x.Points),
			slog.Int64("nreturned", x.Returned))
	}
	if text := shapeOfRequest(r, known); text != "" {
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
func shapeOfRequest(r *call.Request, known bool) string {
	if !known || r.Traits.Secret {
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
		if list, ok := r.Message.Sequence(name); ok {
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
		} else if v := doc.Lookup(r.Body, name); v.Type == bsoncore.TypeEmbeddedDocument ||
			v.Type == bsoncore.TypeArray {
			begin(name)
			b = appendShape(b, v)
		}
	}
	if len(b) > maxShape {
		return code.Cut(string(b), maxShape) + "…"
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
			b = append(append(b, code.Cut(name, maxLoggedName)...), ": "...)
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
