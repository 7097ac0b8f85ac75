package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// A step is a stage as it was given, and what it was compiled to: several stages if it stands for these.
type step struct {
	spec   doc.Doc
	stages []stage
}

// only is the stage of a step, nil if it stands for several.
func (s step) only() stage {
	if len(s.stages) != 1 {
		return nil
	}
	return s.stages[0]
}

const (
	// sortedAhead is how many documents a sort may hold that goes ahead of a stage that may make them smaller.
	// sortedSafely are so few that they have room, whatever their size.
	sortedAhead  = 100
	sortedSafely = MaxMemory / MaxDocumentBytes
	// namesCompared is how many names of members are compared, so that long pipelines compile in a short time.
	namesCompared = 1 << 16
)

// reorder puts stages ahead of others where the rows are the same and fewer documents are read or made. Only the first
// stages of a pipeline can be answered by indexes.
//
//   - $match goes ahead of $addFields, $project, $unset, $unwind, $lookup, $graphLookup and $sort, with those of its
//     conditions that are on members which the stage leaves as they are, or only renames.
//   - $sort by such members goes ahead of $lookup and $graphLookup, and if a $limit follows, so that it holds at most
//     sorted documents, also ahead of $addFields, $project and $unset.
//   - $skip and $limit go ahead of stages that make one document of each.
//
// risky reports that such a sort may hold more than sortedSafely documents. The steps that it gets do not change.
// https://www.mongodb.com/docs/v7.0/core/aggregation-pipeline-optimization/
func (c *compiler) reorder(steps []step, sorted int64) (reordered []step, risky bool) {
	o := reorderer{compiler: c, steps: slices.Clone(steps), sorted: sorted, left: namesCompared}
	for i := 1; i < len(o.steps); i++ { // a sort asks for the limit behind it
		o.cut(i)
	}
	for i := 1; i < len(o.steps); i++ {
		switch s := o.steps[i].only().(type) {
		case *match:
			i += o.match(i, s)
		case *sortStage:
			o.sort(i, s)
		}
		o.cut(i)
	}
	return o.steps, o.risky
}

// A reorderer reorders the steps of one pipeline.
type reorderer struct {
	*compiler
	steps  []step
	sorted int64
	risky  bool
	left   int // how many names may still be compared
}

// swap puts the step at i ahead of the one before it.
func (o *reorderer) swap(i int) { o.steps[i-1], o.steps[i] = o.steps[i], o.steps[i-1] }

// cut moves the $skip or the $limit at i, if it is one.
func (o *reorderer) cut(i int) {
	switch o.steps[i].only().(type) {
	case *skip, *limitStage:
		for ; i > 0 && oneToOne(o.steps[i-1].only()); i-- {
			o.swap(i)
		}
	}
}

// match moves the $match at i, or some of its conditions. It returns how many steps there are more.
func (o *reorderer) match(i int, s *match) (more int) {
	if !matchesEarly(o.steps[i-1].only()) {
		return 0
	}
	given := slices.Clone(o.steps)
	free, at, same, ok := conditionsOf(s.query), i, true, true
	for ; at > 0 && o.left > 0 && matchesEarly(o.steps[at-1].only()); at-- {
		ahead, behind, renamed := o.divide(free, o.steps[at-1].only())
		if len(ahead) == 0 {
			break
		}
		if len(behind) > 0 {
			if o.steps[at], ok = o.matching(behind); !ok {
				break
			}
			o.steps = slices.Insert(o.steps, at, step{})
			more++
		}
		free, same = ahead, same && !renamed && len(behind) == 0
		o.swap(at)
	}
	if ok && !same {
		o.steps[at], ok = o.matching(free)
	}
	if !ok { // a query that has become too large
		o.steps, more = given, 0
	}
	return more
}

// matchesEarly reports whether some conditions of a $match may go ahead of a stage. Those about no member, such as
// {$nor: [{}]}, may do so, too, but not ahead of any other stage.
func matchesEarly(s stage) bool {
	switch s.(type) {
	case *addFields, *projectStage, *unwind, *join, *graphLookup, *sortStage:
		return true
	}
	return false
}

