package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A Merge is $merge, as the server executes it.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/merge/
type Merge struct {
	Into           Namespace
	On             []string // the paths whose values identify a document: ["_id"] by default
	WhenMatched    string   // replace, keepExisting, merge, fail or pipeline
	WhenNotMatched string   // insert, discard or fail

	paths    []path
	pipeline *Pipeline
	vars     []letVariable
}

// NotMatched is the error for a document without a match, if whenNotMatched is fail.
func (m *Merge) NotMatched() error {
	return code.New(13113,
		"$merge could not find a matching document in the target collection for at least one document in the source "+
			"collection")
}

// Failed is the error that a client gets for a write that failed with err.
// mongodb/mongo: src/mongo/db/pipeline/document_source_merge.cpp
func (m *Merge) Failed(err error) error {
	e := code.Of(err)
	switch {
	case e == nil:
		return err
	case e.Code == code.DuplicateKey && m.WhenMatched == "fail" && m.isOn(e.Info):
		return within("$merge with whenMatched: fail found an existing document with the same values for the 'on' "+
			"fields", err)
	case e.Code == code.DuplicateKey:
		return within("$merge failed due to a DuplicateKey error", err)
	case e.Code == code.ImmutableField:
		return within("$merge failed to update the matching document, did you attempt to modify the _id or the shard "+
			"key?", err)
	}
	return err
}

// isOn reports whether a duplicate key error is about the index on the fields On.
func (m *Merge) isOn(info doc.Doc) bool {
	n := 0
	for name := range doc.Members(doc.Lookup(info, "keyPattern").Data) {
		if n++; !slices.Contains(m.On, name) {
			return false
		}
	}
	return n == len(m.On)
}

type mergeStage struct{ Merge }

func (s *mergeStage) name() string { return "$merge" }

func (s *mergeStage) containers(see func(Namespace, bool)) {
	see(s.Into, true)
	if s.pipeline != nil {
		s.pipeline.eachContainer(see)
	}
}

func (s *mergeStage) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		if err := s.write(r, in); err != nil {
			yield(nil, err)
		}
	}
}

