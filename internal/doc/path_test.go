package doc

import (
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	cases := []struct {
		in, out string
		plain   bool
	}{
		{`/a`, `/a`, true},
		{`/a/b_1`, `/a/b_1`, true},
		{`/a-b`, `/"a-b"`, true},
		{`/"a b"/c`, `/"a b"/c`, true},
		{`/'it''`, ``, false},
		{`/'a"b'`, `/"a\"b"`, true},
		{`/"a\"b\\c\u0041"`, `/"a\"b\\cA"`, true},
		{`/'a\'b'`, `/"a'b"`, true},
		{`/"a/b"/c`, `/"a/b"/c`, true},
		{`/"_etag"/?`, `/_etag/?`, false},
		{`/""`, `/""`, true},
		{`/*`, `/*`, false},
		{`/a/?`, `/a/?`, false},
		{`/a/[]/b/*`, `/a/[]/b/*`, false},
		{`/"*"/"?"/"[]"`, `/"*"/"?"/"[]"`, true},
		{`/é`, `/"é"`, true},
	}
	for _, c := range cases {
		t.Run(c.in, func(t *testing.T) {
			p, err := ParsePath(c.in)
			if c.out == "" {
				if err == nil {
					t.Fatalf("got %v", p)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.String() != c.out || p.Plain() != c.plain {
				t.Errorf("got %s, plain %v", p, p.Plain())
			}
		})
	}
}

func TestRefusedPaths(t *testing.T) {
	for name, in := range map[string]string{
		"empty":             "",
		"slash":             "/",
		"no slash":          "a",
		"two slashes":       "/a//b",
		"trailing slash":    "/a/",
		"open quote":        `/"a`,
		"open by escape":    `/"a\"`,
		"behind a quote":    `/"a"b`,
		"quote inside":      `/a"b"`,
		"unknown escape":    `/"a\x"`,
		"NUL":               "/a\x00",
		"NUL in quotes":     `/"a\u0000"`,
		"raw NUL in quotes": "/\"a\x00\"",
		"invalid UTF-8":     "/\xff",
		"behind scalar":     "/?/a",
		"behind below":      "/a/*/?",
		"too long":          "/" + strings.Repeat("a", MaxPathBytes),
		"too many":          strings.Repeat("/a", MaxDepth+1),
	} {
		t.Run(name, func(t *testing.T) {
			if p, err := ParsePath(in); err == nil {
				t.Errorf("got %v", p)
			}
		})
	}
	for _, in := range []string{"/" + strings.Repeat("a", MaxPathBytes-1), strings.Repeat("/a", MaxDepth)} {
		if _, err := ParsePath(in); err != nil {
			t.Error(err)
		}
	}
}

func TestPathLookup(t *testing.T) {
	d := mustDoc(t, `{"a":{"b":{"c":1}},"n":null,"l":[{"x":1}],"a-b":2}`)
	for in, want := range map[string]string{
		"/a/b/c":   `1`,
		"/a/b":     `{"c":1}`,
		"/a/x":     ``,
		"/a/b/c/d": ``,
		"/n":       `null`,
		"/n/x":     ``,
		"/l/0":     ``,
		"/l/[]/x":  ``,
		`/"a-b"`:   `2`,
		"/*":       ``,
	} {
		p, err := ParsePath(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Lookup(d); !Equal(got, mustValue(t, want)) {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	p := Path{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	if n := testing.AllocsPerRun(100, func() { p.Lookup(d) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPointers(t *testing.T) {
	cases := []struct {
		in   string
		want Pointer
	}{
		{"/a", Pointer{"a"}},
		{"/a/b~1c/0", Pointer{"a", "b/c", "0"}},
		{"/~01/-", Pointer{"~1", "-"}},
		{"/", Pointer{""}},
		{"/a//b", Pointer{"a", "", "b"}},
		{"", nil},
		{"a", nil},
		{"/a~", nil},
		{"/~2", nil},
		{"/\x00", nil},
		{"/\xff", nil},
		{"/" + strings.Repeat("a", MaxPointerBytes), nil},
		{strings.Repeat("/", MaxDepth+1), nil},
	}
	for _, c := range cases {
		t.Run(c.in[:min(20, len(c.in))], func(t *testing.T) {
			p, err := ParsePointer(c.in)
			if strings.Join(p, "|") != strings.Join(c.want, "|") || (err == nil) != (c.want != nil) {
				t.Fatalf("got %q, %v", p, err)
			}
			if err == nil && p.String() != c.in {
				t.Errorf("prints as %s", p)
			}
		})
	}
}
