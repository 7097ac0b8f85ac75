package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// An out is $out: the rows replace a container.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/out/
type out struct{ into Namespace }

func (s *out) name() string { return "$out" }

func (s *out) containers(see func(Namespace, bool)) { see(s.into, true) }

func (s *out) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		server, err := r.server("$out")
		if err == nil {
			err = server.Out(r.ctx, s.into, in)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func parseOut(c *compiler, arg doc.Value) (stage, error) {
	s := &out{}
	switch arg.Type {
	case bsoncore.TypeString:
		s.into.Container, _ = doc.AsString(arg)
	case bsoncore.TypeEmbeddedDocument:
		for name, v := range doc.Members(arg.Data) {
			text, ok := doc.AsString(v)
			switch {
			case name == "timeseries":
				return nil, code.Unsupported("$out to a time-series collection")
			case name != "db" && name != "coll":
				return nil, unknownField("$out", name)
			case !ok:
				return nil, wrongType("$out", name, v, "string")
			case name == "db":
				s.into.Database = text
			default:
				s.into.Container = text
			}
		}
		if s.into.Container == "" {
			return nil, missingField("$out", "coll")
		}
		if s.into.Database == "" {
			return nil, missingField("$out", "db")
		}
	default:
		return nil, code.New(16990, "$out only supports a string or object argument, but found %s", code.TypeName(arg))
	}
	if err := checkTarget("$out", s.into); err != nil {
		return nil, err
	}
	return s, nil
}

// checkTarget refuses names that are invalid or belong to the server.
func checkTarget(stage string, n Namespace) error {
	switch {
	case n.Container == "" || strings.ContainsAny(n.Container, "\x00$"):
		return code.New(code.InvalidNamespace, "Invalid %s target namespace: '%s'", stage, n.Container)
	case strings.HasPrefix(n.Container, "system."):
		return code.New(17385, "Can't %s to special collection: %s", stage, n.Container)
	case n.Database == "admin" || n.Database == "config" || n.Database == "local":
		return code.New(31321, "Can't %s to internal database: %s", stage, n.Database)
	}
	return nil
}
