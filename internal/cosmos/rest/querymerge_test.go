package rest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A merger executes a query plan as clients do, over all ranges. It uses nothing but the members of the plan.
type merger struct {
	t         testing.TB
	QueryInfo *struct {
		DistinctType                string
		Top, Offset, Limit          *int
		OrderBy                     []string
		GroupByExpressions          []string
		GroupByAliases              []string
		Aggregates                  []string
		GroupByAliasToAggregateType map[string]*string
		RewrittenQuery              string
		HasSelectValue              bool
		DCountInfo                  *struct{ DCountAlias string }
	}
	QueryRanges []struct {
		Min, Max                       string
		IsMinInclusive, IsMaxInclusive bool
	}
}

// asks reports whether the plan sends its query to a range.
func (g *merger) asks(r keyRange) bool {
	for _, q := range g.QueryRanges {
		if q.Min < r.MaxExclusive && (q.Max > r.MinInclusive || q.IsMaxInclusive && q.Max == r.MinInclusive) {
			return true
		}
	}
	return false
}

// merge merges the rows of each range.
func (g *merger) merge(parts [][]string) []string {
	q := g.QueryInfo
	rows := slices.Concat(parts...)
	switch {
	case len(q.GroupByExpressions)+len(q.GroupByAliases)+len(q.Aggregates) > 0:
		rows = g.groups(parts)
	case len(q.OrderBy) > 0:
		rows = g.ordered(parts)
	}
	if q.DistinctType != "None" {
		rows = g.distinct(rows)
	}
	if q.Offset != nil {
		rows = rows[min(*q.Offset, len(rows)):]
	}
	for _, most := range []*int{q.Limit, q.Top} {
		if most != nil {
			rows = rows[:min(*most, len(rows))]
		}
	}
	if q.DCountInfo != nil {
		count := fmt.Sprint(len(rows))
		if rows = []string{count}; !q.HasSelectValue {
			rows[0] = "{" + quoted(q.DCountInfo.DCountAlias) + ":" + count + "}"
		}
	}
	return rows
}

// A mergedRow is a row with the values that it is ordered by.
type mergedRow struct {
	values  []doc.Value
	payload string
}

// ordered merges the payloads of rows. Those of each range must be in order.
func (g *merger) ordered(parts [][]string) (out []string) {
	var all []mergedRow
	for _, part := range parts {
		var last []doc.Value
		for _, row := range part {
			var f struct {
				Rid          string `json:"_rid"`
				OrderByItems []struct{ Item json.RawMessage }
				Payload      json.RawMessage
			}
			must(g.t, json.Unmarshal([]byte(row), &f))
			values := make([]doc.Value, len(f.OrderByItems))
			for i, item := range f.OrderByItems {
				if item.Item != nil {
					values[i], _ = doc.ValueFromJSON(item.Item)
				}
			}
			if f.Rid == "" || len(values) != len(g.QueryInfo.OrderBy) || f.Payload == nil || !g.rising(last, values) {
				g.t.Errorf("%v then %s", last, row)
			}
			all, last = append(all, mergedRow{values, string(f.Payload)}), values
		}
	}
	if len(parts) > 1 {
		// Objects have no order among themselves, nor have arrays. Equal ones come together here, so that DISTINCT
		// finds them.
		slices.SortStableFunc(all, func(a, b mergedRow) int {
			return cmp.Or(g.order(a.values, b.values), strings.Compare(a.payload, b.payload))
		})
	}
	for _, row := range all {
		out = append(out, row.payload)
	}
	return out
}

func (g *merger) rising(a, b []doc.Value) bool { return a == nil || g.order(a, b) <= 0 }

func (g *merger) order(a, b []doc.Value) int {
	for i := range a {
		if c := access.Compare(a[i], b[i]); c != 0 {
			if g.QueryInfo.OrderBy[i] == "Ascending" {
				return c
			}
			return -c
		}
	}
	return 0
}