// matching is a $match of conditions.
func (o *reorderer) matching(conditions []condition) (step, bool) {
	query, at := beginDoc(nil)
	var all list
	for i := range conditions {
		c := conditions[i].renamed()
		conditions[i] = c
		query = doc.AppendElement(query, c.name, c.value)
		all.add(doc.Object(single(c.name, c.value)))
	}
	query = endDoc(query, at)
	if sameNames(conditions) {
		query = single("$and", all.value())
	}
	f, err := filter.Compile(query, filter.Options{Names: o.names})
	return step{single("$match", doc.Object(query)), []stage{&match{query, f}}}, err == nil
}

// sameNames reports whether two conditions have the same name, as renaming may give them.
func sameNames(conditions []condition) bool {
	seen := map[string]bool{}
	for _, c := range conditions {
		seen[c.name] = true
	}
	return len(seen) < len(conditions)
}

// single is the document {name: v}.
func single(name string, v doc.Value) doc.Doc {
	d, at := beginDoc(nil)
	return endDoc(doc.AppendElement(d, name, v), at)
}

// divide tells which conditions behind a stage may as well be ahead of it, with the names that members have there.
func (o *reorderer) divide(conditions []condition, s stage) (ahead, behind []condition, renamed bool) {
	o.left -= len(conditions)
	for _, c := range conditions {
		names, ok := slices.Clone(c.names), c.known && (!c.computes || oneToOne(s))
		for i := 0; i < len(names) && ok; i++ {
			o.left--
			now := names[i].now
			names[i].now, ok = origin(s, now)
			other := names[i].now != now
			renamed, ok = renamed || ok && other, ok && !(other && c.computes)
		}
		if !ok {
			behind = append(behind, c)
			continue
		}
		c.names = names
		ahead = append(ahead, c)
	}
	return ahead, behind, renamed
}

// sort moves the $sort at i.
func (o *reorderer) sort(i int, s *sortStage) {
	limit, risky := limitBehind(o.steps, i), false
	for ; i > 0 && o.left > 0; i-- {
		before := o.steps[i-1].only()
		switch before.(type) {
		case *join, *graphLookup:
		case *addFields, *projectStage:
			if limit <= 0 || limit > o.sorted {
				return
			}
			risky = risky || limit > sortedSafely
		default:
			return
		}
		for _, part := range s.sort.parts {
			o.left--
			if name, ok := origin(before, part.path[0]); !ok || name != part.path[0] {
				return
			}
		}
		o.risky = o.risky || risky
		o.swap(i)
	}
}

// limitBehind is how many documents of the sort at i the steps after it want, 0 for all.
func limitBehind(steps []step, i int) int64 {
	var behind []stage
	for _, s := range steps[i+1:] {
		behind = append(behind, s.only())
		if _, skips := s.only().(*skip); !skips {
			break
		}
	}
	return limitOf(behind)
}

// oneToOne reports whether a stage makes one document of each, in their order.
func oneToOne(s stage) bool {
	switch s.(type) {
	case *addFields, *projectStage, *replaceRoot, *join, *graphLookup:
		return true
	}
	return false
}

// origin is the name that the value of a member has ahead of a stage. It is not ok if the stage computes the value, or
// if that is not known. Of a dotted path it is the first name: a stage that sets a.b may make an object of a.
func origin(s stage, name string) (before string, ok bool) {
	switch s := s.(type) {
	case *sortStage:
		return name, true
	case *unwind:
		return name, name != s.path[0] && (s.index == nil || name != s.index[0])
	case *join:
		return name, name != s.as[0]
	case *graphLookup:
		return name, name != s.as[0]
	case *addFields:
		return s.root.origin(name, true)
	case *projectStage:
		return s.projection.root.origin(name, !s.projection.inclusion)
	}
	return name, false
}

