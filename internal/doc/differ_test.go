package doc

import (
	"fmt"
	"strings"
	"testing"
)

func TestDifferences(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{}`, `{}`, ""},
		{`{"a":1,"b":{"c":[1]}}`, `{"a":1,"b":{"c":[1]}}`, ""},
		{`{"a":1,"b":2,"c":3}`, `{"a":1,"b":4,"c":3}`, "b 2 4"},
		{`{"a":1}`, `{"a":1.0}`, "a 1 1"},
		{`{"a":1}`, `{"a":"1"}`, `a 1 "1"`},
		{`{"a":{"b":1}}`, `{"a":{"b":2}}`, `a {"b":1} {"b":2}`},
		{`{"a":1}`, `{"a":1,"b":2}`, "b - 2"},
		{`{"a":1,"b":2}`, `{"a":1}`, "b 2 -"},
		{`{"a":1,"c":3}`, `{"a":1,"b":2,"c":3}`, "c 3 -, b - 2, c - 3"},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, "a 1 -, b 2 -, b - 2, a - 1"},
		{`{"a":1,"ab":2}`, `{"ab":1,"a":2}`, "a 1 -, ab 2 -, ab - 1, a - 2"},
		{`{}`, `{"a":1}`, "a - 1"},
		{`{"a":"x"}`, `{"a":"xy"}`, `a "x" "xy"`},
	} {
		var sides [2]Doc
		for i, text := range []string{c.before, c.after} {
			var err error
			if sides[i], err = FromJSON(nil, []byte(text), ParseOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		show := func(v Value) string {
			if v.Type == 0 {
				return "-"
			}
			return string(AppendJSONValue(nil, v))
		}
		Differences(sides[0], sides[1], func(name string, old, fresh Value) {
			got = append(got, fmt.Sprint(name, " ", show(old), " ", show(fresh)))
		})
		if found := strings.Join(got, ", "); found != c.want {
			t.Errorf("%s, %s: %s, want %s", c.before, c.after, found, c.want)
		}
	}
}

// TestDifferencesOfDamagedDocuments: bytes that are not BSON end the walk.
func TestDifferencesOfDamagedDocuments(t *testing.T) {
	whole, err := FromJSON(nil, []byte(`{"a":1,"b":"text"}`), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		damaged := append(Doc(nil), whole[:n]...)
		if n > 0 {
			damaged[0] = byte(n)
		}
		Differences(whole, damaged, func(string, Value, Value) {})
		Differences(damaged, whole, func(string, Value, Value) {})
		Differences(damaged, damaged, func(string, Value, Value) {})
	}
}