// distinct drops repeated rows: for Ordered plans only neighbours.
func (g *merger) distinct(rows []string) (out []string) {
	seen := map[string]bool{}
	for _, row := range rows {
		if !seen[row] {
			if g.QueryInfo.DistinctType == "Ordered" {
				clear(seen)
			}
			seen[row] = true
			out = append(out, row)
		}
	}
	return out
}

// A mergedGroup is the row of a group and the state of its aggregates.
type mergedGroup struct {
	value   json.RawMessage
	members map[string]json.RawMessage
	sums    map[string]*mergedSum
}

// groups merges partial rows. A range returns each group once.
func (g *merger) groups(parts [][]string) (out []string) {
	var order []string
	groups := map[string]*mergedGroup{}
	for _, rows := range parts {
		order = append(order, g.add(groups, rows)...)
	}
	for _, key := range order {
		if row := groups[key].row(g); row != "" {
			out = append(out, row)
		}
	}
	return out
}

// add adds the partial rows of one range, and returns the groups that are new.
func (g *merger) add(groups map[string]*mergedGroup, rows []string) (more []string) {
	met := map[string]bool{}
	for _, row := range rows {
		var f struct {
			GroupByItems []struct{ Item json.RawMessage }
			Payload      json.RawMessage
		}
		key := ""
		if strings.HasPrefix(row, "{") {
			must(g.t, json.Unmarshal([]byte(row), &f))
			for _, item := range f.GroupByItems {
				key += string(item.Item) + "\x00"
			}
		} else {
			f.Payload = json.RawMessage(row)
		}
		if len(f.GroupByItems) != len(g.QueryInfo.GroupByExpressions) || met[key] {
			g.t.Errorf("a group again, or none: %s", row)
		}
		met[key] = true
		if groups[key] == nil {
			groups[key] = &mergedGroup{members: map[string]json.RawMessage{}, sums: map[string]*mergedSum{}}
			more = append(more, key)
		}
		groups[key].take(g, f.Payload)
	}
	return more
}

func (x *mergedGroup) take(g *merger, payload json.RawMessage) {
	q := g.QueryInfo
	add := func(name, kind string, part json.RawMessage) {
		if x.sums[name] == nil {
			x.sums[name] = &mergedSum{kind: kind}
		}
		x.sums[name].add(g.t, part)
	}
	switch {
	case q.HasSelectValue && len(q.Aggregates) == 0:
		x.value = payload
	case q.HasSelectValue:
		var list []json.RawMessage
		must(g.t, json.Unmarshal(payload, &list))
		add("", q.Aggregates[0], list[0])
	default:
		members := map[string]json.RawMessage{}
		must(g.t, json.Unmarshal(payload, &members))
		for _, alias := range q.GroupByAliases {
			if kind := q.GroupByAliasToAggregateType[alias]; kind != nil {
				add(alias, *kind, members[alias])
				delete(members, alias)
			}
		}
		x.members = members
	}
}

