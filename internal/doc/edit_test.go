package doc

import (
	"strings"
	"testing"
)

// edit runs an operation as a patch names it; v is the other path for move.
func edit(d Doc, op, at, v string) (Doc, error) {
	p, err := ParsePointer(at)
	if err != nil {
		return nil, err
	}
	if op == "move" {
		from, err := ParsePointer(v)
		if err != nil {
			return nil, err
		}
		return Move(d, from, p)
	}
	if op == "remove" {
		return Remove(d, p)
	}
	value, err := ValueFromJSON([]byte(v))
	if err != nil {
		return nil, err
	}
	return map[string]func(Doc, Pointer, Value) (Doc, error){
		"add": Add, "set": Set, "replace": Replace, "incr": Increment,
	}[op](d, p, value)
}

const patched = `{"id":"1","n":5,"f":1.5,"s":"x","o":{"p":1,"q":{"r":2}},"a":[10,20,30],"l":[{"k":1},[7,8]],"e":[]}`

func TestEdits(t *testing.T) {
	cases := []struct{ op, at, v, from, to string }{
		{"add", "/new", `{"x":[1]}`, `"e":[]`, `"e":[],"new":{"x":[1]}`},
		{"add", "/n", `null`, `"n":5`, `"n":null`},
		{"add", "/o/new", `1`, `{"r":2}}`, `{"r":2},"new":1}`},
		{"add", "/o/q/r", `"two"`, `"r":2`, `"r":"two"`},
		{"add", "/a/0", `5`, `[10,`, `[5,10,`},
		{"add", "/a/1", `{"z":1}`, `[10,`, `[10,{"z":1},`},
		{"add", "/a/3", `40`, `30]`, `30,40]`},
		{"add", "/a/-", `40`, `30]`, `30,40]`},
		{"add", "/e/0", `1`, `"e":[]`, `"e":[1]`},
		{"add", "/e/-", `1`, `"e":[]`, `"e":[1]`},
		{"add", "/l/0/m", `2`, `{"k":1}`, `{"k":1,"m":2}`},
		{"add", "/l/1/1", `9`, `[7,8]`, `[7,9,8]`},
		{"add", "/a~1b", `1`, `"e":[]`, `"e":[],"a/b":1`},
		{"add", "/", `1`, `"e":[]`, `"e":[],"":1`},

		{"set", "/new", `1`, `"e":[]`, `"e":[],"new":1`},
		{"set", "/n", `"five"`, `"n":5`, `"n":"five"`},
		{"set", "/a/1", `{"z":1}`, `20`, `{"z":1}`},
		{"set", "/a/3", `40`, `30]`, `30,40]`},
		{"set", "/a/-", `40`, `30]`, `30,40]`},
		{"set", "/l/1/0", `[]`, `[7,8]`, `[[],8]`},

		{"replace", "/o/q", `3`, `{"r":2}`, `3`},
		{"replace", "/a/2", `"x"`, `30`, `"x"`},
		{"replace", "/a", `{}`, `[10,20,30]`, `{}`},

		{"remove", "/id", ``, `"id":"1",`, ``},
		{"remove", "/e", ``, `,"e":[]`, ``},
		{"remove", "/o/q/r", ``, `{"r":2}`, `{}`},
		{"remove", "/a/0", ``, `[10,`, `[`},
		{"remove", "/a/2", ``, `,30]`, `]`},
		{"remove", "/l/1/0", ``, `[7,8]`, `[8]`},

		{"incr", "/n", `3`, `"n":5`, `"n":8`},
		{"incr", "/n", `-8`, `"n":5`, `"n":-3`},
		{"incr", "/n", `0.5`, `"n":5`, `"n":5.5`},
		{"incr", "/f", `1`, `"f":1.5`, `"f":2.5`},
		{"incr", "/f", `0.5`, `"f":1.5`, `"f":2`},
		{"incr", "/a/1", `1`, `20`, `21`},
		{"incr", "/new", `7`, `"e":[]`, `"e":[],"new":7`},
		{"incr", "/o/new", `-7.5`, `{"r":2}}`, `{"r":2},"new":-7.5}`},
		{"incr", "/n", `9223372036854775807`, `"n":5`, `"n":9223372036854775812`},
		{"incr", "/n", `18446744073709551615`, `"n":5`, `"n":1.8446744073709552e+019`},
		{"incr", "/n", `-9223372036854775808`, `"n":5`, `"n":-9223372036854775803`},

		{"move", "/o/n", `/n`, `"n":5,"f":1.5,"s":"x","o":{"p":1,"q":{"r":2}}`,
			`"f":1.5,"s":"x","o":{"p":1,"q":{"r":2},"n":5}`},
		{"move", "/s", `/n`, `"n":5,"f":1.5,"s":"x"`, `"f":1.5,"s":5`},
		{"move", "/o", `/o/q`, `{"p":1,"q":{"r":2}}`, `{"r":2}`},
		{"move", "/a/0", `/a/2`, `[10,20,30]`, `[30,10,20]`},
		{"move", "/a/-", `/a/0`, `[10,20,30]`, `[20,30,10]`},
		{"move", "/n", `/n`, ``, ``},
		{"move", "/on", `/o`, `"o":{"p":1,"q":{"r":2}},"a":[10,20,30],"l":[{"k":1},[7,8]],"e":[]`,
			`"a":[10,20,30],"l":[{"k":1},[7,8]],"e":[],"on":{"p":1,"q":{"r":2}}`},
	}
	for _, c := range cases {
		t.Run(c.op+" "+c.at+" "+c.v, func(t *testing.T) {
			d := mustDoc(t, patched)
			got, err := edit(d, c.op, c.at, c.v)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(patched, c.from, c.to, 1)
			if text := string(AppendJSON(nil, got)); text != want {
				t.Errorf("got  %s\nwant %s", text, want)
			}
			if err := got.Validate(); err != nil {
				t.Error(err)
			}
			if again := mustDoc(t, want); !sameKeys(got, again) {
				t.Error("elements are not counted anew")
			}
			if text := string(AppendJSON(nil, d)); text != patched {
				t.Errorf("the old document became %s", text)
			}
		})
	}
}

