package query

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// An OuterStage is a stage that a command puts around a plan.
type OuterStage struct {
	Stage    string
	Members  func(a *doc.Writer, ran bool)
	Returned func(n int64) int64 // documents, of so many that come in; nil for all of them
}

// A measured is what a plan has cost and found.
type measured struct {
	run     plan.Run
	matched int64
}

// Selection writes the queryPlanner, and the executionStats if they are wanted, of a selection with
// stages around it, the innermost first. each, if not nil, is called with each document that is found, and stops
// the walk with false.
func (x *Explanation) Selection(
	o *session.Operation, q *Selection, around []OuterStage, each func(doc.Doc) (bool, error),
) error {
	x.To.String("explainVersion", "1")
	return x.planned(o, q, around, each)
}

func (x *Explanation) planned(
	o *session.Operation, q *Selection, around []OuterStage, each func(doc.Doc) (bool, error),
) error {
	p, v, err := explainPlan(o, q)
	if err != nil {
		return err
	}
	x.planner(q, p, around)
	if x.Level == planOnly {
		return nil
	}
	m, err := measurePlan(o, q, v, p, each)
	if err != nil {
		return err
	}
	x.executed(p, m, around)
	return nil
}

// explainPlan chooses the plan of a selection, nil where there is no container.
func explainPlan(o *session.Operation, q *Selection) (*plan.Plan, catalog.View, error) {
	if q.Container == nil {
		return nil, catalog.View{}, nil
	}
	v, err := o.Enter(q.Container)
	if err != nil {
		return nil, v, err
	}
	p, err := Plan(o, v, q)
	return p, v, err
}

// planner writes queryPlanner. There are no rejected plans: the choice looks at indexes and not at documents.
func (x *Explanation) planner(q *Selection, p *plan.Plan, around []OuterStage) {
	a := x.To
	a.Object("queryPlanner")
	a.String("namespace", q.Namespace)
	a.Bool("indexFilterSet", false)
	a.Doc("parsedQuery", q.Query)
	for _, limit := range []string{
		"maxIndexedOrSolutionsReached", "maxIndexedAndSolutionsReached", "maxScansToExplodeReached",
	} {
		a.Bool(limit, false)
	}
	inner := noPlan(false)
	if p != nil {
		inner = p.Explain()
	}
	for _, w := range around {
		inner = w.around(inner, 0, 0, false)
	}
	a.Doc("winningPlan", inner)
	a.Array("rejectedPlans")
	a.Close()
	a.Close()
}

// noPlan is the plan of a container that does not exist.
func noPlan(ran bool) doc.Doc {
	a := doc.NewWriter(nil)
	a.String("stage", "EOF")
	if ran {
		a.Int64("nReturned", 0)
		a.Int64("executionTimeMillisEstimate", 0)
	}
	return a.End()
}

// around is the stage with another one inside.
func (w *OuterStage) around(inner doc.Doc, returned, millis int64, ran bool) doc.Doc {
	a := doc.NewWriter(nil)
	a.String("stage", w.Stage)
	if ran {
		a.Int64("nReturned", returned)
		a.Int64("executionTimeMillisEstimate", millis)
	}
	if w.Members != nil {
		w.Members(a, ran)
	}
	a.Doc("inputStage", inner)
	return a.End()
}

// measurePlan follows a plan as far as the command would.
func measurePlan(
	o *session.Operation, q *Selection, v catalog.View, p *plan.Plan, each func(doc.Doc) (bool, error),
) (measured, error) {
	var m measured
	if p == nil {
		return m, nil
	}
	enough := int64(0)
	// A sort in memory reads everything before it can limit.
	if p.Sorted && q.Limit > 0 {
		enough = q.Skip + q.Limit
	}
	// A copy, so that only this walk counts what it looks at.
	counted := *p
	counted.Access.Stats = new(access.Stats)
	before := o.Since.Elapsed()
	err := Each(o, q, v, &counted, nil, func(d access.Document) (bool, error) {
		m.matched++
		goOn := true
		if each != nil {
			var err error
			if goOn, err = each(d.Body); err != nil {
				return false, err
			}
		}
		return goOn && m.matched != enough, nil
	})
	m.run = plan.Run{Returned: m.matched, Millis: (o.Since.Elapsed() - before).Milliseconds(),
		Stats: *counted.Access.Stats}
	return m, err
}

