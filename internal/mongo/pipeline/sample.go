package pipeline

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A sample is $sample: size random documents, each at most once.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/sample/
type sample struct{ size int64 }

func (s *sample) name() string { return "$sample" }

func (s *sample) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		drawn, err := s.draw(r, in)
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range drawn {
			j := i + int(r.random()*float64(len(drawn)-i))
			drawn[i], drawn[j] = drawn[j], drawn[i]
			if !yield(drawn[i], nil) {
				return
			}
		}
	}
}

// Sampled splits off a first stage that draws a random sample of so many documents.
func (p *Pipeline) Sampled() (size int64, stage, rest *Pipeline, ok bool) {
	if len(p.stages) == 0 {
		return 0, nil, nil, false
	}
	s, ok := p.stages[0].(*sample)
	if !ok {
		return 0, nil, nil, false
	}
	stage, rest = p.split(1)
	return s.size, stage, rest, true
}

// draw is Vitter's algorithm R, which reads the documents once and keeps only the sample.
func (s *sample) draw(r *run, in Rows) ([]doc.Doc, error) {
	var drawn []doc.Doc
	held := r.budget("$sample")
	seen := int64(0)
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		seen++
		if int64(len(drawn)) < s.size {
			if err := held.take(len(d) + entryBytes); err != nil {
				return nil, err
			}
			drawn = append(drawn, slices.Clone(d))
			continue
		}
		if i := int64(r.random() * float64(seen)); i < s.size {
			if err := held.take(len(d) - len(drawn[i])); err != nil {
				return nil, err
			}
			drawn[i] = append(drawn[i][:0], d...)
		}
	}
	return drawn, nil
}

func parseSample(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(28745, "the $sample stage specification must be an object")
	}
	given := false
	s := &sample{}
	for name, v := range doc.Members(arg.Data) {
		if name != "size" {
			return nil, code.New(28748, "unrecognized option to $sample: %s", name)
		}
		if !doc.IsNumberBSON(v) {
			return nil, code.New(28746, "size argument to $sample must be a number")
		}
		given, s.size = true, int64(whole32(v))
	}
	switch {
	case !given:
		return nil, code.New(28749, "$sample stage must specify a size")
	case s.size <= 0:
		return nil, code.New(28747, "size argument to $sample must be a positive integer")
	}
	return s, nil
}
