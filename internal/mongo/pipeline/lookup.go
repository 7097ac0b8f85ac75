package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A join is $lookup: for each document, an array of matching documents of another container. They match by equal
// values, by a pipeline with variables of the document, or by both.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/lookup/
type join struct {
	from           Namespace
	as             path
	local, foreign path // nil for none
	foreignText    string
	vars           []letVariable
	pipeline       *Pipeline // nil for none
	equal          *correlation
}

func (s *join) name() string { return "$lookup" }

func (s *join) containers(see func(Namespace, bool)) {
	if s.from.Container != "" {
		see(s.from, false)
	}
	if s.pipeline != nil {
		s.pipeline.eachContainer(see)
	}
}

func (s *join) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		j, err := s.begin(r)
		if err != nil {
			yield(nil, err)
			return
		}
		var buf []byte
		out := 0 // bytes that the row takes
		for d, err := range in {
			var found doc.Value
			if err == nil {
				found, err = j.find(d)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if err := j.held.take(len(d) + len(found.Data) - out); err != nil {
				yield(nil, err)
				return
			}
			out = len(d) + len(found.Data)
			buf = s.as.appendSet(buf[:0], d, found)
			if !yield(buf, nil) {
				return
			}
		}
	}
}

func (s *join) begin(r *run) (*joinRun, error) {
	server, err := r.server("$lookup")
	if err != nil && !s.pipeline.beginsWithDocuments() {
		return nil, err
	}
	j := &joinRun{join: s, r: r, scope: r.scope(), held: r.budget("$lookup")}
	if s.foreign != nil {
		j.by = &equality{r: r, server: server, from: s.from, path: s.foreign, text: s.foreignText}
	} else if s.equal != nil {
		j.by = &equality{r: r, server: server, from: s.from, path: s.equal.path, text: s.equal.text}
	}
	return j, nil
}

// A joinRun is one run of a join.
type joinRun struct {
	*join
	r      *run
	scope  *expression.Scope
	by     *equality // nil if no field has to be equal
	values []doc.Value
	found  list
	held   budget
	room   int  // bytes counted for found
	cached bool // found is the same for all documents
}

// find returns the array for one document, valid until the next find.
func (j *joinRun) find(d doc.Doc) (doc.Value, error) {
	if j.cached {
		return j.found.value(), nil
	}
	if err := j.r.turn(); err != nil {
		return doc.Value{}, err
	}
	j.scope.Reset(doc.Object(d))
	if err := setVariables(j.r, j.scope, j.vars); err != nil {
		return doc.Value{}, err
	}
	if j.pipeline != nil { // each run makes scopes of its own
		defer j.r.meter.Release(j.r.meter.Mark())
	}
	j.found.reset()
	for row, err := range j.matching(d) {
		if err != nil {
			return doc.Value{}, err
		}
		if err := j.r.passing(row); err != nil {
			return doc.Value{}, err
		}
		if err := j.makeRoom(len(row) + rowBytes); err != nil {
			return doc.Value{}, err
		}
		j.found.add(doc.Object(row))
		if len(j.found.buf) > MaxDocumentBytes {
			return doc.Value{}, code.New(4568,
				"Total size of documents in %s matching pipeline's $lookup stage exceeds %d bytes",
				j.from.Container, MaxDocumentBytes)
		}
	}
	j.cached = j.local == nil && len(j.vars) == 0
	return j.found.value(), nil
}

const rowBytes = 16 // of an element of an array in addition to its value, and of the array itself

// makeRoom makes room for n more bytes in found.
func (j *joinRun) makeRoom(n int) error {
	if n += len(j.found.buf); n <= j.room {
		return nil
	}
	n = max(n, 2*j.room)
	if err := j.held.take(n - j.room); err != nil {
		return err
	}
	j.room = n
	j.found.buf = slices.Grow(j.found.buf, n-len(j.found.buf))
	return nil
}

// matching yields the rows that match d.
func (j *joinRun) matching(d doc.Doc) Rows {
	switch {
	case j.local != nil && j.pipeline == nil:
		return j.equals(d)
	case j.local != nil && j.pipeline.beginsWithDocuments():
		return j.documents(d)
	case j.local != nil:
		return j.pipeline.rows(j.r, j.equals(d))
	case j.equal != nil:
		if v, ok := j.equal.value(j.scope); ok {
			j.values = append(j.values[:0], v)
			return j.pipeline.rows(j.r, j.by.find(j.values, false))
		}
	}
	return j.pipeline.over(j.r, "$lookup", j.from)
}