// sameKeys compares names, those of elements included.
func sameKeys(a, b []byte) bool {
	a, b = body(a), body(b)
	for {
		m, more := next(a)
		n, other := next(b)
		if !more || !other {
			return more == other
		}
		if string(m.name) != string(n.name) || isContainer(m.kind) && !sameKeys(m.data, n.data) {
			return false
		}
		a, b = a[m.size:], b[n.size:]
	}
}

func TestRefusedEdits(t *testing.T) {
	const noPath = "Operation can only create a child object of an existing node(array or object) and cannot create " +
		"path recursively, no path found beyond: "
	cases := []struct{ op, at, v, message string }{
		{"add", "/none/x", `1`, "Add " + noPath + "'none'"},
		{"add", "/o/none/x/y", `1`, "Add " + noPath + "'none'"},
		{"add", "/s/x", `1`, "Add " + noPath + "'s'"},
		{"set", "/none/x", `1`, "Given " + noPath + "'none'"},
		{"replace", "/none/x", `1`, "Given " + noPath + "'none'"},
		{"incr", "/none/x", `1`, "Given " + noPath + "'none'"},
		{"add", "/a/4", `1`, "Index(4) to operate on is out of array bounds. The array has 3 elements."},
		{"set", "/a/4", `1`, "Index(4) to operate on is out of array bounds"},
		{"replace", "/a/3", `1`, "Index(3) to operate on is out of array bounds"},
		{"replace", "/a/-", `1`, "Index(-) to operate on is out of array bounds"},
		{"remove", "/a/3", ``, "Index(3) to operate on is out of array bounds"},
		{"add", "/l/2/x", `1`, "Index(2) to operate on is out of array bounds"},
		{"add", "/l/-/x", `1`, "Index(-) to operate on is out of array bounds"},
		{"add", "/a/x", `1`, "Index(x) to operate on is no index"},
		{"add", "/a/01", `1`, "Index(01) to operate on is no index"},
		{"add", "/a/-1", `1`, "Index(-1) to operate on is no index"},
		{"add", "/a/99999999999999999999", `1`, "Index(99999999999999999999) to operate on is no index"},
		{"replace", "/none", `1`, "Node(/none) to be replaced is absent."},
		{"remove", "/o/none", ``, "Node(/o/none) to be removed is absent."},
		{"incr", "/s", `1`, "Node(/s) is not a number."},
		{"incr", "/o", `1`, "Node(/o) is not a number."},
		{"incr", "/n", `"1"`, "The value to increment Node(/n) by is not a number."},
		{"incr", "/new", `null`, "The value to increment Node(/new) by is not a number."},
		{"move", "/x", `/none`, "Node(/none) to be moved is absent."},
		{"move", "/o/q/x", `/o`, "Node(/o) cannot be moved to Node(/o/q/x), inside of itself."},
		{"move", "/none/x", `/n`, "Add " + noPath + "'none'"},
		{"move", "/a/3", `/a/0`, "Index(3) to operate on is out of array bounds. The array has 2 elements."},
	}
	d := mustDoc(t, patched)
	for _, c := range cases {
		t.Run(c.op+" "+c.at, func(t *testing.T) {
			got, err := edit(d, c.op, c.at, c.v)
			if err == nil {
				t.Fatalf("got %s", AppendJSON(nil, got))
			}
			if !strings.HasPrefix(err.Error(), c.message) {
				t.Errorf("got  %s\nwant %s", err, c.message)
			}
		})
	}
}