// origin is that of a stage; others says whether it leaves members as they are that it does not name.
func (n *node) origin(name string, others bool) (before string, ok bool) {
	switch c := n.child(name); {
	case c == nil:
		return name, others
	case c.kind == keep:
		return name, true
	case c.kind == compute && c.value.FieldPath() != "" && !strings.Contains(c.value.FieldPath(), "."):
		return c.value.FieldPath(), true
	}
	return name, false
}

// A condition is a member of a query.
type condition struct {
	name     string
	value    doc.Value
	names    []memberName // of the paths that it is about
	known    bool         // these are all
	computes bool         // it has an expression, which may fail
}

// A memberName is the first name of a path in a condition as given, and the name that it has at an earlier stage.
type memberName struct{ given, now string }

// conditionsOf lists the conditions of a query.
func conditionsOf(query doc.Doc) (list []condition) {
	for name, v := range doc.Members(query) {
		c := condition{name: name, value: v, known: true}
		c.add(name, v)
		slices.SortFunc(c.names, func(a, b memberName) int { return strings.Compare(a.given, b.given) })
		c.names = slices.Compact(c.names)
		list = append(list, c)
	}
	return list
}

// about notes that the condition is about a path.
func (c *condition) about(path string) {
	first := firstName(path)
	c.names = append(c.names, memberName{first, first})
}

// add notes what name: v is about.
func (c *condition) add(name string, v doc.Value) {
	switch {
	case name == "$and" || name == "$or" || name == "$nor":
		for e := range doc.Elements(v) {
			for name, v := range doc.Members(e.Data) {
				c.add(name, v)
			}
		}
	case name == "$expr":
		c.computes = true
		c.addExpression(v)
	case name == "$comment":
	case strings.HasPrefix(name, "$"):
		c.known = false
	default:
		c.about(name)
	}
}

// addExpression notes the fields of an expression.
func (c *condition) addExpression(v doc.Value) {
	switch v.Type {
	case bsoncore.TypeString:
		text, _ := doc.AsString(v)
		if variable, ok := strings.CutPrefix(text, "$$"); ok {
			variable = firstName(variable)
			c.known = c.known && variable != "ROOT" && variable != "CURRENT"
		} else if field, ok := strings.CutPrefix(text, "$"); ok {
			c.about(field)
		}
	case bsoncore.TypeEmbeddedDocument:
		for name, v := range doc.Members(v.Data) {
			switch name {
			case "$literal":
			case "$getField", "$meta": // these need no path
				c.known = false
			default:
				c.addExpression(v)
			}
		}
	case bsoncore.TypeArray:
		for e := range doc.Elements(v) {
			c.addExpression(e)
		}
	}
}

// renamed is the condition with the names that its members have now.
func (c condition) renamed() condition {
	names := map[string]string{}
	for _, n := range c.names {
		if n.given != n.now {
			names[n.given] = n.now
		}
	}
	if len(names) == 0 {
		return c
	}
	query, at := beginDoc(nil)
	return conditionsOf(endDoc(appendRenamed(query, c.name, c.value, names), at))[0]
}

// appendRenamed appends name: v of a query.
func appendRenamed(dst []byte, name string, v doc.Value, names map[string]string) []byte {
	switch {
	case name == "$and" || name == "$or" || name == "$nor":
		var queries list
		for e := range doc.Elements(v) {
			query, at := beginDoc(nil)
			for name, v := range doc.Members(e.Data) {
				query = appendRenamed(query, name, v, names)
			}
			queries.add(doc.Object(endDoc(query, at)))
		}
		return doc.AppendElement(dst, name, queries.value())
	case !strings.HasPrefix(name, "$"):
		name = otherName(name, names)
	}
	return doc.AppendElement(dst, name, v)
}

// firstName is the first name of a dotted path.
func firstName(path string) string {
	first, _, _ := strings.Cut(path, ".")
	return first
}

// otherName is a dotted path whose first name is replaced.
func otherName(path string, names map[string]string) string {
	first := firstName(path)
	if other, ok := names[first]; ok {
		return other + path[len(first):]
	}
	return path
}
