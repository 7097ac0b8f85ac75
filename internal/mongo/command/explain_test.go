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
		{"point", bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: bson.D{{Key: "_id", Value: 3}}}}, []string{"IDHACK"}, []int{1, 1, 1}},
		{"index", bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: bson.D{{Key: "n", Value: 1}}}}, []string{"FETCH", "IXSCAN"}, []int{3, 3, 3}},
		{"all", bson.D{{Key: "find", Value: "c"}}, []string{"COLLSCAN"}, []int{10, 0, 10}},
		{"missing", bson.D{{Key: "find", Value: "zz"}}, []string{"EOF"}, []int{0, 0, 0}},
		{"skip, limit, project", bson.D{{Key: "find", Value: "c"}, {Key: "skip", Value: 2}, {Key: "limit", Value: 3}, {Key: "projection", Value: bson.D{{Key: "n", Value: 1}}}}, []string{"LIMIT", "SKIP", "PROJECTION_SIMPLE", "COLLSCAN"}, []int{3, 0, 5}},
		{"sort", bson.D{{Key: "find", Value: "c"}, {Key: "sort", Value: bson.D{{Key: "x", Value: 1}}}}, []string{"SORT", "COLLSCAN"}, []int{10, 0, 10}},
		{"count", bson.D{{Key: "count", Value: "c"}, {Key: "query", Value: bson.D{{Key: "n", Value: 1}}}}, []string{"COUNT", "FETCH", "IXSCAN"}, []int{0, 3, 3}},
		{"distinct", bson.D{{Key: "distinct", Value: "c"}, {Key: "key", Value: "n"}, {Key: "query", Value: bson.D{{Key: "n", Value: 0}}}}, []string{"FETCH", "IXSCAN"}, []int{4, 4, 4}},
		{"update", bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{{Key: "n", Value: 1}}}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 9}}}}}, {Key: "multi", Value: true}}}}},
			[]string{"UPDATE", "FETCH", "IXSCAN"}, []int{0, 3, 3}},
		{"delete", bson.D{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{{Key: "n", Value: 1}}}, {Key: "limit", Value: 1}}}}}, []string{"DELETE", "FETCH", "IXSCAN"}, []int{0, 1, 1}},
		{"findAndModify", bson.D{{Key: "findAndModify", Value: "c"}, {Key: "query", Value: bson.D{{Key: "n", Value: 1}}}, {Key: "update", Value: bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}}}, []string{"UPDATE", "FETCH", "IXSCAN"}, []int{0, 1, 1}},
		{"aggregate", bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "n", Value: 1}}}}}}, {Key: "cursor", Value: bson.D{}}}, []string{"FETCH", "IXSCAN"}, []int{3, 3, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := d.run(bson.D{{Key: "explain", Value: c.cmd}, {Key: "verbosity", Value: "executionStats"}})
			must(t, err)
			same(t, stages(t, inside(t, answer, "queryPlanner", "winningPlan")), c.stages)
			stats := inside(t, answer, "executionStats")
			same(t, stages(t, inside(t, stats, "executionStages")), c.stages)
			same(t, []any{inside(t, stats, "nReturned"), inside(t, stats, "totalKeysExamined"), inside(t, stats, "totalDocsExamined")}, c.stats)
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
		answer, err := d.run(bson.D{{Key: "explain", Value: bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 1}}}}}, {Key: "multi", Value: true}}}}}}})
		must(t, err)
		stage := inside(t, answer, "executionStats", "executionStages")
		same(t, []any{inside(t, stage, "nMatched"), inside(t, stage, "nWouldModify")}, []int{10, 7})
		same(t, inside(t, answer, "executionStats", "allPlansExecution"), bson.A{})
	})
	t.Run("stages", func(t *testing.T) {
		group := bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$n"}}}}
		answer, err := d.run(bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "n", Value: 1}}}}, group}}, {Key: "explain", Value: true}})
		must(t, err)
		list := answer["stages"].(bson.A)
		same(t, stages(t, inside(t, list[0], "$cursor", "queryPlanner", "winningPlan")), []string{"FETCH", "IXSCAN"})
		same(t, list[1], group)
	})
	t.Run("view", func(t *testing.T) {
		answer, err := d.run(bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: "v"}, {Key: "filter", Value: bson.D{{Key: "n", Value: 1}}}}}})
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
		{"verbosity", bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: "c"}}}, {Key: "verbosity", Value: "loud"}}, 2, "loud"},
		{"other command", bson.D{{Key: "explain", Value: bson.D{{Key: "insert", Value: "c"}}}}, 115, "insert"},
		{"unknown command", bson.D{{Key: "explain", Value: bson.D{{Key: "foo", Value: "c"}}}}, 59, "foo"},
		{"unknown field", bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: "c"}, {Key: "foo", Value: 1}}}}, 40415, "foo"},
		{"nothing", bson.D{{Key: "explain", Value: 1}}, 14, "wrong type 'int'"},
		{"two statements", bson.D{{Key: "explain", Value: bson.D{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 0}}, bson.D{{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 0}}}}}}}, 16, "size 1"},
		{"bad hint", bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: "c"}, {Key: "hint", Value: "nope"}}}}, 2, "hint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.run(c.cmd)
			fails(t, err, c.code, c.text)
		})
	}
}
