package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A compiler compiles one pipeline.
type compiler struct {
	names      *expression.Names
	updateOnly bool
	depth      int               // number of pipelines around this one
	inside     string            // the stage whose sub-pipeline this is, "" at the top
	inFacet    bool              // a stage around it is a $facet
	parsers    map[string]parser // the table of the same name
	asGiven    bool              // the stages stay in their order
}

// A series is what a stage that stands for several stages is parsed to.
type series []stage

func (series) name() string { return "" }

// inUpdates are the stages that an update may have.
var inUpdates = map[string]bool{
	"$addFields": true, "$set": true, "$unset": true, "$project": true, "$replaceRoot": true, "$replaceWith": true,
}

// notInFacet are the stages that may not be in a $facet, nor in a sub-pipeline in it.
var notInFacet = map[string]bool{"$facet": true, "$out": true, "$merge": true, "$documents": true}

// pipeline compiles stages. It may keep their memory.
func (c *compiler) pipeline(stages []doc.Value) (*Pipeline, error) {
	if len(stages) > MaxStages {
		return nil, code.New(7749501, "Pipeline length must be no longer than %d stages.", MaxStages)
	}
	var steps []step
	for i, v := range stages {
		spec, ok := doc.AsDoc(v)
		if !ok {
			return nil, code.New(code.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
		s, err := c.stage(spec, i == 0, i == len(stages)-1)
		if err != nil {
			return nil, err
		}
		several, ok := s.(series)
		if !ok {
			several = series{s}
		}
		steps = append(steps, step{spec, several})
	}
	if c.asGiven {
		return c.of(steps), nil
	}
	if c.inside != "" || writes(steps) { // it cannot run again in another order
		reordered, _ := c.reorder(steps, sortedSafely)
		return c.of(reordered), nil
	}
	reordered, risky := c.reorder(steps, sortedAhead)
	p := c.of(reordered)
	if risky {
		reordered, _ = c.reorder(steps, sortedSafely)
		p.safe = c.of(reordered)
	}
	return p, nil
}

// writes reports whether the last step writes to a container.
func writes(steps []step) bool {
	if len(steps) == 0 {
		return false
	}
	switch steps[len(steps)-1].only().(type) {
	case *mergeStage, *out:
		return true
	}
	return false
}

// of makes a pipeline of steps.
func (c *compiler) of(steps []step) *Pipeline {
	p := &Pipeline{names: c.names}
	for _, s := range steps {
		p.specs = append(p.specs, s.spec)
		p.stages = append(p.stages, s.stages...)
	}
	bindLimits(p.stages)
	return p
}

// stage compiles {$name: argument}.
func (c *compiler) stage(spec doc.Doc, first, last bool) (stage, error) {
	name, arg, n := "", doc.Value{}, 0
	for m, v := range doc.Members(spec) {
		name, arg = m, v
		n++
	}
	if n != 1 {
		return nil, code.New(40323, "A pipeline stage specification object must contain exactly one field.")
	}
	if c.names.Stable() {
		if err := checkStable(name, arg); err != nil {
			return nil, err
		}
	}
	parse := c.parsers[name]
	switch {
	case parse == nil:
		return nil, code.New(code.UnrecognizedStage, "Unrecognized pipeline stage name: '%s'", name)
	case c.updateOnly && !inUpdates[name]:
		return nil, code.New(code.InvalidOptions, "%s is not allowed to be used within an update", name)
	case c.inFacet && (notInFacet[name] || isServerStage(name)):
		if c.inside != "$facet" {
			name += " inside of " + c.inside
		}
		return nil, code.New(40600, "%s is not allowed to be used within a $facet stage", name)
	}
	if err := c.position(name, first, last); err != nil {
		return nil, err
	}
	return parse(c, arg)
}

// position checks stages that may only be first or last.
func (c *compiler) position(name string, first, last bool) error {
	switch {
	case name == "$out" || name == "$merge":
		switch c.inside {
		case "$lookup":
			return code.New(51047, "%s is not allowed within a $lookup's sub-pipeline", name)
		case "$unionWith":
			return code.New(31441, "%s is not allowed within a $unionWith's sub-pipeline", name)
		}
		if !last {
			return code.New(40601, "%s can only be the final stage in the pipeline", name)
		}
	case name == "$documents" || isServerStage(name):
		if !first {
			return code.New(40602, "%s is only valid as the first stage in a pipeline", name)
		}
		if c.inside == "$lookup" && name != "$documents" {
			return code.New(51047, "%s is not allowed within a $lookup's sub-pipeline", name)
		}
		if c.inside == "$unionWith" && name == "$changeStream" {
			return code.New(31441, "%s is not allowed within a $unionWith's sub-pipeline", name)
		}
	}
	return nil
}

// inner is a compiler of a pipeline in a stage.
func (c *compiler) inner(names *expression.Names, stage string) *compiler {
	return &compiler{names: names, depth: c.depth + 1, inside: stage, parsers: c.parsers,
		asGiven: c.asGiven}
}

// sub compiles a pipeline that is part of a stage.
func (c *compiler) sub(stages doc.Value, stage string, names *expression.Names) (*Pipeline, error) {
	if !doc.IsArray(stages) {
		return nil, code.New(code.TypeMismatch, "'pipeline' option must be specified as an array")
	}
	inner := c.inner(names, stage)
	inner.inFacet = c.inFacet || stage == "$facet"
	if inner.depth > MaxDepth {
		return nil, code.New(232, "Maximum number of nested sub-pipelines exceeded. Limit is %d", MaxDepth)
	}
	var list []doc.Value
	for v := range doc.Elements(stages) {
		list = append(list, v)
	}
	p, err := inner.pipeline(list)
	if err != nil {
		return nil, err
	}
	p.lead = p.Prefix().Match
	return p, nil
}

func unknownField(stage, name string) error {
	return code.New(code.UnknownFieldOfCommand, "BSON field '%s.%s' is an unknown field.", stage, name)
}

func missingField(stage, name string) error {
	return code.New(code.MissingFieldOfCommand, "BSON field '%s.%s' is missing but a required field", stage, name)
}

func wrongType(stage, name string, v doc.Value, expected string) error {
	return code.New(code.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'", stage, name,
		code.TypeName(v), expected)
}

// within prefixes the text of an error with the operation that caused it, as MongoDB does.
func within(what string, err error) error {
	e := code.Of(err)
	if e == nil {
		return err
	}
	with := *e
	with.Message = what + " :: caused by :: " + e.Message
	return &with
}