func TestEditsKeepLimits(t *testing.T) {
	deep := With(nil, "x", Int(1))
	for range MaxDepth - 2 {
		deep = With(nil, "x", Object(deep))
	}
	d := mustDoc(t, patched)
	if d, err := Add(d, Pointer{"new"}, Object(deep)); err != nil {
		t.Error(err)
	} else {
		mustDoc(t, string(AppendJSON(nil, d)))
	}
	for name, f := range map[string]func() (Doc, error){
		"too deep":            func() (Doc, error) { return Add(d, Pointer{"o", "new"}, Object(deep)) },
		"NUL in a name":       func() (Doc, error) { return Add(d, Pointer{"a\x00b"}, Int(1)) },
		"NUL in a new number": func() (Doc, error) { return Increment(d, Pointer{"a\x00b"}, Int(1)) },
		"undefined":           func() (Doc, error) { return Set(d, Pointer{"a"}, Value{}) },
		"nowhere":             func() (Doc, error) { return Set(d, nil, Int(1)) },
		"infinity": func() (Doc, error) {
			return Increment(With(d, "n", Float(1.7e308)), Pointer{"n"}, Float(1.7e308))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := f(); err == nil {
				t.Errorf("got %s", AppendJSON(nil, got))
			}
		})
	}
}

func TestWith(t *testing.T) {
	d := mustDoc(t, `{"a":1,"b":{"c":2},"d":3}`)
	for _, c := range []struct {
		name string
		v    Value
		want string
	}{
		{"a", Null(), `{"a":null,"b":{"c":2},"d":3}`},
		{"b", String("longer than before"), `{"a":1,"b":"longer than before","d":3}`},
		{"c", Int(4), `{"a":1,"b":{"c":2},"d":3,"c":4}`},
	} {
		got := With(d, c.name, c.v)
		if text := string(AppendJSON(nil, got)); text != c.want || got.Validate() != nil {
			t.Errorf("With %s: got %s, want %s", c.name, text, c.want)
		}
	}
	if got := string(AppendJSON(nil, With(nil, "a", Int(1)))); got != `{"a":1}` {
		t.Errorf("from nothing: %s", got)
	}
}

func TestWithout(t *testing.T) {
	d := mustDoc(t, `{"a":1,"b":{"a":2},"c":3}`)
	for names, want := range map[string]string{
		"a":     `{"b":{"a":2},"c":3}`,
		"c,a":   `{"b":{"a":2}}`,
		"a,b,c": `{}`,
		"x":     `{"a":1,"b":{"a":2},"c":3}`,
	} {
		got := Without(d, strings.Split(names, ",")...)
		if text := string(AppendJSON(nil, got)); text != want || got.Validate() != nil {
			t.Errorf("Without %s: got %s, want %s", names, text, want)
		}
	}
}