// equals yields the documents whose foreign field is equal to the local field or to an element of it. A missing field
// counts as null.
func (j *joinRun) equals(d doc.Doc) Rows {
	j.values = j.values[:0]
	j.local.values(j.r.meter, doc.Object(d), func(v doc.Value) { j.values = append(j.values, v) })
	if err := j.r.meter.Err(); err != nil {
		return fail(err)
	}
	if len(j.values) == 0 {
		j.values = append(j.values, null)
	}
	return j.by.find(j.values, true)
}

func parseLookup(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(code.FailedToParse, "the $lookup stage specification must be an object, but found %s",
			code.TypeName(arg))
	}
	s := &join{}
	var as, local, foreign string
	var let, stages doc.Value
	for name, v := range doc.Members(arg.Data) {
		switch name {
		case "pipeline":
			stages = v
			continue
		case "let":
			let = v
			continue
		}
		text, ok := doc.AsString(v)
		switch {
		case name == "from" && isObject(v):
			return nil, code.New(code.FailedToParse,
				"$lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: %s and coll: %s",
				code.Show(doc.Lookup(v.Data, "db")), code.Show(doc.Lookup(v.Data, "coll")))
		case name == "from" && !ok:
			return nil, code.New(code.FailedToParse, "$lookup 'from' field must be a string, but found %s",
				code.TypeName(v))
		case name != "from" && name != "as" && name != "localField" && name != "foreignField" && ok:
			return nil, code.New(code.FailedToParse, "unknown argument to $lookup: %s", name)
		case !ok:
			return nil, code.New(code.FailedToParse, "$lookup argument '%s' must be a string, found %s: %s: %s", name,
				name, code.Show(v), code.TypeName(v))
		case name == "from":
			s.from.Container = text
		case name == "as":
			as = text
		case name == "localField":
			local = text
		default:
			foreign = text
		}
	}
	if err := s.check(as, local, foreign, let, stages); err != nil {
		return nil, err
	}
	return s, s.parse(c, as, local, foreign, let, stages)
}

func (s *join) check(as, local, foreign string, let, stages doc.Value) error {
	const noSource = "$lookup stage without explicit collection must have a pipeline with $documents as first stage"
	switch {
	case s.from.Container == "" && stages.Type == 0:
		return code.New(code.FailedToParse, "must specify 'pipeline' when 'from' is empty")
	case s.from.Container == "" && !firstStageIs(stages, "$documents"):
		return code.New(code.FailedToParse, noSource)
	case as == "":
		return code.New(code.FailedToParse, "must specify 'as' field for a $lookup")
	case (local == "") != (foreign == "") && stages.Type != 0:
		return code.New(code.FailedToParse,
			"$lookup requires both or neither of 'localField' and 'foreignField' to be specified")
	case stages.Type == 0 && (local == "" || foreign == ""):
		return code.New(code.FailedToParse,
			"$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified")
	case stages.Type == 0 && let.Type != 0:
		return code.New(code.FailedToParse, "$lookup with a 'let' argument must also specify 'pipeline'")
	}
	return nil
}

func firstStageIs(stages doc.Value, name string) bool {
	for v := range doc.Elements(stages) {
		return isObject(v) && doc.Lookup(v.Data, name).Type != 0
	}
	return false
}

func (s *join) parse(c *compiler, as, local, foreign string, let, stages doc.Value) (err error) {
	if s.as, err = parsePath(as); err != nil {
		return err
	}
	if local != "" {
		if s.local, err = parsePath(local); err != nil {
			return err
		}
		if s.foreign, err = parsePath(foreign); err != nil {
			return err
		}
		s.foreignText = foreign
	}
	if stages.Type == 0 {
		return nil
	}
	names, vars, err := c.parseLet("$lookup", let)
	if err != nil {
		return err
	}
	s.vars = vars
	if s.pipeline, err = c.sub(stages, "$lookup", names); err != nil {
		return err
	}
	if s.local == nil && len(vars) > 0 {
		s.equal = correlated(s.pipeline, names)
	}
	return nil
}

// documents is for pipelines that begin with $documents: the rows with an equal field go through the other stages.
func (j *joinRun) documents(d doc.Doc) Rows {
	j.values = j.values[:0]
	j.local.values(j.r.meter, doc.Object(d), func(v doc.Value) { j.values = append(j.values, v) })
	if len(j.values) == 0 {
		j.values = append(j.values, null)
	}
	patterns := false
	for _, v := range j.values {
		patterns = patterns || v.Type == bsoncore.TypeRegex
	}
	accepts, err := compileOneOf(j.r.meter, j.foreignText, j.values, patterns)
	if err != nil {
		return fail(err)
	}
	first := &Pipeline{stages: j.pipeline.stages[:1], names: j.pipeline.names}
	rest := &Pipeline{stages: j.pipeline.stages[1:], names: j.pipeline.names}
	return rest.rows(j.r, j.r.filtered(first.rows(j.r, nil), accepts))
}
