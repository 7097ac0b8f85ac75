package plan

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// A Run has the statistics of an execution of a Plan.
type Run struct {
	Returned int64 // documents
	Millis   int64
	access.Stats
}

// maxSortBytes is what MongoDB's explain shows as the limit of a sort in memory.
const maxSortBytes = 100 << 20

// Explain returns the plan in the form of MongoDB's winningPlan: {stage: "FETCH", filter: ..., inputStage: {stage:
// "IXSCAN", ...}}. The caller adds the stages for limit, skip and projection.
// https://www.mongodb.com/docs/v7.0/reference/explain-results/
func (p *Plan) Explain() doc.Doc { return explainer{Plan: p}.whole() }

// Executed is Explain with the statistics of each stage: executionStages.
func (p *Plan) Executed(r Run) doc.Doc { return explainer{p, &r}.whole() }

// Summary is the plan in one line: "IXSCAN { a: 1 }", "COLLSCAN", "IDHACK" or "EOF".
func (p *Plan) Summary() string {
	switch {
	case p.nothing:
		return "EOF"
	case p.identity:
		return "IDHACK"
	case len(p.legs) == 0:
		return "COLLSCAN"
	}
	var parts []string
	for i := range p.legs {
		parts = append(parts, "IXSCAN "+string(appendText(nil, doc.Object(p.legs[i].keyPattern()))))
	}
	return strings.Join(parts, ", ")
}

// Indexes lists the numbers of the indexes that the plan walks, each once.
func (p *Plan) Indexes() []uint32 {
	var list []uint32
next:
	for i := range p.legs {
		for _, has := range list {
			if has == p.legs[i].index.Index {
				continue next
			}
		}
		list = append(list, p.legs[i].index.Index)
	}
	return list
}

// An explainer describes a plan, with statistics unless run is nil.
type explainer struct {
	*Plan
	run *Run
}

func (x explainer) whole() doc.Doc {
	d := x.found()
	if x.Sorted {
		return d
	}
	members := [][]byte{
		member("sortPattern", doc.Object(pattern(x.query.Sort))),
		member("memLimit", doc.Int32(maxSortBytes)),
	}
	if x.query.Limit > 0 {
		members = append(members, member("limitAmount", doc.Int(x.query.Limit)))
	}
	members = append(members, member("type", doc.String("simple")), member("inputStage", doc.Object(d)))
	return x.stage("SORT", false, false, members...)
}

// found is the stage that finds the documents, without the sort.
func (x explainer) found() doc.Doc {
	rest := x.residual()
	switch {
	case x.nothing:
		return x.stage("EOF", false, false)
	case x.identity:
		return x.stage("IDHACK", true, true)
	case len(x.legs) == 0:
		direction := "forward"
		if n, ok := doc.AsFloat(doc.Lookup(x.naturalHint(), "$natural")); ok && n < 0 {
			direction = "backward"
		}
		return x.stage("COLLSCAN", false, true, filtered(rest), member("direction", doc.String(direction)))
	case len(x.legs) == 1:
		return x.stage("FETCH", false, true, filtered(rest), member("inputStage", doc.Object(x.scan(&x.legs[0]))))
	}
	var scans []byte
	for i := range x.legs {
		scans = doc.AppendElement(scans, "", doc.Object(x.scan(&x.legs[i])))
	}
	or := x.stage("OR", false, false, member("inputStages", arrayOf(scans)))
	if x.Access.Merged {
		or = x.stage("SORT_MERGE", false, false, member("sortPattern", doc.Object(pattern(x.query.Sort))),
			member("inputStages", arrayOf(scans)))
	}
	d := x.stage("FETCH", false, true, filtered(rest), member("inputStage", doc.Object(or)))
	if x.rooted {
		d = x.stage("SUBPLAN", false, false, member("inputStage", doc.Object(d)))
	}
	return d
}

func (x explainer) naturalHint() doc.Doc {
	d, _ := doc.AsDoc(x.query.Hint)
	return d
}

// scan is the stage of one index scan.
func (x explainer) scan(l *leg) doc.Doc {
	ix := l.index
	members := [][]byte{
		member("keyPattern", doc.Object(l.keyPattern())),
		member("indexName", doc.String(ix.Name)),
		member("isMultiKey", doc.Bool(ix.Multikey)),
		multikeyPaths(ix),
		member("isUnique", doc.Bool(ix.Unique)),
		member("isSparse", doc.Bool(ix.Sparse)),
		member("isPartial", doc.Bool(ix.Partial != nil)),
		member("indexVersion", doc.Int32(2)),
	}
	direction := "forward"
	if l.reverse {
		direction = "backward"
	}
	members = append(members, member("direction", doc.String(direction)),
		member("indexBounds", doc.Object(l.boundsShown())))
	return x.stage("IXSCAN", len(x.legs) == 1, false, members...)
}