func (s *mergeStage) write(r *run, in Rows) error {
	server, err := r.server("$merge")
	if err != nil {
		return err
	}
	change, err := s.changeFunc(r)
	if err != nil {
		return err
	}
	for d, err := range in {
		if err == nil && len(d) > MaxDocumentBytes {
			err = tooLarge(len(d))
		}
		if err == nil {
			err = s.checkOn(r, d)
		}
		if err == nil {
			err = server.Merge(r.ctx, &s.Merge, d, func(old doc.Doc) (doc.Doc, error) { return change(old, d) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkOn refuses a document without a value that identifies it. A missing _id is allowed: the document gets a new one.
func (s *mergeStage) checkOn(r *run, d doc.Doc) error {
	for i, p := range s.paths {
		if err := r.passing(d); err != nil {
			return err
		}
		v := p.in(d)
		switch {
		case nullish(v) && s.On[i] == "_id" && v.Type == 0:
		case nullish(v):
			return code.New(51132, "$merge write error: 'on' field '%s' cannot be missing, null or undefined", s.On[i])
		case doc.IsArray(v):
			return code.New(51185, "$merge write error: 'on' field '%s' cannot be an array", s.On[i])
		}
	}
	return nil
}

// changeFunc returns how whenMatched changes an existing document.
func (s *mergeStage) changeFunc(r *run) (func(old, d doc.Doc) (doc.Doc, error), error) {
	var buf []byte
	switch s.WhenMatched {
	case "keepExisting":
		return func(old, _ doc.Doc) (doc.Doc, error) { return old, nil }, nil
	case "merge":
		return func(old, d doc.Doc) (doc.Doc, error) {
			buf = appendMerged(r.meter, buf[:0], old, d)
			return buf, r.meter.Err()
		}, nil
	case "pipeline":
		return s.pipelineChange(r)
	}
	return func(old, d doc.Doc) (doc.Doc, error) {
		if doc.Lookup(d, "_id").Type != 0 {
			return d, nil
		}
		b, at := beginDoc(buf[:0])
		b = appendMember(b, "_id", doc.Lookup(old, "_id"))
		buf = endDoc(append(b, d[4:len(d)-1]...), at)
		return buf, nil
	}, nil
}

// pipelineChange returns a change by a pipeline, which sees the new document in its variables.
func (s *mergeStage) pipelineChange(r *run) (func(old, d doc.Doc) (doc.Doc, error), error) {
	steps := make([]mapFunc, len(s.pipeline.stages))
	for i, st := range s.pipeline.stages {
		steps[i] = st.(mapper).mapper(r)
	}
	scope := r.scope()
	return func(old, d doc.Doc) (doc.Doc, error) {
		scope.Reset(doc.Object(d))
		if err := setVariables(r, scope, s.vars); err != nil {
			return nil, err
		}
		for _, step := range steps {
			var err error
			if old, _, err = step(old); err != nil {
				return nil, err
			}
		}
		return old, nil
	}, nil
}

func parseMerge(c *compiler, arg doc.Value) (stage, error) {
	s := &mergeStage{Merge{WhenMatched: "merge", WhenNotMatched: "insert", On: []string{"_id"}}}
	switch arg.Type {
	case bsoncore.TypeString:
		s.Into.Container, _ = doc.AsString(arg)
	case bsoncore.TypeEmbeddedDocument:
		if err := s.options(c, arg.Data); err != nil {
			return nil, err
		}
	default:
		return nil, code.New(code.TypeMismatch, "$merge requires a string or object argument, but found %s",
			code.TypeName(arg))
	}
	for _, on := range s.On {
		p, err := parsePath(on)
		if err != nil {
			return nil, err
		}
		s.paths = append(s.paths, p)
	}
	if !s.supported() {
		return nil, code.New(51181,
			"Combination of $merge modes 'whenMatched: %s' and 'whenNotMatched: %s' is not supported",
			s.WhenMatched, s.WhenNotMatched)
	}
	if err := checkTarget("$merge", s.Into); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *mergeStage) supported() bool {
	return s.WhenNotMatched == "insert" || s.WhenMatched != "keepExisting" && s.WhenMatched != "fail"
}

func (s *mergeStage) options(c *compiler, spec doc.Doc) error {
	var let, stages doc.Value
	given := false
	for name, v := range doc.Members(spec) {
		var err error
		switch name {
		case "into":
			given = true
			err = s.parseInto(v)
		case "on":
			err = s.parseOn(c, v)
		case "let":
			let = v
		case "whenMatched":
			if doc.IsArray(v) {
				stages, s.WhenMatched = v, "pipeline"
				break
			}
			if v.Type != bsoncore.TypeString {
				return code.New(51191, "$merge 'whenMatched' field must be either a string or an array, but found %s",
					code.TypeName(v))
			}
			s.WhenMatched, err = oneOf(name, v, "replace", "merge", "keepExisting", "fail")
		case "whenNotMatched":
			s.WhenNotMatched, err = oneOf(name, v, "insert", "discard", "fail")
		default:
			err = unknownField("$merge", name)
		}
		if err != nil {
			return err
		}
	}
	if !given {
		return missingField("$merge", "into")
	}
	return s.parsePipeline(c, let, stages)
}

// parsePipeline compiles the stages of whenMatched and their variables.
func (s *mergeStage) parsePipeline(c *compiler, let, stages doc.Value) error {
	if stages.Type == 0 {
		if let.Type != 0 {
			return code.New(51199, "Cannot use 'let' variables with 'whenMatched: %s' mode", s.WhenMatched)
		}
		return nil
	}
	names, vars, err := c.parseLet("$merge", let)
	if err != nil {
		return err
	}
	if v := doc.Lookup(let.Data, "new"); isObject(let) && v.Type != 0 {
		if text, _ := doc.AsString(v); text != "$$ROOT" {
			return code.New(51273, "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'")
		}
	} else if let.Type == 0 || s.WhenNotMatched == "insert" {
		root, err := expression.Compile(doc.String("$$ROOT"), names)
		if err != nil {
			return err
		}
		var slot int
		names, slot = names.With("new")
		vars = append(vars, letVariable{root, slot})
	}
	var list []doc.Value
	for v := range doc.Elements(stages) {
		list = append(list, v)
	}
	inner := c.inner(names, "$merge")
	inner.updateOnly = true
	s.vars = vars
	s.pipeline, err = inner.pipeline(list)
	return err
}

func (s *mergeStage) parseInto(v doc.Value) error {
	if v.Type == bsoncore.TypeString {
		s.Into.Container, _ = doc.AsString(v)
		return nil
	}
	if !isObject(v) {
		return code.New(51178, "$merge 'into' field  must be either a string or an object, but found %s",
			code.TypeName(v))
	}
	for name, m := range doc.Members(v.Data) {
		text, ok := doc.AsString(m)
		switch {
		case name != "db" && name != "coll":
			return unknownField("$merge.into", name)
		case !ok:
			return wrongType("$merge.into", name, m, "string")
		case name == "db":
			s.Into.Database = text
		default:
			s.Into.Container = text
		}
	}
	if s.Into.Container == "" {
		return missingField("$merge.into", "coll")
	}
	return nil
}

func (s *mergeStage) parseOn(c *compiler, v doc.Value) error {
	switch v.Type {
	case bsoncore.TypeString:
		text, _ := doc.AsString(v)
		s.On = []string{text}
		return nil
	case bsoncore.TypeArray:
	default:
		return code.New(51186, "$merge 'on' field  must be either a string or an array of strings, but found %s",
			code.TypeName(v))
	}
	s.On = nil
	for e := range doc.Elements(v) {
		text, ok := doc.AsString(e)
		if !ok {
			return code.New(51134, "$merge 'on' array elements must be strings, but found %s", code.TypeName(e))
		}
		if err := c.names.Work().Spend(work.Operator + len(s.On)); err != nil {
			return err
		}
		if slices.Contains(s.On, text) {
			return code.New(31465, "Found a duplicate field '%s'", text)
		}
		s.On = append(s.On, text)
	}
	if len(s.On) == 0 {
		return code.New(51187, "If explicitly specifying $merge 'on', must include at least one field")
	}
	return nil
}

// oneOf returns the text of v if it is allowed, else an error.
func oneOf(name string, v doc.Value, allowed ...string) (string, error) {
	text, ok := doc.AsString(v)
	if !ok {
		return "", wrongType("$merge", name, v, "string")
	}
	if !slices.Contains(allowed, text) {
		return "", code.New(code.BadValue, "Enumeration value '%s' for field '$merge.%s' is not a valid value.", text,
			name)
	}
	return text, nil
}
