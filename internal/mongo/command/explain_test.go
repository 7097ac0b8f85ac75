package command_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// inside follows names into an answer.
func inside(t testing.TB, v any, path ...string) any {
	t.Helper()
	for _, name := range path {
		switch d := v.(type) {
		case bson.M:
			v = d[name]
		case bson.D:
			v = nil
			for _, e := range d {
				if e.Key == name {
					v = e.Value
				}
			}
		default:
			t.Fatalf("no %s in %v", name, v)
		}
	}
	return v
}

// stages lists the stages of a plan from the outermost on.
func stages(t testing.TB, v any) (list []string) {
	t.Helper()
	for v != nil {
		list = append(list, inside(t, v, "stage").(string))
		v = inside(t, v, "inputStage")
	}
	return list
}

func TestExplain(t *testing.T) {
	d, _ := stocked(t, nil)
	for _, c := range []struct {
		name   string
		cmd    bson.D
		stages []string
		stats  []int // nReturned, keys, documents
	}{
		{"point", document(t, `{find: 'c', filter: {_id: 3}}`), []string{"IDHACK"}, []int{1, 1, 1}},
		{"index", document(t, `{find: 'c', filter: {n: 1}}`), []string{"FETCH", "IXSCAN"}, []int{3, 3, 3}},
		{"all", bson.D{{Key: "find", Value: "c"}}, []string{"COLLSCAN"}, []int{10, 0, 10}},
		{"missing", bson.D{{Key: "find", Value: "zz"}}, []string{"EOF"}, []int{0, 0, 0}},
		{"skip, limit, project", document(t, `{find: 'c', skip: 2, limit: 3, projection: {n: 1}}`),
			[]string{"LIMIT", "SKIP", "PROJECTION_SIMPLE", "COLLSCAN"}, []int{3, 0, 5}},
		{"sort", document(t, `{find: 'c', sort: {x: 1}}`), []string{"SORT", "COLLSCAN"}, []int{10, 0, 10}},
		{"count", document(t, `{count: 'c', query: {n: 1}}`), []string{"COUNT", "FETCH", "IXSCAN"}, []int{0, 3, 3}},
		{"distinct", document(t, `{distinct: 'c', key: 'n', query: {n: 0}}`),
			[]string{"FETCH", "IXSCAN"}, []int{4, 4, 4}},
		{"update", document(t, `{update: 'c', updates: [{q: {n: 1}, u: {$set: {n: 9}}, multi: true}]}`),
			[]string{"UPDATE", "FETCH", "IXSCAN"}, []int{0, 3, 3}},
		{"delete", document(t, `{delete: 'c', deletes: [{q: {n: 1}, limit: 1}]}`),
			[]string{"DELETE", "FETCH", "IXSCAN"}, []int{0, 1, 1}},
		{"findAndModify", document(t, `{findAndModify: 'c', query: {n: 1}, update: {$inc: {n: 1}}}`),
			[]string{"UPDATE", "FETCH", "IXSCAN"}, []int{0, 1, 1}},
		{"aggregate", document(t, `{aggregate: 'c', pipeline: [{$match: {n: 1}}], cursor: {}}`),
			[]string{"FETCH", "IXSCAN"}, []int{3, 3, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := d.run(bson.D{{Key: "explain", Value: c.cmd}, {Key: "verbosity", Value: "executionStats"}})
			must(t, err)
			same(t, stages(t, inside(t, answer, "queryPlanner", "winningPlan")), c.stages)
			stats := inside(t, answer, "executionStats")
			same(t, stages(t, inside(t, stats, "executionStages")), c.stages)
			keys, documents := inside(t, stats, "totalKeysExamined"), inside(t, stats, "totalDocsExamined")
			same(t, []any{inside(t, stats, "nReturned"), keys, documents}, c.stats)
			same(t, inside(t, answer, "command", c.cmd[0].Key), c.cmd[0].Value)
			same(t, inside(t, answer, "serverInfo", "version"), "7.0.14")
			plain, err := d.run(bson.D{{Key: "explain", Value: c.cmd}, {Key: "verbosity", Value: "queryPlanner"}})
			must(t, err)
			same(t, plain["executionStats"], nil)
		})
	}
	t.Run("nothing was written", func(t *testing.T) {
		same(t, count(t, d.Database("test").Collection("c"), bson.D{{Key: "n", Value: 1}}), 3)
	})
	t.Run("writes are told", func(t *testing.T) {
		update := document(t, `{update: 'c', updates: [{q: {}, u: {$set: {n: 1}}, multi: true}]}`)
		answer, err := d.run(eq("explain", update))
		must(t, err)
		stage := inside(t, answer, "executionStats", "executionStages")
		same(t, []any{inside(t, stage, "nMatched"), inside(t, stage, "nWouldModify")}, []int{10, 7})
		same(t, inside(t, answer, "executionStats", "allPlansExecution"), bson.A{})
	})
	t.Run("stages", func(t *testing.T) {
		match, group := eq("$match", eq("n", 1)), eq("$group", eq("_id", "$n"))
		answer, err := d.run(pairs("aggregate", "c", "pipeline", bson.A{match, group}, "explain", true))
		must(t, err)
		list := answer["stages"].(bson.A)
		same(t, stages(t, inside(t, list[0], "$cursor", "queryPlanner", "winningPlan")), []string{"FETCH", "IXSCAN"})
		same(t, list[1], group)
	})
	t.Run("view", func(t *testing.T) {
		answer, err := d.run(document(t, `{explain: {find: 'v', filter: {n: 1}}}`))
		must(t, err)
		same(t, stages(t, inside(t, answer, "queryPlanner", "winningPlan")), []string{"FETCH", "IXSCAN"})
	})
}

func TestExplainRefuses(t *testing.T) {
	d, _ := stocked(t, nil)
	for _, c := range []struct {
		name string
		cmd  bson.D
		code int32
		text string
	}{
		{"verbosity", document(t, `{explain: {find: 'c'}, verbosity: 'loud'}`), 2, "loud"},
		{"other command", document(t, `{explain: {insert: 'c'}}`), 115, "insert"},
		{"unknown command", document(t, `{explain: {foo: 'c'}}`), 59, "foo"},
		{"unknown field", document(t, `{explain: {find: 'c', foo: 1}}`), 40415, "foo"},
		{"nothing", bson.D{{Key: "explain", Value: 1}}, 14, "wrong type 'int'"},
		{"two statements", document(t, `{explain: {delete: 'c', deletes: [{q: {}, limit: 0}, {q: {}, limit: 0}]}}`),
			16, "size 1"},
		{"bad hint", document(t, `{explain: {find: 'c', hint: 'nope'}}`), 2, "hint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.run(c.cmd)
			fails(t, err, c.code, c.text)
		})
	}
}