// row is the row of the group, "" if it is undefined.
func (x *mergedGroup) row(g *merger) string {
	q := g.QueryInfo
	if q.HasSelectValue {
		if s := x.sums[""]; s != nil {
			return s.result()
		}
		return string(x.value)
	}
	var members []string
	for _, alias := range q.GroupByAliases {
		text := string(x.members[alias])
		if s := x.sums[alias]; s != nil {
			text = s.result()
		}
		if text != "" {
			members = append(members, quoted(alias)+":"+text)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// A mergedSum merges the parts of an aggregate as clients do (Azure/azure-cosmos-dotnet-v3:
// Microsoft.Azure.Cosmos/src/Query/Core/Pipeline/Aggregate/Aggregators).
type mergedSum struct {
	kind      string
	undefined bool // one part was, and so is the whole
	sum       float64
	count     float64
	value     doc.Value // for Min and Max
	list      []string
}

func (m *mergedSum) add(t testing.TB, part json.RawMessage) {
	var x struct {
		Item  json.RawMessage
		Item2 struct {
			Min, Max json.RawMessage
			Count    *float64
		}
	}
	must(t, json.Unmarshal(part, &x))
	number := func(text json.RawMessage) (f float64) {
		must(t, json.Unmarshal(text, &f))
		return f
	}
	switch m.kind {
	case "Average":
		var a struct{ Sum, Count *float64 }
		must(t, json.Unmarshal(x.Item, &a))
		if a.Sum == nil {
			m.undefined = true
			return
		}
		m.sum, m.count = m.sum+*a.Sum, m.count+*a.Count
	case "Min", "Max":
		least := slices.Concat(x.Item2.Min, x.Item2.Max)
		switch {
		case x.Item2.Count == nil:
			t.Errorf("%s without a count: %s", m.kind, part)
		case *x.Item2.Count == 0:
		case len(least) == 0:
			m.undefined = true
		default:
			v, err := doc.ValueFromJSON(least)
			must(t, err)
			if c := access.Compare(v, m.value); m.count == 0 || m.kind == "Min" && c < 0 || m.kind == "Max" && c > 0 {
				m.value = v
			}
			m.count++
		}
	case "MakeList", "MakeSet":
		var list []json.RawMessage
		must(t, json.Unmarshal(x.Item, &list))
		for _, one := range list {
			if text := string(one); m.kind == "MakeList" || !slices.Contains(m.list, text) {
				m.list = append(m.list, text)
			}
		}
	default: // Count, CountIf, Sum
		if len(x.Item) == 0 {
			m.undefined = true
			return
		}
		m.sum += number(x.Item)
	}
}

// result is the whole, "" for undefined.
func (m *mergedSum) result() string {
	switch {
	case m.undefined:
		return ""
	case m.kind == "MakeList" || m.kind == "MakeSet":
		return "[" + strings.Join(m.list, ",") + "]"
	case m.kind == "Min" || m.kind == "Max":
		if m.count == 0 {
			return ""
		}
		return string(doc.Query.AppendJSONValue(nil, m.value))
	case m.kind == "Average":
		if m.count == 0 {
			return ""
		}
		return string(doc.Query.AppendJSONValue(nil, doc.Float(m.sum/m.count)))
	}
	return string(doc.Query.AppendJSONValue(nil, doc.Float(m.sum)))
}

// moreToMerge are queries in addition to those of the planner's tables.
var moreToMerge = []string{
	"SELECT DISTINCT TOP 3 c.a FROM c ORDER BY c.a",
	"SELECT DISTINCT c.a, c.b FROM c ORDER BY c.a DESC OFFSET 2 LIMIT 4",
	"SELECT DISTINCT VALUE c.blah FROM c ORDER BY c.blah OFFSET 1 LIMIT 3",
	"SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a DESC",
	"SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.a FROM c)",
	"SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.a, c.b FROM c)",
	"SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a OFFSET 1 LIMIT 3",
	"SELECT TOP 4 c.a, COUNT(1) AS n FROM c GROUP BY c.a",
	"SELECT c.key, c.blah, SUM(c.age) AS s, AVG(c.age) AS m, MIN(c.b) AS lo, MAX(c.name) AS hi, COUNT(c.c) AS n FROM " +
		"c GROUP BY c.key, c.blah",
	"SELECT VALUE SUM(c.b) FROM c",
	"SELECT VALUE AVG(c.nope) FROM c",
	"SELECT VALUE MIN(c.nope) FROM c",
	"SELECT VALUE MAX(c.age) FROM c",
	"SELECT MIN(c.nope) AS a, SUM(c.nope) AS b, AVG(c.nope) AS d FROM c",
	"SELECT DISTINCT VALUE MAX(c.age) FROM c GROUP BY c.team",
	"SELECT VALUE COUNT(1) FROM c GROUP BY c.team",
	"SELECT c.id FROM c JOIN s IN c.scores ORDER BY c.age",
	"SELECT VALUE s.score FROM c JOIN s IN c.scores WHERE s.score > 1 ORDER BY c.age DESC",
	"SELECT * FROM c ORDER BY c._ts DESC",
	"SELECT VALUE c.a FROM c ORDER BY c.b",
	"SELECT TOP 3 * FROM c WHERE c.key = 1 ORDER BY c.age",
	"SELECT c.a FROM c WHERE c.key = 1 OFFSET 1 LIMIT 2",
	"SELECT c.id FROM c OFFSET 5 LIMIT 2147483647",
	"SELECT VALUE {a: c.a, n: c.nope} FROM c ORDER BY c.a, c.b",
	"SELECT DISTINCT VALUE c.nope FROM c",
	"SELECT COUNT(1) AS n, c.a FROM c WHERE c.key IN (1, 2, 'a') GROUP BY c.a",
	"SELECT c.a ?? 1 FROM c ORDER BY c.a",
}

// TestMergedPlans checks that executing the plan of a query gives the same rows as the query itself, for every query
// in the tables of the planner.
func TestMergedPlans(t *testing.T) {
	for _, ranges := range []int{1, 4} {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			t.Parallel()
			testMergedPlans(t, ranges)
		})
	}
}

func testMergedPlans(t *testing.T, ranges int) {
	d := newMergeable(t, ranges)
	files, err := filepath.Glob("../sql/plan/testdata/gateway/*.txt")
	must(t, err)
	merged := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, part := range strings.Split(string(text), "\n== ")[1:] {
			var query, params []string
			for line := range strings.SplitSeq(part, "\n") {
				word, rest, _ := strings.Cut(line, " ")
				switch word {
				case "?":
					query = append(query, rest)
				case "param":
					name, value, _ := strings.Cut(rest, " ")
					params = append(params, fmt.Sprintf(`{"name":%q,"value":%s}`, name, value))
				}
			}
			if d.merges(strings.Join(query, "\n"), strings.Join(params, ",")) {
				merged++
			}
		}
	}
	for _, query := range moreToMerge {
		if !d.merges(query, "") {
			t.Errorf("not merged: %s", query)
		}
	}
	if merged < 200 {
		t.Errorf("only %d of the tables are merged", merged)
	}
}

