package pattern

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func compile(t testing.TB, text, options string) *Pattern {
	t.Helper()
	o, err := ParseOptions(options, "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(text, o)
	if err != nil {
		t.Fatalf("/%s/%s: %v", text, options, err)
	}
	return p
}

func TestPatternsThatTakeForEver(t *testing.T) {
	subject := strings.Repeat("a", 5000) + "!"
	linear := compile(t, `^(a+)+$`, "")
	for _, text := range []string{subject, subject + "\n"} {
		if ok, err := linear.Match(text, nil); ok || err != nil || linear.linear == nil {
			t.Error(ok, err, "not linear")
		}
	}
	slow := compile(t, `^(a|aa)+(?=b)`, "")
	if ok, err := slow.Match(subject, nil); ok || !errors.Is(err, ErrTime) && !errors.Is(err, ErrDepth) {
		t.Error(ok, err)
	}
}

func TestLargePatterns(t *testing.T) {
	for name, text := range map[string]string{
		"text": strings.Repeat("a", maxBytes+1), "classes": strings.Repeat(`[^\pL1]`, 4000),
		"class":              `(*UCP)[` + strings.Repeat(`\W`, 16000) + `]`,
		"folded class":       `(?i)[` + strings.Repeat("\x01-\U0010FFFF", 5000) + `]`,
		"repetitions":        strings.Repeat("(?:", 20) + "a" + strings.Repeat("){9}", 20),
		"repetitions of two": `(?:(?:(a)b{2}){0,300}+c){200,}`,
		"repetitions of one": `(?:ab){65535}`,
	} {
		if _, err := Compile(text, Options{}); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// PCRE2 writes a character, a class, a reference or an assertion once, however often it is repeated.
func TestManyRepetitions(t *testing.T) {
	for _, text := range []string{`a{65535}`, `[ab]{1,65535}c`, `(a)\1{65535}`, `(?=a){65535}`, `(?:ab){1000}`,
		`(?:(?:a+)+)*`} {
		compile(t, text, "")
	}
}

func TestMostPatternsAreLinear(t *testing.T) {
	for text, options := range map[string]string{
		`^abc$`: "", `a.*b`: "is", `^\s*\w+$`: "i", `[^\s]+`: "", `\d{3}-\d{4}`: "", `^a$|^b$`: "", `(a|b$)`: "",
		`\bx`: "m", `^a$\n`: "m",
		`\Qa.b\E$`: "", `[[:alpha:]$]+`: "", `[]$]`: "", `a\$b`: "", `\h\v\N\e`: "", `(?i)abc`: "", `(?:a|b)+$`: "",
		`a b`: "x", `(?x)a b`: "", `[\S]`: "",
		`(a$|b)c?`: "", `a\Kb`: "", `(?|(a)|(b))`: "", `(?<name>a)`: "", `é`: "i", `\p{Greek}`: "",
	} {
		if compile(t, text, options).linear == nil {
			t.Errorf("/%s/%s is not linear", text, options)
		}
	}
	for text, options := range map[string]string{`(a)\1`: "", `a(?=b)`: "", `(?>a)b`: "", `a++`: "", `\Ra`: "",
		`\G`: ""} {
		if compile(t, text, options).linear != nil {
			t.Errorf("/%s/%s is linear", text, options)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct{ letters, operator, want string }{
		{"imsxu", "$regexFind", ""}, {"z", "$regexFind", "$regexFind invalid flag in regex options: z"},
		{"ig", "", " invalid flag in regex options: g"},
	} {
		_, err := ParseOptions(c.letters, c.operator)
		if c.want == "" && err == nil {
			continue
		}
		if !code.Is(err, 51108) || code.Of(err).Message != c.want {
			t.Errorf("%s: %v", c.letters, err)
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		text, options, prefix string
		exact                 bool
	}{
		{"^abc", "", "abc", true}, {`\Aabc`, "", "abc", true}, {"^abc.*", "", "abc", true},
		{"^abc.+", "", "abc", false}, {"^ab*c", "", "a", false},
		{"^ab+c", "", "ab", false}, {"^ab{0}", "", "a", false}, {"^ab{2}", "", "ab", false}, {"^ab?", "", "a", false},
		{"^a(?#x)?", "", "", false}, {`^a\E?`, "", "", false},
		{"abc", "", "", false}, {"^abc", "i", "", false}, {"^abc", "m", "", false}, {`\Aabc`, "m", "abc", true},
		{"^abc|d", "", "", false}, {"^(abc)", "", "", false},
		{"^a b # c", "x", "ab", true}, {`^a\.\Q*b\E`, "", "a.*b", true}, {`^a\x62`, "", "ab", true},
		{"^a(?i)b", "", "a", false}, {"^ab$", "", "ab", false},
		{"^a^b", "", "a", false}, {"^", "", "", true}, {"", "", "", false}, {`^a\Kb`, "", "a", false},
		{"^a.b", "", "a", false}, {"^a.*b", "", "a", false}, {"^é", "s", "é", true},
	} {
		prefix, exact := compile(t, c.text, c.options).Prefix()
		if prefix != c.prefix || exact != c.exact {
			t.Errorf("/%s/%s: %q, %v", c.text, c.options, prefix, exact)
		}
	}
}

func TestFindAll(t *testing.T) {
	for _, c := range []struct {
		text, options, subject string
		want                   [][]int
	}{
		{"a", "", "aba", [][]int{{0, 1}, {2, 3}}},
		{"a*", "", "baac", [][]int{{0, 0}, {1, 3}, {3, 3}}},
		{"a*", "", "", [][]int{{0, 0}}},
		{"a?(?=é)", "", "éaé", [][]int{{0, 0}, {2, 3}, {3, 3}}},
		{`a\K`, "", "aab", [][]int{{1, 1}}}, // as MongoDB goes on one character behind an empty match
		{`a\Kb*`, "", "abba", [][]int{{1, 3}}},
		{"$", "", "a\n", [][]int{{1, 1}}},
		{"^a", "m", "a\na\n", [][]int{{0, 1}, {2, 3}}},
		{"(a)|(b)", "", "ab", [][]int{{0, 1, 0, 1, -1, -1}, {1, 2, -1, -1, 1, 2}}},
	} {
		got, err := compile(t, c.text, c.options).FindAll(c.subject, 100, nil)
		if err != nil || !slices.EqualFunc(got, c.want, slices.Equal[[]int]) {
			t.Errorf("/%s/%s in %q: %v, %v", c.text, c.options, c.subject, got, err)
		}
	}
}

// FuzzCompile compiles patterns and looks for them.
func FuzzCompile(f *testing.F) {
	for _, seed := range [][3]string{
		{`^a(b|c)*?d$`, "i", "abcd\n"}, {`(?<=x)y`, "", "xy"}, {`(a)(?P<n>b)\2`, "x", "abb"},
		{`[^\d\s]+`, "ms", "a1 b"}, {`\bfoo\B`, "", "food"},
		{`[[:alpha:]$]{2,3}`, "", "a$b"}, {`(((((a`, "", ""}, {`a{1000}{1000}`, "", "a"}, {`\x{1F600}|é`, "i", "É😀"},
		{`(?(<n>)a|b)(?<n>c)\K`, "", "bc"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, text, options, subject string) {
		o, err := ParseOptions(options, "")
		if err != nil || len(text) > 100 || len(subject) > 100 || !utf8.ValidString(subject) {
			return
		}
		p, err := Compile(text, o)
		if err != nil {
			if strings.Contains(err.Error(), "regexp") {
				t.Fatalf("/%s/%s: a matcher refuses what was written for it: %v", text, options, err)
			}
			return
		}
		at, err := p.Find(subject, nil)
		if err != nil {
			return // took too long
		}
		for i := 0; i < len(at); i += 2 {
			if at[i] > at[i+1] || at[i+1] > len(subject) || at[i] < -1 {
				t.Fatalf("%q in %q: %v", text, subject, at)
			}
		}
		found, err := p.Match(subject, nil)
		if err == nil && found != (at != nil) {
			t.Fatalf("%q in %q: %v, but %v", text, subject, at, found)
		}
	})
}
