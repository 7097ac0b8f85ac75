package plan

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// gatewayDiffers lists the cases in which mayfly's plan differs from the service's, and why.
var gatewayDiffers = map[string]string{
	// The service lets members of a key through, and breaks lines in subqueries.
	"groupby/in several subqueries and outside": "the text of subqueries is on fewer lines",
	// The newer planner of the other cases replaces undefined scores, which an array would omit.
	"hybrid/OFFSET and LIMIT":              "written by an older planner: no ?? -1",
	"hybrid/LIMIT 0":                       "written by an older planner: no ?? -1",
	"hybrid/TOP 0":                         "written by an older planner: no ?? -1",
	"hybrid/the highest TOP of clients":    "written by an older planner: no ?? -1",
	"hybrid/the highest OFFSET of clients": "written by an older planner, whose LIMIT of 32 bits overflows",
	"negative/ORDER BY a function":         "the service gives the number 2206 as code, and no position",
	// Every partition key is hashed here: there is nothing between two keys.
	"rangekey/BETWEEN and a number": "kind Range",
	"rangekey/a long filter":        "kind Range",
	"rangekey/above a number":       "kind Range",
	"rangekey/up to a number":       "kind Range",
	"rangekey/above a string":       "kind Range",
	"rangekey/up to a string":       "kind Range",
	"ranges/_TRY_ARRAY_CONTAINS":    "no public function",
	// The newer planner of the other cases writes the shortest digits, as mayfly does.
	"vector/euclidean, a literal":  "written by an older planner: 17 digits",
	"vector/cosine, a literal":     "written by an older planner: 17 digits",
	"vector/dotproduct, a literal": "written by an older planner: 17 digits",
}

// gatewayAgreement is the minimum share of cases, outside spatial, that agree.
const gatewayAgreement = 0.9

// A gatewayCase is a query and the service's plan for it. Its lines in testdata/gateway/*.txt begin with a word:
//
//	== name                begins a case
//	? text                 a line of the query
//	key /a /b              the partition key; before the first case: of all that have none
//	param @name JSON       a parameter
//	vector /path function  of the container's vector policy
//	> text                 a line of the rewritten query; none is ""
//	ranges none | [1] [2]  the partition keys to ask; none given is all
//	error [code] [a-b] message
//
// and other words are members of GatewayQuery, in the order of lines below.
type gatewayCase struct {
	family, name string
	query        string
	keys         []string
	params       map[string]doc.Value
	vectors      map[string]string
	want         string
}

// gatewayShort are short names for placeholders.
var gatewayShort = strings.NewReplacer(
	gatewayFilter, "({filter})", gatewayDocuments, "{docs}",
	fmt.Sprintf(gatewayWords, 0), "{words-0}", fmt.Sprintf(gatewayHits, 0), "{hits-0}",
	fmt.Sprintf(gatewayWords, 1), "{words-1}", fmt.Sprintf(gatewayHits, 1), "{hits-1}",
)