// newMergeable is a container whose items have all members that the tables use.
func newMergeable(t testing.TB, ranges int) *testAPI {
	rng := rand.New(rand.NewPCG(newSeed(t), 5))
	d := newTestAPI(t, func(o *Options) { o.Partitions = ranges })
	d.do("POST", "/dbs", `{"id":"d"}`).want(201)
	var pairs []string
	for _, p := range [][2]string{{"a", "b"}, {"blah", "key"}, {"property", "orderByField"}, {"orderByField1",
		"orderByField2"}, {"name", "age"}} {
		pairs = append(pairs,
			fmt.Sprintf(`[{"path":"/%s"},{"path":"/%s"}],[{"path":"/%[1]s"},{"path":"/%[2]s","order":"descending"}]`,
				p[0], p[1]))
	}
	d.define("c", `"partitionKey":{"paths":["/key"],"kind":"Hash","version":2}`,
		`"indexingPolicy":{"includedPaths":[{"path":"/*"}],"compositeIndexes":[`+strings.Join(pairs, ",")+`]}`)
	values := strings.Split(
		`null|true|false|1|2|3|42|5|"a"|"b"|"John"|1.5|{"x":1}|{"x":2}|[1,2]|[1]|[{"name":"a","score":2,"repeat":2},{"name":"b","score":1,"repeat":1}]|{"city":"x","name":"y"}`, "|",
	)
	for i := range 60 {
		item, key := fmt.Sprintf(`{"id":"%d"`, i), "{}"
		for _, name := range strings.Fields("key blah name age property orderByField orderByField1 orderByField2 a b " +
			"c d field zipcode team region pk address valid number scores groups children text") {
			value := values[rng.IntN(len(values))]
			switch name {
			case "age":
				value = fmt.Sprint(rng.IntN(6))
			case "scores", "groups", "children":
				value = fmt.Sprintf(`[{"name":"a","score":%d,"repeat":1,"x":%s},%[2]s]`, rng.IntN(6), value)
			case "text":
				value = `"some words, blue or red"`
			}
			if rng.IntN(8) == 0 {
				continue
			}
			if item += fmt.Sprintf(`,%q:%s`, name, value); name == "key" && !strings.ContainsAny(value[:1], "{[") {
				key = value
			}
		}
		d.do("POST", documents, item+"}", hPK, "["+key+"]").want(201)
	}
	return d
}

