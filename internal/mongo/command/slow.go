package command

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

// traced is what the log says about a slow request.
type traced struct {
	plan     *plan.Plan   // the first that was executed
	stats    access.Stats // of all plans, while slow requests are logged
	points   uint64       // documents looked up by _id, which needs no plan
	returned int64
}

// trace notes a plan that is about to be executed by an access.
func (r *request) trace(p *plan.Plan, a *access.Access) {
	if r.traced.plan == nil {
		r.traced.plan = p
	}
	if a.Stats == nil && r.s.slow.Load() > 0 {
		a.Stats = &r.traced.stats
	}
}

// log writes the lines about a request that has ended: at debug for every one, at info for a slow one.
func (r *request) log(took time.Duration) {
	if slow := r.s.slow.Load(); slow > 0 && int64(took) >= slow {
		r.s.log.Info("slow request", slices.Concat([]any{slog.String("api", "mongo")}, r.about(took), r.plans())...)
	}
	if r.s.log.Enabled(context.Background(), slog.LevelDebug) {
		r.s.log.Debug("request", r.about(took)...)
	}
}

// maxLoggedName bounds the name of a container in the log, because a client may send anything as one.
const maxLoggedName = 255

// about gives the attributes of every line. Documents and the values in queries stay out of the log, and so does the
// text of an error, which may quote them.
func (r *request) about(took time.Duration) []any {
	name, namespace := "unknown", ""
	if r.counted != nil {
		name, namespace = r.name, r.namespace()
	}
	return []any{
		slog.String("command", name),
		slog.String("namespace", namespace[:min(len(namespace), maxLoggedName)]),
		slog.String("duration", took.String()),
		slog.String("code", statusName(int(r.status))),
		slog.Int("connection", int(r.c.id)),
	}
}

// plans gives further attributes of a slow request. The names are those of MongoDB's log, in snake case.
// https://www.mongodb.com/docs/v7.0/reference/log-messages/#logging-slow-operations
func (r *request) plans() (more []any) {
	x := &r.traced
	switch {
	case x.plan != nil:
		more = append(more, slog.String("plan_summary", x.plan.Summary()))
	case x.points > 0:
		more = append(more, slog.String("plan_summary", "IDHACK"))
	}
	if x.plan != nil || x.points > 0 {
		more = append(more,
			slog.Uint64("keys_examined", x.stats.Keys+x.points),
			slog.Uint64("docs_examined", x.stats.Documents+x.points),
			slog.Int64("nreturned", x.returned))
	}
	if text := r.shape(); text != "" {
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

// shape shows the fields and operators of a command without their values.
func (r *request) shape() string {
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
