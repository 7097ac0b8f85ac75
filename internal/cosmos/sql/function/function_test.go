package function

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
)

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		switch {
		case f.Name == "" || f.Name != strings.ToUpper(f.Name):
			t.Errorf("%q is no name in capitals", f.Name)
		case seen[f.Name]:
			t.Errorf("%s is there twice", f.Name)
		case f.Family == "":
			t.Errorf("%s has no family", f.Name)
		case f.Min < 0 || f.Max >= 0 && f.Max < f.Min:
			t.Errorf("%s takes from %d to %d arguments", f.Name, f.Min, f.Max)
		case f.Run == nil:
			t.Errorf("%s does nothing", f.Name)
		}
		seen[f.Name] = true
		if got, ok := Lookup(strings.ToLower(f.Name)); !ok || got != f {
			t.Errorf("%s is not found in small letters", f.Name)
		}
	}
}

// sample are values of every type, including some that functions look for.
var sample = []string{
	`undefined`, `null`, `true`, `false`, `0`, `1`, `-1`, `2`, `3.5`, `1e300`, `-1e300`, `9223372036854775807`,
	`-9223372036854775808`,
	`18446744073709551615`, `NaN`, `Infinity`, `""`, `"a"`, `"aba"`, `"😀é\u0000"`, `"(a+)*"`, `"i"`, `"$1"`, `" 12 "`,
	`"[1,{}]"`,
	`"2024-01-31T12:00:00.1234567Z"`, `"day"`, `"The running bicycles"`, `[]`, `[1,2,3]`, `["a","b",1]`,
	`[[1],{"a":1}]`, `[0.1,0.2]`, `{}`, `{"a":1}`,
	`{"term":"a","distance":2}`, `{"_rid":"36ZyAPW+uN8NAAAAAAAAAA=="}`, `{"type":"Point","coordinates":[1,2]}`,
	`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}`,
}

// checkCall runs f on random arguments. It must not panic, and its result must be valid BSON.
func checkCall(t *testing.T, f *Function, values []doc.Value, random *rand.Rand) {
	t.Helper()
	most := f.Max
	if most < 0 {
		most = f.Min + 3
	}
	c := &Call{Now: time.Unix(1700000000, 0)}
	for range 3 {
		args := make([]doc.Value, f.Min+random.IntN(most-f.Min+1))
		for i := range args {
			args[i] = values[random.IntN(len(values))]
		}
		v := f.Run(c, args)
		if doc.IsUndefined(v) {
			continue
		}
		if err := v.Validate(); err != nil {
			t.Errorf("%s of %v: %v", f.Name, args, err)
		}
	}
}

func TestEveryFunctionTakesEverything(t *testing.T) {
	var values []doc.Value
	for _, text := range sample {
		values = append(values, argument(t, text))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		for _, f := range All() {
			checkCall(t, f, values, random)
		}
	}
}

func FuzzFunctions(f *testing.F) {
	for i, text := range sample {
		f.Add(uint64(i), text, `"abc"`, `[1,"a"]`)
	}
	f.Fuzz(func(t *testing.T, seed uint64, a, b, c string) {
		var values []doc.Value
		for _, text := range []string{a, b, c, `undefined`, `1`} {
			if text == "undefined" {
				values = append(values, doc.Value{})
			} else if v, err := doc.ValueFromJSON([]byte(text)); err == nil {
				values = append(values, v)
			}
			values = append(values, doc.String(strings.ToValidUTF8(text, "?")))
		}
		random := rand.New(rand.NewPCG(seed, 0))
		for _, f := range All() {
			checkCall(t, f, values, random)
		}
	})
}