// executed writes executionStats.
func (x *Explanation) executed(p *plan.Plan, m measured, around []OuterStage) {
	a := x.To
	inner, returned := noPlan(true), m.matched
	if p != nil {
		inner = p.Executed(m.run)
	}
	for _, w := range around {
		if w.Returned != nil {
			returned = w.Returned(returned)
		}
		inner = w.around(inner, returned, m.run.Millis, true)
	}
	a.Object("executionStats")
	a.Bool("executionSuccess", true)
	a.Count("nReturned", returned)
	a.Count("executionTimeMillis", m.run.Millis)
	a.Count("totalKeysExamined", int64(m.run.Keys))
	a.Count("totalDocsExamined", int64(m.run.Documents))
	a.Doc("executionStages", inner)
	if x.Level == allPlans {
		a.Array("allPlansExecution")
		a.Close()
	}
	a.Close()
}

// Outer are the stages that skip, limit and project around a plan; sorted tells that it sorts by itself, and then
// it limits too.
func (q *Selection) Outer(projection doc.Doc, simple bool) []OuterStage {
	var list []OuterStage
	if !doc.IsEmpty(projection) {
		name := "PROJECTION_DEFAULT"
		if simple {
			name = "PROJECTION_SIMPLE"
		}
		list = append(list, OuterStage{Stage: name, Members: func(a *doc.Writer, _ bool) {
			a.Doc("transformBy", projection)
		}})
	}
	if q.Skip > 0 {
		list = append(list, OuterStage{
			Stage: "SKIP", Members: func(a *doc.Writer, _ bool) { a.Count("skipAmount", q.Skip) },
			Returned: func(n int64) int64 { return max(0, n-q.Skip) },
		})
	}
	if q.Limit > 0 {
		list = append(list, OuterStage{
			Stage: "LIMIT", Members: func(a *doc.Writer, _ bool) { a.Count("limitAmount", q.Limit) },
			Returned: func(n int64) int64 { return min(n, q.Limit) },
		})
	}
	return list
}

// A Verbosity is how much explain tells.
type Verbosity int

const (
	planOnly Verbosity = iota // the command is not run
	executed                  // its reads are
	allPlans                  // the same, as no plan is ever tried and rejected
)

// Verbosities are the names of how much is told. Without a name it is everything.
var Verbosities = map[string]Verbosity{
	"": allPlans, "queryPlanner": planOnly, "executionStats": executed, "allPlansExecution": allPlans,
}

// An Explanation is an explain on its way.
type Explanation struct {
	To    *doc.Writer
	Level Verbosity
}

// Aggregate writes what finds the documents of a pipeline, and the stages that are left over. If
// there are none of those it looks like that of a find.
func (x *Explanation) Aggregate(o *session.Operation, over *Aggregation) error {
	if _, writes := over.Pipeline.Containers(); writes != nil && x.Level != planOnly {
		return code.New(code.IllegalOperation,
			"explain of an aggregation with $out or $merge is possible with the verbosity queryPlanner only")
	}
	x.To.String("explainVersion", "1")
	rest := over.Pipeline
	q := over.Selection
	source, _ := rest.Source()
	if source == "" {
		prefix := rest.Prefix()
		rest = prefix.Rest
		q.Filter, q.Query, q.Sort = prefix.Match, prefix.Query, prefix.Sort
		q.Skip, q.Limit = prefix.Skip, max(0, prefix.Limit)
		if q.Query == nil {
			q.Query = doc.Empty
		}
		if rest.Len() == 0 {
			return x.planned(o, &q, q.Outer(nil, true), nil)
		}
	}
	x.To.Array("stages")
	if source == "" {
		x.To.Object(x.To.Index())
		x.To.Object("$cursor")
		if err := x.planned(o, &q, q.Outer(nil, true), nil); err != nil {
			return err
		}
		x.To.Close()
		x.To.Close()
	}
	for _, stage := range rest.Stages() {
		x.To.Element(stage)
	}
	x.To.Close()
	return nil
}
