package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A unionWith is $unionWith: after the documents, those of another container, or the rows of a pipeline over them.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/unionWith/
type unionWith struct {
	from     Namespace
	pipeline *Pipeline // nil for none
}

func (s *unionWith) name() string { return "$unionWith" }

func (s *unionWith) containers(see func(Namespace, bool)) {
	if s.from.Container != "" {
		see(s.from, false)
	}
	if s.pipeline != nil {
		s.pipeline.eachContainer(see)
	}
}

func (s *unionWith) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		for d, err := range in {
			if !yield(d, err) || err != nil {
				return
			}
		}
		for d, err := range s.pipeline.over(r, "$unionWith", s.from) {
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// over runs a sub-pipeline, which may be nil, on the documents of a container.
func (p *Pipeline) over(r *run, stage string, from Namespace) Rows {
	if p != nil && len(p.stages) > 0 {
		if _, ok := p.stages[0].(opener); ok {
			return p.rows(r, nil)
		}
	}
	server, err := r.server(stage)
	if err != nil {
		return fail(err)
	}
	if p == nil {
		return server.Documents(r.ctx, from, nil)
	}
	return p.rows(r, server.Documents(r.ctx, from, p.lead))
}

func parseUnionWith(c *compiler, arg doc.Value) (stage, error) {
	s := &unionWith{}
	switch arg.Type {
	case bsoncore.TypeString:
		s.from.Container, _ = doc.AsString(arg)
	case bsoncore.TypeEmbeddedDocument:
		if err := s.options(c, arg.Data); err != nil {
			return nil, err
		}
	default:
		return nil, code.New(code.FailedToParse,
			"the $unionWith stage specification must be an object or string, but found %s", code.TypeName(arg))
	}
	if s.from.Container == "" && (s.pipeline == nil || !s.pipeline.beginsWithDocuments()) {
		return nil, code.New(code.FailedToParse,
			"$unionWith stage without explicit collection must have a pipeline with $documents as first stage")
	}
	return s, nil
}

func (s *unionWith) options(c *compiler, spec doc.Doc) (err error) {
	for name, v := range doc.Members(spec) {
		switch name {
		case "coll":
			var ok bool
			if s.from.Container, ok = doc.AsString(v); !ok {
				return wrongType("$unionWith", "coll", v, "string")
			}
		case "pipeline":
			if s.pipeline, err = c.sub(v, "$unionWith", c.names); err != nil {
				return err
			}
		default:
			return unknownField("$unionWith", name)
		}
	}
	return nil
}

func (p *Pipeline) beginsWithDocuments() bool {
	if len(p.stages) == 0 {
		return false
	}
	_, ok := p.stages[0].(*documents)
	return ok
}
