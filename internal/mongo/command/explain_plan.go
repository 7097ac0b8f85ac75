package command

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

// A wrapping is a stage that a command puts around a plan.
type wrapping struct {
	stage    string
	members  func(a *answer, ran bool)
	returned func(n int64) int64 // documents, of so many that come in; nil for all of them
}

// A measure is what a plan has cost and found.
type measure struct {
	run     plan.Run
	matched int64
}

// selection writes the queryPlanner, and the executionStats if they are wanted, of a selection with
// stages around it, the innermost first. each, if not nil, is called with each document that is found, and stops
// the walk with false.
func (x *explanation) selection(r *request, q *selection, around []wrapping, each func(doc.Doc) (bool, error)) error {
	x.a.string("explainVersion", "1")
	return x.planned(r, q, around, each)
}

func (x *explanation) planned(r *request, q *selection, around []wrapping, each func(doc.Doc) (bool, error)) error {
	p, v, err := r.explainPlan(q)
	if err != nil {
		return err
	}
	x.planner(q, p, around)
	if x.level == planOnly {
		return nil
	}
	m, err := r.measure(q, v, p, each)
	if err != nil {
		return err
	}
	x.executed(p, m, around)
	return nil
}

// explainPlan chooses the plan of a selection, nil where there is no container.
func (r *request) explainPlan(q *selection) (*plan.Plan, catalog.View, error) {
	if q.container == nil {
		return nil, catalog.View{}, nil
	}
	v, err := r.enter(q.container)
	if err != nil {
		return nil, v, err
	}
	p, err := r.plan(v, q)
	return p, v, err
}

// planner writes queryPlanner. There are no rejected plans: the choice looks at indexes and not at documents.
func (x *explanation) planner(q *selection, p *plan.Plan, around []wrapping) {
	a := x.a
	a.object("queryPlanner")
	a.string("namespace", q.ns)
	a.bool("indexFilterSet", false)
	a.doc("parsedQuery", q.query)
	for _, limit := range []string{"maxIndexedOrSolutionsReached", "maxIndexedAndSolutionsReached", "maxScansToExplodeReached"} {
		a.bool(limit, false)
	}
	inner := nowhere(false)
	if p != nil {
		inner = p.Explain()
	}
	for _, w := range around {
		inner = w.around(inner, 0, 0, false)
	}
	a.doc("winningPlan", inner)
	a.array("rejectedPlans")
	a.close()
	a.close()
}

// nowhere is the plan of a container that does not exist.
func nowhere(ran bool) doc.Doc {
	a := newAnswer(nil)
	a.string("stage", "EOF")
	if ran {
		a.int64("nReturned", 0)
		a.int64("executionTimeMillisEstimate", 0)
	}
	return a.end()
}

// around is the stage with another one inside.
func (w *wrapping) around(inner doc.Doc, returned, millis int64, ran bool) doc.Doc {
	a := newAnswer(nil)
	a.string("stage", w.stage)
	if ran {
		a.int64("nReturned", returned)
		a.int64("executionTimeMillisEstimate", millis)
	}
	if w.members != nil {
		w.members(a, ran)
	}
	a.doc("inputStage", inner)
	return a.end()
}

// measure follows a plan as far as the command would.
func (r *request) measure(q *selection, v catalog.View, p *plan.Plan, each func(doc.Doc) (bool, error)) (measure, error) {
	var m measure
	if p == nil {
		return m, nil
	}
	enough := int64(0)
	if p.Sorted && q.limit > 0 {
		enough = q.skip + q.limit
	}
	counted := *p
	counted.Access.Stats = new(access.Stats)
	before := r.since.Elapsed()
	err := r.each(q, v, &counted, nil, func(d access.Document) (bool, error) {
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
	m.run = plan.Run{Returned: m.matched, Millis: (r.since.Elapsed() - before).Milliseconds(), Stats: *counted.Access.Stats}
	return m, err
}

// executed writes executionStats.
func (x *explanation) executed(p *plan.Plan, m measure, around []wrapping) {
	a := x.a
	inner, returned := nowhere(true), m.matched
	if p != nil {
		inner = p.Executed(m.run)
	}
	for _, w := range around {
		if w.returned != nil {
			returned = w.returned(returned)
		}
		inner = w.around(inner, returned, m.run.Millis, true)
	}
	a.object("executionStats")
	a.bool("executionSuccess", true)
	a.count("nReturned", returned)
	a.count("executionTimeMillis", m.run.Millis)
	a.count("totalKeysExamined", int64(m.run.Keys))
	a.count("totalDocsExamined", int64(m.run.Documents))
	a.doc("executionStages", inner)
	if x.level == allPlans {
		a.array("allPlansExecution")
		a.close()
	}
	a.close()
}

// outer are the stages that skip, limit and project around a plan; sorted tells that it sorts by itself, and then
// it limits too.
func (q *selection) outer(projection doc.Doc, simple bool) []wrapping {
	var list []wrapping
	if !doc.IsEmpty(projection) {
		name := "PROJECTION_DEFAULT"
		if simple {
			name = "PROJECTION_SIMPLE"
		}
		list = append(list, wrapping{stage: name, members: func(a *answer, _ bool) { a.doc("transformBy", projection) }})
	}
	if q.skip > 0 {
		list = append(list, wrapping{
			stage: "SKIP", members: func(a *answer, _ bool) { a.count("skipAmount", q.skip) },
			returned: func(n int64) int64 { return max(0, n-q.skip) },
		})
	}
	if q.limit > 0 {
		list = append(list, wrapping{
			stage: "LIMIT", members: func(a *answer, _ bool) { a.count("limitAmount", q.limit) },
			returned: func(n int64) int64 { return min(n, q.limit) },
		})
	}
	return list
}