func gatewayCases(t *testing.T) (cases []*gatewayCase) {
	t.Helper()
	files, err := filepath.Glob("testdata/gateway/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		family := strings.TrimSuffix(filepath.Base(file), ".txt")
		cases = append(cases, gatewayTable(t, family, bufio.NewScanner(f))...)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return cases
}

func gatewayTable(t *testing.T, family string, lines *bufio.Scanner) (cases []*gatewayCase) {
	t.Helper()
	var keys []string
	var c *gatewayCase
	for n := 1; lines.Scan(); n++ {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch {
		case word == "==":
			c = &gatewayCase{family: family, name: rest, keys: keys, params: map[string]doc.Value{},
				vectors: map[string]string{}}
			cases = append(cases, c)
		case word == "" || word == "#":
		case word == "key" && c == nil:
			keys = strings.Fields(rest)
		case c == nil:
			t.Fatalf("%s:%d: no case yet", family, n)
		case word == "key":
			c.keys = strings.Fields(rest)
		case word == "?":
			c.query += strings.Repeat("\n", min(1, len(c.query))) + rest
		case word == "param":
			name, value, _ := strings.Cut(rest, " ")
			v, err := doc.ValueFromJSON([]byte(value))
			if err != nil {
				t.Fatalf("%s:%d: %v", family, n, err)
			}
			c.params[name] = v
		case word == "vector":
			path, name, _ := strings.Cut(rest, " ")
			c.vectors[path] = name
		case word == "ranges":
			c.want += c.wantedRanges(t, rest)
		default:
			c.want += lines.Text() + "\n"
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// wantedRanges replaces partition keys by their effective keys, version 1 as in the service's tables, and sorts them.
// Bounds that do not exist with hashing stay unchanged.
func (c *gatewayCase) wantedRanges(t *testing.T, text string) string {
	t.Helper()
	if text == "none" || strings.Contains(text, "..") {
		return "ranges " + text + "\n"
	}
	var hashed []string
	for _, key := range strings.Split(strings.ReplaceAll(text, "] [", "]\x00["), "\x00") {
		v, err := doc.ValueFromJSON([]byte(key))
		if err != nil {
			t.Fatalf("%s/%s: %v", c.family, c.name, err)
		}
		var values []doc.Value
		for part := range doc.Elements(v) {
			if _, object := doc.AsDoc(part); object {
				part = doc.Value{}
			}
			values = append(values, part)
		}
		hashed = append(hashed, gatewayEPK(1, false)(values))
	}
	slices.Sort(hashed)
	return "ranges " + strings.Join(hashed, " ") + "\n"
}

func gatewayEPK(version int, multi bool) func([]doc.Value) string {
	st := &catalog.State{}
	st.Partition.Version, st.Partition.Multi = version, multi
	return func(values []doc.Value) string {
		return fmt.Sprintf("%X", store.EffectivePartitionKey(st, values))
	}
}

func (c *gatewayCase) environment(t *testing.T) GatewayEnvironment {
	t.Helper()
	env := GatewayEnvironment{
		Constant: gatewayConstant(c.params),
		EPK:      gatewayEPK(1, false),
		Distance: func(p access.Path) string {
			text := ""
			for _, step := range p {
				text += "/" + step.Name
			}
			return c.vectors[text]
		},
	}
	for _, key := range c.keys {
		path, err := doc.ParsePath(key)
		if err != nil {
			t.Fatal(err)
		}
		var p access.Path
		for _, token := range path {
			p = append(p, access.Step{Name: token.Name})
		}
		env.Partition = append(env.Partition, p)
	}
	return env
}

// gatewayConstant computes literals, parameters and calls of these.
func gatewayConstant(params map[string]doc.Value) func(syntax.Expr) (doc.Value, bool) {
	var constant func(e syntax.Expr) (doc.Value, bool)
	constant = func(e syntax.Expr) (doc.Value, bool) {
		switch x := e.(type) {
		case *syntax.Parameter:
			return params[x.Name], true
		case *syntax.Literal:
			if x.Kind == syntax.Undefined {
				return doc.Value{}, true
			}
			v, err := doc.ValueFromJSON([]byte(syntax.Print(x)))
			return v, err == nil
		case *syntax.Array:
			text := "["
			for i, item := range x.Items {
				v, ok := constant(item)
				if !ok {
					return doc.Value{}, false
				}
				text += strings.Repeat(",", min(i, 1)) + string(doc.AppendJSONValue(nil, v))
			}
			v, err := doc.ValueFromJSON([]byte(text + "]"))
			return v, err == nil
		case *syntax.Object:
			var d doc.Doc
			for _, m := range x.Members {
				v, ok := constant(m.X)
				if !ok {
					return doc.Value{}, false
				}
				d = doc.With(d, m.Name, v)
			}
			if d == nil {
				v, err := doc.ValueFromJSON([]byte("{}"))
				return v, err == nil
			}
			return doc.Object(d), true
		case *syntax.Call:
			f, ok := function.Lookup(x.Name)
			if !ok || x.UDF || f.Volatile {
				return doc.Value{}, false
			}
			var args []doc.Value
			for _, arg := range x.Args {
				v, ok := constant(arg)
				if !ok {
					return doc.Value{}, false
				}
				args = append(args, v)
			}
			return f.Run(&function.Call{}, args), true
		}
		return doc.Value{}, false
	}
	return constant
}

// plan checks the query as a direct one, then plans it.
func (c *gatewayCase) plan(t *testing.T) (*GatewayPlan, error) {
	t.Helper()
	q, err := syntax.Parse(c.query)
	if err != nil {
		return nil, err
	}
	env := c.environment(t)
	if err := gatewayChecked(q, env); err != nil {
		return nil, err
	}
	return Gateway(q, env)
}

// gatewayShow prints a plan, or an error, in the form of the tables.
func gatewayShow(p *GatewayPlan, err error) string {
	if err != nil {
		return gatewayErrorText(err)
	}
	var b strings.Builder
	if p.Query != nil {
		p.Query.text(&b, p.Ranges)
	} else {
		p.Hybrid.text(&b)
	}
	return gatewayShort.Replace(b.String())
}

func gatewayErrorText(err error) string {
	var mistakes *syntax.Error
	if !errors.As(err, &mistakes) {
		return fmt.Sprintf("error %v\n", err)
	}
	text := ""
	for _, m := range mistakes.Mistakes {
		if m.Code == "" {
			text += fmt.Sprintf("error %s\n", m.Message)
			continue
		}
		text += fmt.Sprintf("error %s %d-%d %s\n", m.Code, m.Span.Start, m.Span.End, m.Message)
	}
	return text
}

func (q *GatewayQuery) text(b *strings.Builder, ranges []GatewayRange) {
	if q.HasSelectValue {
		b.WriteString("value\n")
	}
	if q.Distinct != gatewayNotDistinct {
		fmt.Fprintf(b, "distinct %s\n", q.Distinct)
	}
	for _, count := range []struct {
		word string
		n    *int64
	}{{"top", q.Top}, {"offset", q.Offset}, {"limit", q.Limit}} {
		if count.n != nil {
			fmt.Fprintf(b, "%s %d\n", count.word, *count.n)
		}
	}
	if q.NonStreaming {
		b.WriteString("nonstreaming\n")
	}
	for i, direction := range q.OrderBy {
		fmt.Fprintf(b, "order %s %s\n", direction, q.OrderByExpressions[i])
	}
	for _, e := range q.GroupByExpressions {
		fmt.Fprintf(b, "group %s\n", e)
	}
	for i, alias := range q.GroupByAliases {
		fmt.Fprintf(b, "%s\n", strings.TrimSuffix("alias "+alias+" "+q.AliasAggregates[i], " "))
	}
	for _, kind := range q.Aggregates {
		fmt.Fprintf(b, "aggregates %s\n", kind)
	}
	if q.DCount != nil {
		fmt.Fprintf(b, "dcount %q\n", *q.DCount)
	}
	gatewayRangesText(b, ranges)
	for line := range strings.Lines(q.Rewritten) {
		fmt.Fprintf(b, "> %s\n", strings.TrimSuffix(line, "\n"))
	}
}

func gatewayRangesText(b *strings.Builder, ranges []GatewayRange) {
	switch {
	case slices.Equal(ranges, []GatewayRange{{Max: "FF", MinInclusive: true}}):
		return
	case slices.Equal(ranges, []GatewayRange{{MinInclusive: true, MaxInclusive: true}}):
		b.WriteString("ranges none\n")
		return
	}
	b.WriteString("ranges")
	for _, r := range ranges {
		b.WriteString(" " + r.Min)
		if !r.point() {
			b.WriteString(".." + r.Max)
		}
	}
	b.WriteString("\n")
}

func (h *GatewayHybrid) text(b *strings.Builder) {
	count := func(word string, n *int64) {
		if n != nil {
			fmt.Fprintf(b, " %s=%d", word, *n)
		}
	}
	b.WriteString("hybrid")
	count("skip", h.Skip)
	count("take", h.Take)
	if h.RequiresGlobalStatistics {
		b.WriteString(" statistics")
	}
	for _, w := range h.Weights {
		b.WriteString(" " + strconv.FormatFloat(w, 'g', -1, 64))
	}
	b.WriteString("\n")
	for line := range strings.Lines(h.GlobalStatisticsQuery) {
		fmt.Fprintf(b, "global %s\n", strings.TrimSuffix(line, "\n"))
	}
	for _, c := range h.Components {
		b.WriteString("component")
		count("top", c.Top)
		count("offset", c.Offset)
		count("limit", c.Limit)
		fmt.Fprintf(b, "\norder %s %s\n", c.OrderBy[0], c.OrderByExpressions[0])
		for line := range strings.Lines(c.Rewritten) {
			fmt.Fprintf(b, "> %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
}

func TestGatewayPlans(t *testing.T) {
	type score struct{ agree, of int }
	families := map[string]*score{}
	var order []string
	total := score{}
	for _, c := range gatewayCases(t) {
		if families[c.family] == nil {
			families[c.family] = &score{}
			order = append(order, c.family)
		}
		got := gatewayShow(c.plan(t))
		agrees := got == c.want
		_, differs := gatewayDiffers[c.family+"/"+c.name]
		switch {
		case !agrees && !differs:
			t.Errorf("%s/%s\n%s\ngot:\n%swant:\n%s", c.family, c.name, c.query, got, c.want)
		case agrees && differs:
			t.Errorf("%s/%s agrees: take it off the list", c.family, c.name)
		}
		s := families[c.family]
		s.of++
		s.agree += gatewayBit(agrees)
		if c.family != "spatial" {
			total.of++
			total.agree += gatewayBit(agrees)
		}
	}
	for _, family := range order {
		s := families[family]
		t.Logf("%-14s %3d of %3d", family, s.agree, s.of)
	}
	share := float64(total.agree) / float64(total.of)
	t.Logf("outside spatial %d of %d agree: %.1f %%", total.agree, total.of, 100*share)
	if share < gatewayAgreement {
		t.Errorf("less than %.0f %% agree", 100*gatewayAgreement)
	}
	if total.of < 150 {
		t.Errorf("%d cases: tables are missing", total.of)
	}
}

func gatewayBit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// gatewayFilled are values with which clients replace placeholders.
var gatewayFilled = strings.NewReplacer("({filter})", "(true)", "{docs}", "10",
	"{words-0}", "100", "{hits-0}", "[1,2]", "{words-1}", "100", "{hits-1}", "[3]")

// The queries of a plan are valid queries in the form in which queries are printed.
func TestGatewayRewrittenQueriesParse(t *testing.T) {
	for _, c := range gatewayCases(t) {
		p, err := c.plan(t)
		if err != nil {
			continue
		}
		for _, text := range gatewayTexts(p) {
			filled := gatewayFilled.Replace(gatewayShort.Replace(text))
			q, err := syntax.Parse(filled)
			if err != nil {
				t.Errorf("%s/%s: %v\n%s", c.family, c.name, err, filled)
				continue
			}
			if _, known := function.Lookup("_VectorScore"); !known && strings.Contains(filled, "_VectorScore") {
				continue // nothing computes it yet
			}
			if err := gatewayChecked(q, c.environment(t)); err != nil {
				t.Errorf("%s/%s: %v\n%s", c.family, c.name, err, filled)
			}
		}
	}
}

// gatewayTexts are the queries of a plan.
func gatewayTexts(p *GatewayPlan) (texts []string) {
	if p.Hybrid == nil {
		return slices.DeleteFunc([]string{p.Query.Rewritten}, func(s string) bool { return s == "" })
	}
	texts = append(texts, p.Hybrid.GlobalStatisticsQuery)
	for _, c := range p.Hybrid.Components {
		texts = append(texts, c.Rewritten)
	}
	return texts
}

// gatewayChecked is Build, with indexes for every order.
func gatewayChecked(q *syntax.Query, env GatewayEnvironment) error {
	schema := access.Schema{Partition: env.Partition, Indexed: func(access.Path) bool { return true }}
	var columns []access.Column
	for _, key := range q.OrderBy {
		if m, ok := key.Expr.(*syntax.Member); ok {
			columns = append(columns, access.Column{Path: access.Path{{Name: m.Name}}, Descending: key.Descending})
		}
	}
	schema.Composite = [][]access.Column{columns}
	_, err := Build(q, Environment{Schema: schema, Constant: env.Constant})
	return err
}

func gatewayPlanOf(t *testing.T, text string, change func(*GatewayEnvironment)) (*GatewayPlan, error) {
	t.Helper()
	q, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	env := GatewayEnvironment{
		Constant: gatewayConstant(nil), EPK: gatewayEPK(2, false),
		Partition: []access.Path{{{Name: "pk"}}},
	}
	if change != nil {
		change(&env)
	}
	return Gateway(q, env)
}

func TestGatewayJSON(t *testing.T) {
	for _, c := range []struct{ name, query, want string }{
		{"nothing to merge", "SELECT * FROM c",
			`{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"offset":null,"limit":null,` +
				`"orderBy":[],"orderByExpressions":[],"groupByExpressions":[],"groupByAliases":[],"aggregates":[],` +
				`"groupByAliasToAggregateType":{},"rewrittenQuery":"","hasSelectValue":false,"dCountInfo":null,"hasNonStreamingOrderBy":false},` +
				`"queryRanges":[{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}],"hybridSearchQueryInfo":null}`},
		{"group and filter", `SELECT c.a, COUNT(1) FROM c WHERE c.pk IN ("redmond", 1) GROUP BY c.a OFFSET 1 LIMIT 2`,
			`{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"offset":1,"limit":2,` +
				`"orderBy":[],"orderByExpressions":[],"groupByExpressions":["c.a"],"groupByAliases":["a","$1"],"aggregates":[],` +
				`"groupByAliasToAggregateType":{"a":null,"$1":"Count"},"rewrittenQuery":"SELECT [{\"item\": c.a}] AS ` +
				`groupByItems, {\"a\": c.a, \"$1\": {\"item\": COUNT(1)}} AS payload\nFROM c\nWHERE (c.pk IN ` +
				`(\"redmond\", 1))\nGROUP BY c.a",` +
				`"hasSelectValue":false,"dCountInfo":null,"hasNonStreamingOrderBy":false},"queryRanges":[` +
				`{"min":"20CD98B339BA78A5D0CF6953B87070B0","max":"20CD98B339BA78A5D0CF6953B87070B0","isMinInclusive":true,"isMaxInclusive":true},` +
				`{"min":"22E342F38A486A088463DFF7838A5963","max":"22E342F38A486A088463DFF7838A5963","isMinInclusive":true,"isMaxInclusive":true}],` +
				`"hybridSearchQueryInfo":null}`},
		{"rank", `SELECT TOP 10 c.id FROM c ORDER BY RANK RRF(VectorDistance(c.a, [1]), VectorDistance(c.b, [2]), [2,` +
			` 0.5])`,
			`{"partitionedQueryExecutionInfoVersion":2,"queryInfo":null,"queryRanges":[{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}],` +
				`"hybridSearchQueryInfo":{"globalStatisticsQuery":"SELECT COUNT(1) AS documentCount,` +
				` [] AS fullTextStatistics\nFROM c","componentQueryInfos":[` +
				gatewayComponentJSON("a", 1) + `,` + gatewayComponentJSON("b",
				2) + `],"componentWithoutPayloadQueryInfos":[],"projectionQueryInfo":null,` +
				`"componentWeights":[2,0.5],"skip":null,"take":10,"requiresGlobalStatistics":false}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := gatewayPlanOf(t, c.query, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(p.AppendJSON(nil)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func gatewayComponentJSON(member string, n int) string {
	score := fmt.Sprintf("_VectorScore(c.%s, [%d])", member, n)
	return `{"distinctType":"None","top":120,"offset":null,"limit":null,"orderBy":["Descending"],"orderByExpressions":["` + score + `"],` +
		`"groupByExpressions":[],"groupByAliases":[],"aggregates":[],"groupByAliasToAggregateType":{},"rewrittenQuery":"SELECT TOP 120 c._rid, ` +
		`[{\"item\": ` + score + `}] AS orderByItems, {\"payload\": {\"id\": c.id},` +
		` \"componentScores\": [(_VectorScore(c.a, [1]) ?? -1.79769e+308), ` +
		`(_VectorScore(c.b,` +
		` [2]) ?? -1.79769e+308)]} AS payload\nFROM c\nWHERE ({documentdb-formattableorderbyquery-filter})\nORDER BY ` +
		score +
		`","hasSelectValue":false,"dCountInfo":null,"hasNonStreamingOrderBy":true}`
}

// Cases that are not in the service's tables.
func TestGatewayChoices(t *testing.T) {
	hierarchical := func(env *GatewayEnvironment) {
		env.Partition, env.Hierarchical = []access.Path{{{Name: "a"}}, {{Name: "b"}}}, true
		env.EPK = gatewayEPK(2, true)
	}
	counting := func(env *GatewayEnvironment) { env.Supported = featureDCount }
	one := func(env *GatewayEnvironment) { env.OnePartition = true }
	epkX := gatewayEPK(2, false)([]doc.Value{doc.String("x")})
	for _, c := range []struct {
		name, query string
		change      func(*GatewayEnvironment)
		want        string
	}{
		{"prefix of a hierarchical key", "SELECT * FROM c WHERE c.a = 'x'", hierarchical,
			"ranges " + epkX + ".." + epkX + "FF\n"},
		{"second part alone", "SELECT * FROM c WHERE c.b = 'x'", hierarchical, ""},
		{"whole hierarchical key", "SELECT * FROM c WHERE c.b = 'x' AND 'x' = c.a", hierarchical,
			"ranges " + epkX + epkX + "\n"},
		{"prefix and a key inside", "SELECT * FROM c WHERE c.a = 'x' OR (c.a = 'x' AND c.b = 'x')", hierarchical,
			"ranges " + epkX + ".." + epkX + "FF\n"},
		{"key in brackets", `SELECT * FROM c WHERE c["pk"] = 'x'`, nil, "ranges " + epkX + "\n"},
		{"key of a path in FROM", `SELECT * FROM c.pk WHERE pk = 'x'`, nil, "ranges " + epkX + "\n"},
		{"elements", `SELECT * FROM pk IN c.pk WHERE pk = 'x'`, nil, ""},
		{"not equal", "SELECT * FROM c WHERE c.pk != 'x'", nil, ""},
		{"not equal, denied", "SELECT * FROM c WHERE NOT (c.pk != 'x' OR c.pk != 'x')", nil, ""},
		{"NOT of OR", "SELECT * FROM c WHERE NOT (c.pk OR c.q)", nil, "ranges " + gatewayEPK(2,
			false)([]doc.Value{doc.Bool(false)}) + "\n"},
		{"negative ABS", "SELECT * FROM c WHERE ABS(c.pk) = -1", nil, ""},
		{"ABS of 0", "SELECT * FROM c WHERE ABS(c.pk) = 0", nil, "ranges " + gatewayEPK(2,
			false)([]doc.Value{doc.Int(0)}) + "\n"},
		{"undefined", "SELECT * FROM c WHERE c.pk = undefined", nil, "ranges none\n"},
		{"distinct rows counted by the client", "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.a FROM c)", counting,
			"value\ndistinct Unordered\ndcount \"\"\n> SELECT DISTINCT c.a\n> FROM c\n"},
		{"distinct values counted by the client", "SELECT COUNT(v) AS n FROM (SELECT DISTINCT VALUE c.a FROM c) AS v",
			counting,
			"distinct Unordered\ndcount \"n\"\n> SELECT DISTINCT VALUE c.a\n> FROM c\n"},
		{"a member of distinct rows counted", "SELECT VALUE COUNT(v.a) FROM (SELECT DISTINCT c.a FROM c) AS v",
			counting,
			"value\naggregates Count\n> SELECT VALUE [{\"item\": COUNT(v.a)}]\n> FROM (SELECT DISTINCT c.a\n> FROM c) " +
				"AS v\n"},
		{"distinct rows, a client that cannot count", "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.a FROM c)", nil,
			"value\naggregates Count\n> SELECT VALUE [{\"item\": COUNT(1)}]\n> FROM (SELECT DISTINCT c.a\n> FROM c)\n"},
		{"one partition, order and limit", "SELECT * FROM c ORDER BY c.a OFFSET 1 LIMIT 2", one, ""},
		{"one partition, composition", "SELECT VALUE MAX(c.a) - MIN(c.a) FROM c", one, "value\n"},
		{"order, offset and limit", "SELECT * FROM c ORDER BY c.a DESC OFFSET 3 LIMIT 4", nil,
			"offset 3\nlimit 4\norder Descending c.a\n> SELECT c._rid, [{\"item\": c.a}] AS orderByItems, c AS " +
				"payload\n> FROM c\n" +
				"> WHERE ({filter})\n> ORDER BY c.a DESC\n> OFFSET 0 LIMIT 7\n"},
		{"distinct and order by another member", "SELECT DISTINCT TOP 3 VALUE c.a FROM c ORDER BY c.b", nil,
			"value\ndistinct Unordered\ntop 3\norder Ascending c.b\n> SELECT DISTINCT c._rid, [{\"item\": c.b}] AS " +
				"orderByItems, c.a AS payload\n" +
				"> FROM c\n> WHERE (({filter}) AND IS_DEFINED(c.a))\n> ORDER BY c.b\n"},
		{"rank of euclidean vectors with an offset", "SELECT VALUE c.id FROM c WHERE c.x > 1 ORDER BY RANK " +
			"VectorDistance(c.v, [1], true, {'distanceFunction': 'Euclidean'}) OFFSET 1 LIMIT 99", nil,
			"hybrid skip=1 take=99\nglobal SELECT COUNT(1) AS documentCount, [] AS fullTextStatistics\nglobal FROM " +
				"c\ncomponent offset=0 limit=200\n" +
				"order Ascending _VectorScore(c.v, [1], true, {\"distanceFunction\": \"Euclidean\"})\n" +
				"> SELECT c._rid, [{\"item\": _VectorScore(c.v, [1], true, {\"distanceFunction\": \"Euclidean\"})}] " +
				"AS orderByItems, " +
				"{\"payload\": c.id, \"componentScores\": [(_VectorScore(c.v, [1], true, {\"distanceFunction\": " +
				"\"Euclidean\"}) ?? 1.79769e+308)]} AS payload\n" +
				"> FROM c\n> WHERE ((c.x > 1) AND ({filter}))\n> ORDER BY _VectorScore(c.v, [1], true, " +
				"{\"distanceFunction\": \"Euclidean\"})\n> OFFSET 0 LIMIT 200\n"},
		{"rank by nothing known", "SELECT * FROM c ORDER BY RANK RRF(c.a, c.b)", nil,
			"error ORDER BY RANK needs FULLTEXTSCORE, VECTORDISTANCE or an RRF of these.\n"},
		{"fewer weights than scores",
			"SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.a, 'x'), FullTextScore(c.b, 'x'), [1])", nil,
			"error RRF needs as many weights as scores.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gatewayShow(gatewayPlanOf(t, c.query, c.change)); got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

func TestGatewayManyKeys(t *testing.T) {
	list := "0"
	for i := 1; i < maxGatewayKeys; i++ {
		list += "," + strconv.Itoa(i)
	}
	for _, c := range []struct {
		name, filter string
		ranges       int
	}{
		{"as many as the service allows", "c.pk IN (" + list + ")", maxGatewayKeys},
		{"one more", "c.pk IN (" + list + ",-1)", 1},
		{"two lists", "c.pk IN (" + list + ") AND c.pk IN (" + list + ")", maxGatewayKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := gatewayPlanOf(t, "SELECT * FROM c WHERE "+c.filter, nil)
			if err != nil || len(p.Ranges) != c.ranges {
				t.Fatalf("%d ranges, %v; want %d", len(p.Ranges), err, c.ranges)
			}
		})
	}
}

func TestServedByGateway(t *testing.T) {
	for query, want := range map[string]Unserved{
		"SELECT * FROM c": Served,
		"SELECT VALUE UPPER(c.a) FROM c WHERE c.a IN (1, 2) AND c.b LIKE 'x%'":                        Served,
		"SELECT c.id, ARRAY(SELECT VALUE t FROM t IN c.tags ORDER BY t) AS t FROM c JOIN t IN c.tags": Served,
		"SELECT (SELECT VALUE COUNT(1) FROM t IN c.tags) AS n FROM c":                                 Served,
		"SELECT * FROM c ORDER BY c.a":                                                                NeedsClient,
		"SELECT TOP 1 * FROM c":                                                                       NeedsClient,
		"SELECT * FROM c OFFSET 1 LIMIT 1":                                                            NeedsClient,
		"SELECT DISTINCT c.a FROM c":                                                                  NeedsClient,
		"SELECT VALUE COUNT(1) FROM c":                                                                NeedsClient,
		"SELECT * FROM c ORDER BY RANK FullTextScore(c.a, 'x')":                                       NeedsClient,
		"SELECT COUNT(1) FROM c":                                                                      NeedsValue,
		"SELECT COUNT(1) AS n, MAX(c.a) AS m FROM c":                                                  NeedsValue,
		"SELECT VALUE COUNT(1) + 1 FROM c":                                                            NeedsValue,
		"SELECT c.a FROM c GROUP BY c.a":                                                              NeedsValue,
		"SELECT VALUE COUNT(1) FROM c GROUP BY c.a":                                                   NeedsValue,
		"SELECT 5": Served,
	} {
		q, err := syntax.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := ServedByGateway(q); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	if Served.Message() != "" || NeedsClient.Message() == "" || NeedsValue.Message() == "" {
		t.Error("messages")
	}
}

func TestFeatures(t *testing.T) {
	const all = "Aggregate, CompositeAggregate, Distinct, GroupBy, MultipleAggregates, MultipleOrderBy, " +
		"OffsetAndLimit, OrderBy, Top, " +
		"NonValueAggregate, DCount, NonStreamingOrderBy, ListAndSetAggregate, CountIf, HybridSearch, " +
		"WeightedRankFusion, SomethingNew"
	for _, c := range []struct {
		query string
		needs string // what is missing when the client can do nothing
	}{
		{"SELECT * FROM c", ""},
		{"SELECT * FROM c ORDER BY c.a", "OrderBy"},
		{"SELECT TOP 1 * FROM c ORDER BY c.a, c.b", "MultipleOrderBy Top"},
		{"SELECT DISTINCT c.a FROM c OFFSET 1 LIMIT 1", "Distinct OffsetAndLimit"},
		{"SELECT VALUE COUNT(1) FROM c", "Aggregate"},
		{"SELECT COUNT(1) FROM c", "NonValueAggregate"},
		{"SELECT c.a, COUNT(1), MAKELIST(c.b) FROM c GROUP BY c.a",
			"GroupBy MultipleAggregates NonValueAggregate ListAndSetAggregate"},
		{"SELECT VALUE COUNTIF(c.a) FROM c", "Aggregate CountIf"},
		{"SELECT TOP 1 * FROM c ORDER BY VectorDistance(c.v, [1])", "OrderBy Top NonStreamingOrderBy"},
		{"SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.a, 'x')", "HybridSearch"},
		{"SELECT TOP 1 * FROM c ORDER BY RANK RRF(FullTextScore(c.a, 'x'), FullTextScore(c.b, 'x'), [2, 1])",
			"HybridSearch WeightedRankFusion"},
	} {
		p, err := gatewayPlanOf(t, c.query, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		if err := ParseFeatures(all).Check(p); err != nil {
			t.Errorf("%s: %v", c.query, err)
		}
		want := ""
		if c.needs != "" {
			want = "Query contains 1 or more unsupported features. Upgrade your SDK to a version that does support " +
				"the requested features:"
			for name := range strings.FieldsSeq(c.needs) {
				want += "\r\nQuery contained " + name + ", which the calling client does not support."
			}
		}
		got := ""
		if err := ParseFeatures("None").Check(p); err != nil {
			got = err.Error()
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", c.query, fault.KindOf(err))
			}
		}
		if got != want {
			t.Errorf("%s\ngot  %q\nwant %q", c.query, got, want)
		}
	}
}

// Every plan has valid JSON and queries that can be parsed.
func FuzzGateway(f *testing.F) {
	for _, query := range []string{
		"SELECT TOP 3 c.a, MAX(c.b) FROM c WHERE c.pk IN (1, 'x') OR NOT c.pk GROUP BY c.a",
		"SELECT DISTINCT VALUE c.a FROM c JOIN t IN c.t WHERE ABS(c.pk) = 1 ORDER BY c.a DESC OFFSET 1 LIMIT 2",
		"SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.a FROM c)",
		"SELECT TOP 3 * FROM c ORDER BY RANK RRF(FullTextScore(c.a, ['x']), VectorDistance(c.v, [1]), [1, -1])",
		"SELECT * FROM c WHERE c.x = (SELECT VALUE 1 FROM c WHERE c.pk = 1)",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		q, err := syntax.Parse(query)
		if err != nil {
			return
		}
		env := GatewayEnvironment{
			Constant: gatewayConstant(nil), EPK: gatewayEPK(2, false),
			Partition: []access.Path{{{Name: "pk"}}}, Supported: featureDCount,
		}
		if gatewayChecked(q, env) != nil {
			return
		}
		p, err := Gateway(q, env)
		if err != nil {
			return
		}
		if _, err := doc.FromJSON(nil, p.AppendJSON(nil), doc.ParseOptions{}); err != nil {
			t.Errorf("JSON: %v", err)
		}
		for _, text := range gatewayTexts(p) {
			filled := gatewayFilled.Replace(gatewayShort.Replace(text))
			if _, err := syntax.Parse(filled); err != nil {
				t.Errorf("%v\n%s", err, filled)
			}
		}
	})
}
