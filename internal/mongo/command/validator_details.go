package command

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// Limits on the size of an error.
const (
	maxFailureDetails = 100 // conditions
	maxFailureDepth   = 20
	maxConsidered     = 4 << 10 // bytes of a value that is shown
)

// failureDetails writes which conditions of a query a document does not satisfy, in the form of MongoDB's
// errInfo.details.
type failureDetails struct {
	r     *request
	d     doc.Doc
	left  int // conditions that may still be written
	depth int
}

// fails reports whether the document does not satisfy a query.
func (p *failureDetails) fails(query doc.Doc) bool {
	f, err := filter.Compile(query, filter.Options{Names: expression.NewNames()})
	if err != nil {
		return false
	}
	s := p.r.scope(expression.NewNames(), nil)
	s.Reset(doc.Object(p.d))
	ok, err := f.Match(p.d, s)
	return err == nil && !ok
}

// one is a document with one member.
func one(name string, v doc.Value) doc.Doc {
	a := newAnswer(nil)
	a.value(name, v)
	return a.end()
}

// another reports whether one more condition may be written.
func (p *failureDetails) another() bool {
	p.left--
	return p.left >= 0 && p.depth < maxFailureDepth
}

// query writes which conditions of a query fail. Several members are an implicit $and.
func (p *failureDetails) query(a *answer, query doc.Doc) {
	var clauses []doc.Doc
	for name, v := range doc.Members(query) {
		clauses = append(clauses, splitClause(name, v)...)
	}
	if len(clauses) == 1 {
		p.clause(a, clauses[0])
		return
	}
	a.string("operatorName", "$and")
	p.clauses(a, clauses)
}

// splitClause splits {a: {$gt: 1, $lt: 5}} into two conditions.
func splitClause(name string, v doc.Value) []doc.Doc {
	if d, ok := doc.AsDoc(v); ok && !strings.HasPrefix(name, "$") {
		var list []doc.Doc
		for op, arg := range doc.Members(d) {
			if !strings.HasPrefix(op, "$") || op == "$options" || op == "$regex" {
				return []doc.Doc{one(name, v)}
			}
			list = append(list, one(name, doc.Object(one(op, arg))))
		}
		if len(list) > 0 {
			return list
		}
	}
	return []doc.Doc{one(name, v)}
}

func (p *failureDetails) clauses(a *answer, clauses []doc.Doc) {
	p.depth++
	a.array("clausesNotSatisfied")
	for i, clause := range clauses {
		if !p.fails(clause) || !p.another() {
			continue
		}
		a.object(a.index())
		a.int32("index", i)
		a.object("details")
		p.clause(a, clause)
		a.close()
		a.close()
	}
	a.close()
	p.depth--
}

// clause writes why one condition fails.
func (p *failureDetails) clause(a *answer, clause doc.Doc) {
	for name, v := range doc.Members(clause) {
		switch name {
		case "$and", "$or", "$nor":
			a.string("operatorName", name)
			p.logical(a, name, v)
		case "$jsonSchema":
			a.string("operatorName", name)
			if schema, ok := doc.AsDoc(v); ok {
				p.title(a, schema)
				p.schema(a, "schemaRulesNotSatisfied", schema, nil)
			}
		case "$expr":
			a.string("operatorName", name)
			a.doc("specifiedAs", clause)
			a.string("reason", "expression did not match")
			a.bool("expressionResult", false)
		default:
			p.field(a, name, v, clause)
		}
	}
}

func (p *failureDetails) logical(a *answer, name string, v doc.Value) {
	if name == "$nor" {
		a.array("clausesSatisfied")
		i := 0
		for e := range doc.Elements(v) {
			d, ok := doc.AsDoc(e)
			if ok && !p.fails(d) && p.another() {
				a.object(a.index())
				a.int32("index", i)
				a.doc("details", d)
				a.close()
			}
			i++
		}
		a.close()
		return
	}
	var clauses []doc.Doc
	for e := range doc.Elements(v) {
		if d, ok := doc.AsDoc(e); ok {
			clauses = append(clauses, d)
		}
	}
	p.depth++
	a.array("clausesNotSatisfied")
	for i, clause := range clauses {
		if !p.fails(clause) || !p.another() {
			continue
		}
		a.object(a.index())
		a.int32("index", i)
		a.object("details")
		p.query(a, clause)
		a.close()
		a.close()
	}
	a.close()
	p.depth--
}

// reasons are MongoDB's texts about an operator that is not satisfied.
var reasons = map[string]string{
	"$eq":           "comparison failed",
	"$ne":           "comparison failed",
	"$gt":           "comparison failed",
	"$gte":          "comparison failed",
	"$lt":           "comparison failed",
	"$lte":          "comparison failed",
	"$in":           "no matching value found in array",
	"$nin":          "matching value found in array",
	"$exists":       "path does not exist",
	"$type":         "type did not match",
	"$regex":        "regular expression did not match",
	"$size":         "array length was not equal to given size",
	"$mod":          "$mod did not evaluate to expected remainder",
	"$all":          "array did not contain all specified values",
	"$elemMatch":    "array did not satisfy the child predicate",
	"$not":          "child expression matched",
	"$bitsAllSet":   "bitwise operator failed to match",
	"$bitsAllClear": "bitwise operator failed to match",
	"$bitsAnySet":   "bitwise operator failed to match",
	"$bitsAnyClear": "bitwise operator failed to match",
}

// field writes why a condition on a path fails.
func (p *failureDetails) field(a *answer, path string, v doc.Value, clause doc.Doc) {
	op := "$eq"
	if v.Type == bsoncore.TypeRegex {
		op = "$regex"
	}
	if d, ok := doc.AsDoc(v); ok {
		for name := range doc.Members(d) {
			if strings.HasPrefix(name, "$") {
				op = name
			}
			break
		}
	}
	a.string("operatorName", op)
	a.doc("specifiedAs", clause)
	var found []doc.Value
	if parsed, err := filter.ParsePath(path); err == nil {
		parsed.Walk(p.d, filter.Whole, p.r.work(), func(v doc.Value, _ int) bool {
			if v.Type != 0 {
				found = append(found, v)
			}
			return len(found) > 10
		})
	}
	if len(found) == 0 && op != "$exists" && op != "$ne" && op != "$nin" && op != "$not" {
		a.string("reason", "field was missing")
		return
	}
	reason := reasons[op]
	if op == "$exists" && len(found) > 0 {
		reason = "path does exist"
	}
	if reason != "" {
		a.string("reason", reason)
	}
	if len(found) > 0 {
		a.considered(found[0])
		if op == "$type" {
			a.string("consideredType", code.TypeName(found[0]))
		}
	}
}

// considered writes the value that failed a condition, unless it is large.
func (a *answer) considered(v doc.Value) {
	if len(v.Data) <= maxConsidered {
		a.value("consideredValue", v)
	}
}
