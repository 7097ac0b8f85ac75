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
		{`{"a":1,"b":2,"c":3,"d":4}`, `{"a":1,"c":3,"d":5}`, "b 2 -, d 4 5"},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, "a 1 -, a - 1"},
		{`{"a":1,"ab":2}`, `{"ab":1,"a":2}`, "a 1 -, ab 2 1, a - 2"},
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
		Differences(sides[0], sides[1], func(name string, old, fresh Value) bool {
			got = append(got, fmt.Sprint(name, " ", show(old), " ", show(fresh)))
			return true
		})
		if found := strings.Join(got, ", "); found != c.want {
			t.Errorf("%s, %s: %s, want %s", c.before, c.after, found, c.want)
		}
	}
}

func show(v Value) string {
	if v.Type == 0 {
		return "-"
	}
	return string(AppendJSONValue(nil, v))
}

func TestElementDifferences(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`[]`, `[]`, ""},
		{`[1,[2],{"a":3}]`, `[1,[2],{"a":3}]`, ""},
		{`[1,2,3]`, `[1,4,3]`, "1 2 4"},
		{`[1,2]`, `[1,2,3,4]`, "2 - 3, 3 - 4"},
		{`[1,2,3]`, `[1]`, "1 2 -, 2 3 -"},
		{`[1,2,3]`, `[2,3]`, "0 1 2, 1 2 3, 2 3 -"},
		{`[]`, `[null]`, "0 - null"},
		{`["a","b"]`, `["ab","b"]`, `0 "a" "ab"`},
	} {
		var sides [2]Value
		for i, text := range []string{c.before, c.after} {
			d, err := FromJSON(nil, []byte(`{"a":`+text+`}`), ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			sides[i] = Lookup(d, "a")
		}
		for _, most := range []int{1, 10} {
			var got []string
			ElementDifferences(sides[0], sides[1], func(i int, old, fresh Value) bool {
				got = append(got, fmt.Sprint(i, " ", show(old), " ", show(fresh)))
				return len(got) < most
			})
			want := c.want
			if most == 1 {
				want, _, _ = strings.Cut(want, ",")
			}
			if found := strings.Join(got, ", "); found != want {
				t.Errorf("%s, %s: %s, want %s", c.before, c.after, found, want)
			}
		}
	}
}

// TestDifferencesOfDamagedDocuments: bytes that are not BSON end the walk.
func TestDifferencesOfDamagedDocuments(t *testing.T) {
	whole, err := FromJSON(nil, []byte(`{"a":1,"b":"text"}`), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := func(string, Value, Value) bool { return true }
	for n := range len(whole) {
		damaged := append(Doc(nil), whole[:n]...)
		if n > 0 {
			damaged[0] = byte(n)
		}
		Differences(whole, damaged, all)
		Differences(damaged, whole, all)
		Differences(damaged, damaged, all)
		ElementDifferences(Array(whole), Array(damaged), func(int, Value, Value) bool { return true })
		ElementDifferences(Array(damaged), Array(whole), func(int, Value, Value) bool { return true })
	}
}
