package expression

import (
	"strings"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// run compiles and evaluates an expression for {s: text}.
func run(t testing.TB, given, text string) (doc.Value, error) {
	t.Helper()
	x, err := Compile(parse(t, given), nil)
	if err != nil {
		return doc.Value{}, err
	}
	s := &Scope{}
	s.Reset(doc.Object(withText(text)))
	return x.Evaluate(s)
}

func withText(text string) doc.Doc {
	body := doc.AppendElement([]byte{0, 0, 0, 0}, "s", doc.String(text))
	body = append(body, 0)
	n := len(body)
	body[0], body[1], body[2], body[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	return body
}

func TestMatchesComeToAnEnd(t *testing.T) {
	for _, c := range []struct{ name, given, text string }{
		{"time", `{"$regexMatch": {"input": "$s", "regex": "^(?=a)(a+)+$b"}}`, strings.Repeat("a", 40)},
		{"stack", `{"$regexFind": {"input": "$s", "regex": "^(?=a)(a|b)*c"}}`, strings.Repeat("a", 200_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v, err := run(t, c.given, c.text); !code.Is(err, 51156) {
				t.Errorf("%s, %v", code.Show(v), err)
			}
		})
	}
}

func TestLargeResultsAreRefused(t *testing.T) {
	long := strings.Repeat("a,", 6<<20)
	for _, c := range []struct {
		name, given string
		want        code.Code
	}{
		{"concat", `{"$concat": ["$s", "$s"]}`, code.BSONObjectTooLarge},
		{"split", `{"$split": ["$s", ","]}`, code.BSONObjectTooLarge},
		{"replaceAll", `{"$replaceAll": {"input": "$s", "find": "", "replacement": "$s"}}`, code.BSONObjectTooLarge},
		{"regexFindAll", `{"$regexFindAll": {"input": "$s", "regex": "a"}}`, 51151},
		{"captures", `{"$regexFindAll": {"input": "$s", "regex": "a` + strings.Repeat("(b)?", 500) + `"}}`, 51151},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := run(t, c.given, long); !code.Is(err, c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestStopEndsASearch stops a list of matches that need backtracking.
func TestStopEndsASearch(t *testing.T) {
	x, err := Compile(parse(t, `{"$regexFindAll": {"input": "$s", "regex": "a(?!b)"}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &Scope{Meter: &work.Meter{Stop: func() error {
		return code.New(code.MaxTimeMSExpired, "operation exceeded time limit")
	}}}
	s.Reset(doc.Object(withText("aaaa")))
	if _, err := x.Evaluate(s); !code.Is(err, code.MaxTimeMSExpired) {
		t.Error(err)
	}
}

// TestPatternsOfDocuments evaluates one expression for patterns that change, from several
// goroutines.
func TestPatternsOfDocuments(t *testing.T) {
	x, err := Compile(parse(t, `{"$regexMatch": {"input": "a1", "regex": "$s"}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s := &Scope{}
			for i := range 200 {
				pattern, want := `a\d`, true
				if i%3 == 0 {
					pattern, want = `(?!a)\d$x`, false
				}
				s.Reset(doc.Object(withText(pattern)))
				v, err := x.Evaluate(s)
				if got, _ := doc.AsBool(v); err != nil || got != want {
					t.Errorf("%s: %v, %v", pattern, got, err)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkRegexMatch(b *testing.B) {
	benchmark(b, `{"$regexMatch": {"input": "$s", "regex": "^may.*y$"}}`)
}

func BenchmarkConcat(b *testing.B) { benchmark(b, `{"$concat": ["$s", "-", "$s", "!"]}`) }

func BenchmarkToString(b *testing.B) {
	for _, given := range []string{`{"$toString": "$i"}`, `{"$toString": "$f"}`, `{"$toString": "$o"}`,
		`{"$toString": "$d"}`} {
		b.Run(given, func(b *testing.B) { benchmark(b, given) })
	}
}
