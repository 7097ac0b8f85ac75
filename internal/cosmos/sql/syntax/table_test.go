package syntax

import (
	"strings"
	"testing"
)

// A table agrees with Equal.
func TestTable(t *testing.T) {
	var all []Expr
	for _, text := range []string{
		"c.a", `c["a"]`, "c.b", "c[0]", "c[1]", "c[@a]", "@a", "@b", "a", "1", "1.0", "1.5", "0", "-0.0", "-1", "'x'",
		"'y'", "''",
		"true", "false", "null", "undefined", "LOWER(c.a)", "lower(c.a)", "UPPER(c.a)", "udf.lower(c.a)",
		"udf.LOWER(c.a)", "LOWER(c.b)", "\u212AEY(1)", "key(1)",
		"c.a + 1", "c.a - 1", "1 + c.a", "-c.a", "NOT c.a", "c.a ? 1 : 2", "c.a ? 2 : 1", "c.a BETWEEN 1 AND 2",
		"c.a NOT BETWEEN 1 AND 2",
		"c.a IN (1, 2)", "c.a NOT IN (1, 2)", "c.a IN (2, 1)", "c.a LIKE 'x'", "c.a LIKE 'x' ESCAPE '!'", "[1, 2]",
		"[[1], 2]", "[1, [2]]",
		"{a: 1}", "{b: 1}", "{a: 1, b: 2}", "{b: 2, a: 1}", "(SELECT VALUE 1)", "EXISTS(SELECT VALUE 1)",
		"ARRAY(SELECT x FROM x IN c.a)",
		"ARRAY(SELECT x FROM x IN c.a WHERE x = 1)", "ARRAY(SELECT x AS y FROM x IN c.a)",
		"ARRAY(SELECT DISTINCT x FROM x IN c.a)",
	} {
		if q, err := Parse("SELECT VALUE " + text + " FROM c"); err == nil {
			all = append(all, q.Select.Value)
		}
	}
	for _, x := range all {
		table := NewTable([]Expr{x})
		for _, y := range all {
			if got, want := table.Has(y), Equal(x, y); got != want {
				t.Errorf("a table of %s has %s: %v, want %v", Print(x), Print(y), got, want)
			}
		}
	}
	table := NewTable(all)
	for _, x := range all {
		if !table.Has(ReplaceExpr(x, nil)) {
			t.Errorf("it lacks %s", Print(x))
		}
	}
	if table.Has(nil) || NewTable(nil).Has(all[0]) {
		t.Error("it has what it was not given")
	}
}

// Long paths that differ only at their beginning are distinguished without comparing each with all.
func TestTableOfLongPaths(t *testing.T) {
	long := strings.Repeat(".a", 1500)
	var keys []Expr
	for range 40 {
		keys = append(keys, expression(t, "d"+long))
	}
	table, x := NewTable(keys), expression(t, "c"+long)
	for e := x; ; {
		if table.Has(e) {
			t.Fatal("it has another path")
		}
		m, ok := e.(*Member)
		if !ok {
			return
		}
		e = m.Of
	}
}