// multikeyPaths is which part of each column's path is an array, as far as that is known: if no document has several
// entries, or if only one part can be an array.
func multikeyPaths(ix *access.NamedIndex) []byte {
	var paths []byte
	for _, c := range ix.Columns {
		var parts []byte
		if ix.Multikey {
			if len(ix.Columns) > 1 || ix.Wildcard || strings.Contains(c.Path, ".") {
				return nil
			}
			parts = doc.AppendElement(nil, "0", doc.String(c.Path))
		}
		path := c.Path
		if ix.Wildcard {
			path = wildcardName(path)
		}
		paths = doc.AppendElement(paths, path, doc.Array(bsoncore.BuildDocument(nil, parts)))
	}
	return member("multiKeyPaths", doc.Object(bsoncore.BuildDocument(nil, paths)))
}

// keyPattern is {a: 1, b: -1}; for a wildcard index it has the path of the query.
func (l *leg) keyPattern() doc.Doc {
	if !l.index.Wildcard {
		return pattern(l.index.Columns)
	}
	b := doc.AppendElement(nil, "$_path", doc.Int32(1))
	return bsoncore.BuildDocument(nil, doc.AppendElement(b, l.path, doc.Int32(1)))
}

func pattern(columns []access.NamedColumn) doc.Doc {
	var b []byte
	for _, c := range columns {
		direction := int32(1)
		if c.Descending {
			direction = -1
		}
		b = doc.AppendElement(b, c.Path, doc.Int32(direction))
	}
	return bsoncore.BuildDocument(nil, b)
}

// stage is the document of a stage; keys and documents say whether it examines keys and documents.
func (x explainer) stage(name string, keys, documents bool, members ...[]byte) doc.Doc {
	b := member("stage", doc.String(name))
	if x.run != nil {
		b = append(b, member("nReturned", doc.Int(x.run.Returned))...)
		b = append(b, member("executionTimeMillisEstimate", doc.Int(x.run.Millis))...)
		if keys {
			b = append(b, member("keysExamined", doc.Int(int64(x.run.Keys)))...)
		}
		if documents {
			b = append(b, member("docsExamined", doc.Int(int64(x.run.Documents)))...)
		}
	}
	for _, m := range members {
		b = append(b, m...)
	}
	return bsoncore.BuildDocument(nil, b)
}

func member(name string, v doc.Value) []byte { return doc.AppendElement(nil, name, v) }

// arrayOf is an array of the elements. It renames them.
func arrayOf(elements []byte) doc.Value {
	var values []bsoncore.Value
	for v := range doc.Elements(doc.Array(bsoncore.BuildDocument(nil, elements))) {
		values = append(values, v)
	}
	return doc.Array(bsoncore.BuildArray(nil, values...))
}

func filtered(rest doc.Doc) []byte {
	for range doc.Members(rest) {
		return member("filter", doc.Object(rest))
	}
	return nil
}

// residual is the part of the filter that the bounds do not guarantee.
func (x explainer) residual() doc.Doc {
	if x.nothing || x.identity || x.query.Filter == nil || x.rooted && x.legsAreExact() {
		return nil
	}
	var b []byte
	for name, v := range doc.Members(x.query.Text) {
		if x.together && x.covers(x.query.Filter.Tree(), name) {
			continue
		}
		if v.Type != bsoncore.TypeEmbeddedDocument && v.Type != bsoncore.TypeRegex && !strings.HasPrefix(name, "$") {
			v = doc.Object(bsoncore.BuildDocument(nil, doc.AppendElement(nil, "$eq", v)))
		}
		b = doc.AppendElement(b, name, v)
	}
	return bsoncore.BuildDocument(nil, b)
}

// covers reports whether the bounds guarantee all that a filter asks of a path.
func (x explainer) covers(n *filter.Node, path string) bool {
	switch {
	case strings.HasPrefix(path, "$"):
		return false
	case n.Kind == filter.And:
		for _, child := range n.Children {
			if !x.covers(child, path) {
				return false
			}
		}
		return true
	case n.Path != path:
		return true
	}
	return x.legs[0].covers(n)
}

// covers reports whether the bounds or checks are those of a condition.
func (l *leg) covers(n *filter.Node) bool {
	is := func(c *condition) bool { return c.node == n }
	if i := slices.IndexFunc(l.used, is); i >= 0 {
		return l.used[i].exact && !l.wider
	}
	i := slices.IndexFunc(l.checked, is)
	return i >= 0 && l.checked[i].exact && !l.wider
}

// legsAreExact reports whether the bounds of one leg guarantee each branch of the $or.
func (x explainer) legsAreExact() bool {
	branches := x.query.Filter.Tree().Children
	if len(branches) != len(x.legs) {
		return false
	}
	for i, branch := range branches {
		if !x.legs[i].says(branch) {
			return false
		}
	}
	return true
}

// says reports whether the bounds guarantee a filter.
func (l *leg) says(n *filter.Node) bool {
	if n.Kind != filter.And {
		return l.covers(n)
	}
	for _, child := range n.Children {
		if !l.says(child) {
			return false
		}
	}
	return true
}
