package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// chained joins n copies of a part, in which # is replaced by its number, in groups that the grammar allows.
func chained(n int, part, with string) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%1500 == 0:
			b.WriteString(") " + with + " (")
		default:
			b.WriteString(" " + with + " ")
		}
		b.WriteString(strings.ReplaceAll(part, "#", fmt.Sprint(i)))
	}
	return b.String() + ")"
}

func several(n int, part string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(part, "#", fmt.Sprint(i))
	}
	return strings.Join(parts, ",")
}

func parsed(t testing.TB, text string) *syntax.Query {
	t.Helper()
	q, err := syntax.Parse(text)
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
	return q
}

// largeObject is an object with many members.
func largeObject(t testing.TB) doc.Value {
	t.Helper()
	v, err := doc.ValueFromJSON([]byte("{" + several(5000, `"m#":#`) + "}"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// planned builds a plan with an index on every path.
func planned(t testing.TB, text string) (*Plan, error) {
	t.Helper()
	return Build(parsed(t, text), Environment{
		Schema: access.Schema{Partition: []access.Path{{{Name: "pk"}}},
			Indexed: func(access.Path) bool { return true }},
		Constant: gatewayConstant(map[string]doc.Value{"@p": largeObject(t)}),
	})
}

// size counts the ranges of a set.
func size(s access.Set) (n int) {
	var list []access.Set
	switch s := s.(type) {
	case *access.Range:
		return 1
	case access.Intersection:
		list = s
	case access.Union:
		list = s
	}
	for _, s := range list {
		n += size(s)
	}
	return n
}

// setOf is the set that a plan follows, nil if it follows none.
func setOf(p *Plan) access.Set {
	if f, ok := p.Access.Of.(*access.Filter); ok {
		return f.Set
	}
	return nil
}

// The work of planning and the size of a plan do not grow beyond bounds with
// the text of a query.
func TestPlansOfLargeFilters(t *testing.T) {
	long := "c" + strings.Repeat(".a", 1900)
	for name, filter := range map[string]string{
		"AND":               chained(25_000, "c.a#=1", "AND"),
		"OR":                chained(25_000, "c.a#=1", "OR"),
		"OR in AND":         chained(12_000, "(c.a#=1 OR c.b#=2)", "AND"),
		"AND in OR":         chained(12_000, "(c.a#=1 AND c.b#=2)", "OR"),
		"IN":                "c.a IN (" + several(80_000, "#") + ")",
		"INs":               chained(120, "c.a# IN ("+several(1000, "#")+")", "AND"),
		"NOT":               "NOT " + chained(25_000, "c.a#<1", "OR"),
		"objects":           chained(12_000, "c.a#=@p", "AND"),
		"objects or others": chained(12_000, "c.a#=@p", "OR"),
		"long paths":        chained(130, long+"=#", "AND"),
		"lists":             chained(300, "ARRAY_CONTAINS(["+several(400, "#")+"], c.a#)", "AND"),
	} {
		t.Run(name, func(t *testing.T) {
			p, err := planned(t, "SELECT * FROM c WHERE "+filter)
			if err != nil {
				t.Fatal(err)
			}
			together, _ := setOf(p).(access.Intersection)
			if n := size(setOf(p)); n > maxReduced || len(together) > maxTogether {
				t.Errorf("%d ranges, %d of them together", n, len(together))
			}
			if p.Exact && name != "IN" {
				t.Error("exact")
			}
			told := p.Indexes
			if len(told.UsedSingle) > maxTold || len(told.WantedSingle) > maxTold || len(told.WantedComposite) > 0 {
				t.Errorf("%d used and %d wanted paths are told, %d wanted composite indexes", len(told.UsedSingle),
					len(told.WantedSingle), len(told.WantedComposite))
			}
		})
	}
}

// Group keys are found in a table, without comparing each with all.
func TestManyGroupKeys(t *testing.T) {
	long := "c" + strings.Repeat(".a", 700)
	for name, query := range map[string]string{
		"many": "SELECT " + several(20_000, "c.a#") + " FROM c GROUP BY " + several(20_000, "c.a#"),
		"long": "SELECT " + several(150, long+".b# AS b#") + " FROM c GROUP BY " + several(150, long+".b#"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := planned(t, query); err != nil {
				t.Error(err)
			}
			if _, err := planned(t, strings.Replace(query, " FROM", ", c.z FROM", 1)); err == nil {
				t.Error("no error of a property that is no key")
			}
		})
	}
}

// A plan repeats parts of the query up to a limit.
func TestGatewayPlanOfLargeQueries(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		want  fault.Kind
	}{
		"scores": {"SELECT * FROM c ORDER BY RANK RRF(" + several(2000, "FULLTEXTSCORE(c.t, 'a')") + ")",
			fault.Invalid},
		"terms": {"SELECT * FROM c ORDER BY RANK FULLTEXTSCORE(CONCAT(" + several(30_000,
			"c.a") + "), " + several(30_000, "'a'") + ")", fault.TooLarge},
		"long scores": {"SELECT * FROM c ORDER BY RANK RRF(" + several(32, "FULLTEXTSCORE(c.t, '"+
			strings.Repeat("a", 15_000)+"')") + ")", fault.TooLarge},
		"pairs of INs": {"SELECT * FROM c WHERE " + chained(300, "c.pk IN ("+several(300, "#")+")", "AND"), 0},
		"keys":         {"SELECT * FROM c WHERE " + chained(30_000, "c.pk = #", "OR"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Gateway(parsed(t, c.query), GatewayEnvironment{
				Constant: gatewayConstant(nil), EPK: gatewayEPK(2, false), Partition: []access.Path{{{Name: "pk"}}},
			})
			if err == nil && c.want != 0 || err != nil && fault.KindOf(err) != c.want {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// The expressions of computed properties replace their names as long as the query does not become too long.
func TestComputedPropertiesOfManyMentions(t *testing.T) {
	properties := map[string]*syntax.Query{"x": parsed(t, "SELECT VALUE CONCAT("+several(1000, "c.a")+") FROM c")}
	if q, err := WithComputed(parsed(t, "SELECT c.x FROM c"), properties); err != nil || len(syntax.Print(q)) < 4000 {
		t.Error(err)
	}
	if _, err := WithComputed(parsed(t, "SELECT * FROM c WHERE "+chained(10_000, "c.x = 'a'", "OR")),
		properties); fault.KindOf(err) != fault.TooLarge {
		t.Error(err)
	}
}