// allFeatures are the features of the newest clients.
const allFeatures = "Aggregate, CompositeAggregate, Distinct, GroupBy, MultipleAggregates, MultipleOrderBy, " +
	"OffsetAndLimit, OrderBy, Top, NonValueAggregate, DCount, " +
	"NonStreamingOrderBy, ListAndSetAggregate, CountIf, HybridSearch, WeightedRankFusion"

// merges compares the direct answer of a query with the merged one. It reports false if there is no plan to execute.
func (d *testAPI) merges(query, params string) bool {
	d.t.Helper()
	body := func(text string) string { return `{"query":` + quoted(text) + `,"parameters":[` + params + `]}` }
	h := []string{"content-type", "application/query+json", "x-ms-documentdb-query-enablecrosspartition", "true"}
	a := d.do("POST", documents, body(query), append(h, "x-ms-cosmos-is-query-plan-request", "True",
		"x-ms-cosmos-supported-query-features", allFeatures)...)
	want, status := d.rows(body(query), 1000, h)
	if a.status != 200 || status != 200 {
		return false
	}
	g := merger{t: d.t}
	must(d.t, json.Unmarshal([]byte(a.text), &g))
	if g.QueryInfo == nil { // of ORDER BY RANK
		return false
	}
	send := query
	if text := g.QueryInfo.RewrittenQuery; text != "" {
		send = strings.ReplaceAll(text, "{documentdb-formattableorderbyquery-filter}", "true")
	}
	list, _ := d.ranges()
	for _, size := range []int{2, 100} {
		var parts [][]string
		for _, r := range list {
			if !g.asks(r) {
				continue
			}
			rows, answered := d.rows(body(send), size, append(slices.Clone(h), hRange, r.ID))
			if parts = append(parts, rows); answered != 200 {
				status = answered
			}
		}
		got := g.merge(parts)
		a, b := got, want
		// Of equal keys, either may come first. So may the members of lists.
		if len(g.QueryInfo.OrderBy) == 0 || g.QueryInfo.DistinctType != "None" || len(list) > 1 {
			a, b = sorted(a), sorted(b)
			if g.QueryInfo.Top != nil || g.QueryInfo.Limit != nil { // which rows is not said
				a, b = make([]string, len(a)), make([]string, len(b))
			}
		}
		if g.lists() && len(list) > 1 {
			a, b = letters(a), letters(b)
		}
		if status != 200 || !slices.Equal(a, b) {
			d.t.Errorf("%s\nsent %s in pages of %d: %d\n%s\nwant\n%s", query, send, size, status, differing(a, b),
				differing(b, a))
		}
	}
	return true
}

// lists reports whether the rows have lists of values of several items.
func (g *merger) lists() bool {
	kinds := slices.Clone(g.QueryInfo.Aggregates)
	for _, kind := range g.QueryInfo.GroupByAliasToAggregateType {
		if kind != nil {
			kinds = append(kinds, *kind)
		}
	}
	return slices.Contains(kinds, "MakeList") || slices.Contains(kinds, "MakeSet")
}

// letters sorts the letters of each row, and the rows.
func letters(rows []string) (out []string) {
	for _, row := range rows {
		b := []byte(row)
		slices.Sort(b)
		out = append(out, string(b))
	}
	return sorted(out)
}

// rows asks for all pages of a query.
func (d *testAPI) rows(body string, size int, headers []string) (rows []string, status int) {
	for token := ""; ; {
		h := append(slices.Clone(headers), "x-ms-max-item-count", fmt.Sprint(size))
		if token != "" {
			h = append(h, "x-ms-continuation", token)
		}
		a := d.do("POST", documents, body, h...)
		if a.status != 200 {
			return nil, a.status
		}
		var out struct{ Documents []json.RawMessage }
		must(d.t, json.Unmarshal([]byte(a.text), &out))
		for _, r := range out.Documents {
			rows = append(rows, string(r))
		}
		if token = a.header.Get("x-ms-continuation"); token == "" {
			return rows, 200
		}
	}
}
