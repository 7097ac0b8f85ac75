package plan

import (
	"fmt"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// Explain describes the plan in a few lines, from the documents that are read to the rows that are returned.
func (p *Plan) Explain() string { return p.explain(false) }

// Shape is Explain with ? in place of every value from the query, its parameters or the partition key of the request.
// It reveals nothing about documents and may be logged.
func (p *Plan) Shape() string { return p.explain(true) }

func (p *Plan) explain(shape bool) string {
	x := &explainer{plan: p, shape: shape}
	x.access()
	q := p.Query
	for i := range q.From {
		x.source(i, &q.From[i])
	}
	if q.Where != nil {
		x.line("filter", x.printed(q.Where)+map[bool]string{true: ", exact"}[p.Exact])
	}
	if !p.Nothing {
		x.order()
	}
	if len(q.GroupBy) > 0 {
		x.line("group by", x.list(q.GroupBy))
	}
	if q.Select.Distinct {
		x.line("distinct", "")
	}
	x.limits(q)
	x.project(q)
	if len(p.Rules) > 0 {
		x.line("rules", strings.Join(p.Rules, ", "))
	}
	return x.String()
}

type explainer struct {
	strings.Builder
	plan  *Plan
	shape bool // no values
}

func (x *explainer) line(word, rest string) {
	x.WriteString(word)
	if rest != "" {
		x.WriteString(" " + rest)
	}
	x.WriteByte('\n')
}

func (x *explainer) printed(n syntax.Node) string {
	text := ""
	if x.shape {
		text = syntax.PrintShape(n)
	} else {
		text = syntax.Print(n)
	}
	return strings.ReplaceAll(text, "\n", " ")
}

func (x *explainer) list(es []syntax.Expr) string {
	texts := make([]string, len(es))
	for i, e := range es {
		texts[i] = x.printed(e)
	}
	return strings.Join(texts, ", ")
}

func (x *explainer) access() {
	if x.plan.Nothing {
		x.line("nothing", "")
		return
	}
	switch in := access.ScopeOf(x.plan.Access.Of).(type) {
	case access.Partition:
		x.line("partition", x.values(in))
	case *access.Span:
		if x.shape {
			x.line("span", "")
		} else {
			x.line("span", fmt.Sprintf("%x to %x", in.Low, in.High))
		}
	}
	switch of := x.plan.Access.Of.(type) {
	case *access.Lookup:
		ids := make([]doc.Value, len(of.IDs))
		for i, id := range of.IDs {
			ids[i] = doc.String(id)
		}
		x.line("lookup", x.values(ids))
	case *access.Walk:
		x.line("walk", x.walk(of))
		if of.Set != nil {
			x.line("index", x.set(of.Set))
		}
	case *access.Filter:
		x.line("index", x.set(of.Set))
	case nil, *access.Span:
		x.line("scan", "")
	}
	if x.plan.Count {
		x.line("count only", "")
	}
}

func (x *explainer) walk(w *access.Walk) string {
	text := x.ranged(&w.Range)
	if w.Absent {
		text = x.where(&w.Range)
	}
	if w.Reverse {
		text += " reverse"
	}
	return text
}

// values prints a limited number of values.
func (x *explainer) values(vs []doc.Value) string {
	const most = 8
	texts := []string{}
	for i, v := range vs {
		if i == most {
			texts = append(texts, fmt.Sprintf("and %d more", len(vs)-most))
			break
		}
		texts = append(texts, x.valued(v))
	}
	return strings.Join(texts, ", ")
}

func (x *explainer) valued(v doc.Value) string {
	switch {
	case doc.IsUndefined(v):
		return "undefined"
	case x.shape:
		return "?"
	}
	return string(doc.Query.AppendJSONValue(nil, v))
}

// set prints algebra: unions in brackets, alternatives on one path as a list.
func (x *explainer) set(s access.Set) string {
	switch s := s.(type) {
	case *access.Range:
		return x.ranged(s)
	case *access.Tested:
		return x.ranged(&s.Range) + " that passes"
	case access.Intersection:
		return x.joined(s, " and ")
	case access.Union:
		if path, list, ok := x.alternatives(s); ok {
			return path + " in (" + x.values(list) + ")"
		}
		return "(" + x.joined(s, " or ") + ")"
	}
	return ""
}

// joined puts brackets around operands that are conjunctions.
func (x *explainer) joined(sets []access.Set, word string) string {
	texts := make([]string, len(sets))
	for i := range sets {
		texts[i] = x.set(sets[i])
		if _, ok := sets[i].(access.Intersection); ok {
			texts[i] = "(" + texts[i] + ")"
		}
	}
	return strings.Join(texts, word)
}

// alternatives reports that all sets are single values on the same path.
func (x *explainer) alternatives(sets []access.Set) (path string, values []doc.Value, ok bool) {
	for i := range sets {
		r, one := sets[i].(*access.Range)
		if !one || r.Composite > 0 || i > 0 && x.where(r) != path {
			return "", nil, false
		}
		path = x.where(r)
		c := condition{kind: within, leaf: *r}
		v, ok := c.point()
		if !ok {
			return "", nil, false
		}
		values = append(values, v)
	}
	return path, values, true
}

// where is the name of what a range is on.
func (x *explainer) where(r *access.Range) string {
	if r.Composite > 0 {
		text := fmt.Sprintf("composite %d", r.Composite)
		if len(r.Equal) > 0 {
			text += " at " + x.values(r.Equal)
			if r.Low != nil || r.High != nil {
				text += ","
			}
		}
		return text
	}
	if isStamp(r.Path) {
		return stampName
	}
	return single(r.Path)
}

// ranged prints a range. It omits a type that the bound on the other side implies.
func (x *explainer) ranged(r *access.Range) string {
	c := condition{kind: within, leaf: *r}
	if v, ok := c.point(); ok && len(r.Equal) > 0 {
		return x.where(r) + " " + x.valued(v)
	} else if ok {
		return x.where(r) + " = " + x.valued(v)
	}
	low, high := r.Low, r.High
	if low != nil && high != nil && doc.RankOf(low.Value) == doc.RankOf(high.Value) {
		switch {
		case low.Type && high.Type:
			return x.where(r) + " any " + typeName(low.Value)
		case low.Type:
			low = nil
		case high.Type:
			high = nil
		}
	}
	text := x.where(r)
	switch {
	case low == nil:
	case low.Type:
		text += " from any " + typeName(low.Value)
	case low.Open:
		text += " above " + x.valued(low.Value)
	default:
		text += " from " + x.valued(low.Value)
	}
	switch {
	case high == nil:
	case high.Type:
		text += " to any " + typeName(high.Value)
	case high.Open:
		text += " below " + x.valued(high.Value)
	default:
		text += " to " + x.valued(high.Value)
	}
	if r.Composite == 0 && r.Low == nil && r.High == nil && !isStamp(r.Path) {
		text += " defined"
	}
	return text
}

func typeName(v doc.Value) string {
	switch doc.RankOf(v) {
	case doc.RankNumber:
		return "number"
	case doc.RankString:
		return "string"
	case doc.RankArray:
		return "array"
	}
	return "object"
}

func (x *explainer) source(i int, f *syntax.Source) {
	text := x.printed(&syntax.Query{Select: syntax.Select{Star: true}, From: []syntax.Source{*f}})
	text = strings.TrimPrefix(text, "SELECT * FROM ")
	switch {
	case i > 0:
		x.line("join", text)
	case f.Query != nil || f.In || len(f.Path) > 0:
		x.line("from", text)
	}
}

func (x *explainer) order() {
	o := &x.plan.Order
	word := "order"
	if x.plan.Sort {
		word = "sort"
	}
	switch o.Kind {
	case ByCreation:
		if x.plan.Sort {
			x.line(word, "by creation")
		}
		return
	case ByPartition:
		x.line(word, "by partition")
		return
	case ByRank:
		x.line(word, "by rank "+x.printed(x.plan.Query.Rank))
		return
	}
	keys := make([]string, len(o.Keys))
	for i, key := range o.Keys {
		keys[i] = x.printed(key.Expr) + map[bool]string{true: " DESC"}[key.Descending]
	}
	text := strings.Join(keys, ", ")
	if o.Ties {
		text += ", latest first"
	}
	if o.Implied {
		text += ", implied"
	}
	x.line(word, text)
	if x.plan.Shortcut != nil {
		text := "walk " + x.walk(x.plan.Shortcut)
		if set := x.plan.Shortcut.Set; set != nil {
			text += " among " + x.set(set)
		}
		x.line("or", text)
	}
}

func (x *explainer) limits(q *syntax.Query) {
	if q.Select.Top != nil {
		x.line("top", x.printed(q.Select.Top))
	}
	if q.Limit != nil {
		x.line("offset", x.printed(q.Offset)+" limit "+x.printed(q.Limit))
	}
}

func (x *explainer) project(q *syntax.Query) {
	switch {
	case q.Select.Star:
		x.line("project", "*")
	case q.Select.Value != nil:
		x.line("project", "value "+x.printed(q.Select.Value))
	default:
		x.line("project", x.list(rowExprs(q)))
	}
}
