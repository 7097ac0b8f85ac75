package write

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// Limits on the size of an error.
const (
	maxMismatches    = 100 // conditions
	maxMismatchDepth = 20
	maxConsidered    = 4 << 10 // bytes of a value that is shown
)

// A mismatch tells which conditions of a query one document does not satisfy, in the form of
// MongoDB's errInfo.details.
type mismatch struct {
	o     *session.Operation
	d     doc.Doc
	left  int // conditions that may still be written
	depth int
}

// fails reports whether the document does not satisfy a query.
func (p *mismatch) fails(query doc.Doc) bool {
	// Each condition is compiled by itself to see which one failed. Compiling is slow, but only for documents that are
	// refused, and maxMismatches bounds it.
	f, err := filter.Compile(query, filter.Options{Names: expression.NewNames()})
	if err != nil {
		return false
	}
	s := p.o.Scope(expression.NewNames(), nil)
	s.Reset(doc.Object(p.d))
	ok, err := f.Match(p.d, s)
	return err == nil && !ok
}

// hasRoom reports whether there is room for another condition.
func (p *mismatch) hasRoom() bool {
	p.left--
	return p.left >= 0 && p.depth < maxMismatchDepth
}

// query writes what is wrong with a whole query, an implicit $and when it has several members.
func (p *mismatch) query(a *doc.Writer, query doc.Doc) {
	var clauses []doc.Doc
	for name, v := range doc.Members(query) {
		clauses = append(clauses, splitClause(name, v)...)
	}
	// MongoDB shows a single condition without the $and that several have.
	if len(clauses) == 1 {
		p.clause(a, clauses[0])
		return
	}
	a.String("operatorName", "$and")
	p.clauses(a, clauses, p.clause)
}

// splitClause splits {a: {$gt: 1, $lt: 5}} into two conditions.
func splitClause(name string, v doc.Value) []doc.Doc {
	if d, ok := doc.AsDoc(v); ok && !strings.HasPrefix(name, "$") {
		var list []doc.Doc
		for op, arg := range doc.Members(d) {
			if !strings.HasPrefix(op, "$") || op == "$options" || op == "$regex" {
				return []doc.Doc{doc.Single(name, v)}
			}
			list = append(list, doc.Single(name, doc.Object(doc.Single(op, arg))))
		}
		if len(list) > 0 {
			return list
		}
	}
	return []doc.Doc{doc.Single(name, v)}
}

// clauses writes which conditions are not satisfied, and with details what is wrong with each.
func (p *mismatch) clauses(a *doc.Writer, clauses []doc.Doc, details func(*doc.Writer, doc.Doc)) {
	p.depth++
	a.Array("clausesNotSatisfied")
	for i, clause := range clauses {
		if !p.fails(clause) || !p.hasRoom() {
			continue
		}
		a.Object(a.Index())
		a.Int32("index", i)
		a.Object("details")
		details(a, clause)
		a.Close()
		a.Close()
	}
	a.Close()
	p.depth--
}

// clause writes what is wrong with one condition.
func (p *mismatch) clause(a *doc.Writer, clause doc.Doc) {
	for name, v := range doc.Members(clause) {
		switch name {
		case "$and", "$or", "$nor":
			a.String("operatorName", name)
			p.logical(a, name, v)
		case "$jsonSchema":
			a.String("operatorName", name)
			if schema, ok := doc.AsDoc(v); ok {
				p.title(a, schema)
				p.schema(a, "schemaRulesNotSatisfied", schema, nil)
			}
		case "$expr":
			a.String("operatorName", name)
			a.Doc("specifiedAs", clause)
			a.String("reason", "expression did not match")
			a.Bool("expressionResult", false)
		default:
			p.field(a, name, v, clause)
		}
	}
}

func (p *mismatch) logical(a *doc.Writer, name string, v doc.Value) {
	if name == "$nor" {
		a.Array("clausesSatisfied")
		i := 0
		for e := range doc.Elements(v) {
			d, ok := doc.AsDoc(e)
			if ok && !p.fails(d) && p.hasRoom() {
				a.Object(a.Index())
				a.Int32("index", i)
				a.Doc("details", d)
				a.Close()
			}
			i++
		}
		a.Close()
		return
	}
	var clauses []doc.Doc
	for e := range doc.Elements(v) {
		if d, ok := doc.AsDoc(e); ok {
			clauses = append(clauses, d)
		}
	}
	p.clauses(a, clauses, p.query)
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

// field writes a condition on a path.
func (p *mismatch) field(a *doc.Writer, path string, v doc.Value, clause doc.Doc) {
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
	a.String("operatorName", op)
	a.Doc("specifiedAs", clause)
	var found []doc.Value
	if parsed, err := filter.ParsePath(path); err == nil {
		parsed.Walk(p.d, filter.Whole, p.o.Work(), func(v doc.Value, _ int) bool {
			if v.Type != 0 {
				found = append(found, v)
			}
			// Only the first value is shown.
			return len(found) > 10
		})
	}
	if len(found) == 0 && op != "$exists" && op != "$ne" && op != "$nin" && op != "$not" {
		a.String("reason", "field was missing")
		return
	}
	reason := reasons[op]
	if op == "$exists" && len(found) > 0 {
		reason = "path does exist"
	}
	if reason != "" {
		a.String("reason", reason)
	}
	if len(found) > 0 {
		writeConsidered(a, found[0])
		if op == "$type" {
			a.String("consideredType", code.TypeName(found[0]))
		}
	}
}

// writeConsidered writes the value that a condition looked at, unless it is large.
func writeConsidered(a *doc.Writer, v doc.Value) {
	if len(v.Data) <= maxConsidered {
		a.Value("consideredValue", v)
	}
}
