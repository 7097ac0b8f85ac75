package function

import (
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

func BenchmarkCalls(b *testing.B) {
	text := `"` + strings.Repeat("the quick brown fox jumps over the lazy dog ", 10) + `Adventure Works"`
	for _, c := range []struct{ name, call, args string }{
		{"contains", "CONTAINS", text + `, "Adventure"`},
		{"contains without case", "CONTAINS", text + `, "adventure", true`},
		{"contains without case, not ASCII", "CONTAINS", text + `, "ädventure", true`},
		{"starts with", "STARTSWITH", text + `, "the quick"`},
		{"starts with without case", "STARTSWITH", text + `, "THE QUICK", true`},
		{"ends with without case", "ENDSWITH", text + `, "WORKS", true`},
		{"equal without case", "STRINGEQUALS", text + `, ` + strings.ToUpper(text) + `, true`},
		{"length", "LENGTH", text},
		{"lower", "LOWER", text},
		{"left", "LEFT", text + `, 10`},
		{"index of", "INDEX_OF", text + `, "Works"`},
		{"concat", "CONCAT", `"Adventure", "Works"`},
		{"replace", "REPLACE", text + `, "fox", "cat"`},
		{"split", "STRINGSPLIT", text + `, " "`},
		{"regex", "REGEXMATCH", text + `, "W[a-z]+s$"`},
		{"is defined", "IS_DEFINED", `1`},
		{"is string", "IS_STRING", `"a"`},
		{"array contains string", "ARRAY_CONTAINS", `["red","green","blue","black","white"], "white"`},
		{"array contains number", "ARRAY_CONTAINS", `[1,2,3,4,5], 5`},
		{"array contains part", "ARRAY_CONTAINS", `[{"n":1,"x":2},{"n":2,"x":3}], {"n":2}, true`},
		{"array length", "ARRAY_LENGTH", `[1,2,3,4,5]`},
		{"set intersection", "SETINTERSECT", `[1,2,3,4,5], [3,5,7,9]`},
		{"full text", "FULLTEXTCONTAINS", text + `, "adventure works"`},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, _ := Lookup(c.call)
			args, call := arguments(b, c.args), &Call{}
			b.ReportAllocs()
			for b.Loop() {
				f.Run(call, args)
			}
			if call.Err != nil {
				b.Fatal(call.Err)
			}
		})
	}
}

// Calls in filters must not allocate for each document.
func TestFiltersDoNotAllocate(t *testing.T) {
	for _, c := range []callCase{
		{name: "CONTAINS", args: `"AdventureWorks", "works"`}, {name: "CONTAINS",
			args: `"AdventureWorks", "works", true`},
		{name: "STARTSWITH", args: `"AdventureWorks", "adv", true`}, {name: "ENDSWITH",
			args: `"AdventureWorks", "WORKS", true`},
		{name: "STRINGEQUALS", args: `"AdventureWorks", "adventureworks", true`}, {name: "LENGTH",
			args: `"AdventureWorks"`},
		{name: "LOWER", args: `"AdventureWorks"`}, {name: "CONCAT", args: `"a", "b"`}, {name: "INDEX_OF",
			args: `"abc", "c"`},
		{name: "IS_DEFINED", args: `undefined`}, {name: "ARRAY_CONTAINS", args: `["a","b"], "b"`},
		{name: "ARRAY_CONTAINS", args: `[1,2], 2`},
		{name: "ARRAY_LENGTH", args: `[1,2]`}, {name: "FULLTEXTCONTAINS", args: `"running the bicycles", "bicycle"`},
		{name: "DOCUMENTID", args: `{"_rid": "36ZyAPW+uN8NAAAAAAAAAA=="}`},
	} {
		f, _ := Lookup(c.name)
		args, call := arguments(t, c.args), &Call{}
		var v doc.Value
		f.Run(call, args)
		if n := testing.AllocsPerRun(10, func() { v = f.Run(call, args) }); n != 0 {
			t.Errorf("%s(%s): %v allocations, result %v", c.name, c.args, n, v)
		}
	}
}
