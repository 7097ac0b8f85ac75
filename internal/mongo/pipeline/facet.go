package pipeline

import (
	"iter"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A facet is $facet: several pipelines over the same documents, and one document with the rows of each as an array. The
// documents are read once and not kept.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/facet/
type facet struct {
	names     []string
	pipelines []*Pipeline
}

func (s *facet) name() string { return "$facet" }

func (s *facet) containers(see func(Namespace, bool)) {
	for _, p := range s.pipelines {
		p.eachContainer(see)
	}
}

func (s *facet) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		held := r.budget("$facet")
		branches := make([]*branch, len(s.pipelines))
		for i, p := range s.pipelines {
			branches[i] = startBranch(r, p, &held)
			defer branches[i].stop()
		}
		if err := feed(in, branches); err != nil {
			yield(nil, err)
			return
		}
		out, at := beginDoc(nil)
		for i, b := range branches {
			out = doc.AppendElement(out, s.names[i], b.out.value())
		}
		if out = endDoc(out, at); len(out) > maxPassingBytes {
			yield(nil,
				code.New(4031700, "document constructed by $facet is %d bytes, which exceeds the limit of %d bytes",
					len(out), maxPassingBytes))
			return
		}
		yield(out, nil)
	}
}

// feed hands each document to all branches, until there are no more or no branch wants more.
func feed(in Rows, branches []*branch) error {
	open := len(branches)
	for d, err := range in {
		if err != nil {
			return err
		}
		for _, b := range branches {
			if b.ended {
				continue
			}
			if b.give(d); b.ended {
				open--
			}
			if b.err != nil {
				return b.err
			}
		}
		if open == 0 {
			break
		}
	}
	for _, b := range branches {
		if b.give(nil); b.err != nil {
			return b.err
		}
	}
	return nil
}

// A branch runs one of the pipelines as a coroutine. It yields whenever it needs the next document.
type branch struct {
	now   doc.Doc // the current document, nil at the end
	next  func() (struct{}, bool)
	stop  func()
	ended bool
	out   list
	err   error
}

func startBranch(r *run, p *Pipeline, held *budget) *branch {
	b := &branch{}
	b.next, b.stop = iter.Pull(func(rest func(struct{}) bool) {
		input := func(yield func(doc.Doc, error) bool) {
			for rest(struct{}{}) && b.now != nil && yield(b.now, nil) {
			}
		}
		for d, err := range p.rows(r, input) {
			if err == nil {
				before := cap(b.out.buf)
				b.out.add(doc.Value{Type: bsoncore.TypeEmbeddedDocument, Data: d})
				err = held.take(cap(b.out.buf) - before)
			}
			if err != nil {
				b.err = err
				return
			}
		}
	})
	b.advance() // to where it needs the first document
	return b
}

func (b *branch) advance() {
	if _, resting := b.next(); !resting {
		b.ended = true
	}
}

func (b *branch) give(d doc.Doc) {
	if !b.ended {
		b.now = d
		b.advance()
	}
}

func parseFacet(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) || size(arg.Data) == 0 {
		return nil, code.New(40169, "the $facet specification must be a non-empty object, but found: $facet: %s",
			code.Show(arg))
	}
	s := &facet{}
	for name, v := range doc.Members(arg.Data) {
		if err := expression.CheckName(name); err != nil {
			return nil, within("$facet pipeline names must follow the naming rules of field path expressions.", err)
		}
		if !doc.IsArray(v) {
			return nil, code.New(40170, "arguments to $facet must be arrays, %s is type %s", name, code.TypeName(v))
		}
		for e := range doc.Elements(v) {
			if !isObject(e) {
				return nil, code.New(40171,
					"elements of arrays in $facet spec must be non-empty objects, %s argument contained "+
						"an element of type %s: %s", name, code.TypeName(e), code.Show(e))
			}
		}
		p, err := c.sub(v, "$facet", c.names)
		if err != nil {
			return nil, err
		}
		s.names, s.pipelines = append(s.names, name), append(s.pipelines, p)
	}
	return s, nil
}
