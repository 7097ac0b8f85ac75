package pattern

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestPrefilter(t *testing.T) {
	many := strings.Repeat("k", 2*longEnough)
	for pattern, want := range map[string]prefilter{
		strings.Repeat("[Kk\u212a]", len(many)): {text: many[:longEnough], fold: true, wide: true},
		"user17$":                               {text: "user17"},
		"golf.*user17":                          {text: "user17"},
		"^a(b(cd)+)ef":                          {text: "cd"},
		"(abc){2,}d":                            {text: "abc"},
		"(?i)User17":                            {text: "user17", fold: true, wide: true},
		"(?i)Hello":                             {text: "hello", fold: true},
		"(?i)ab(?-i)CDE":                        {text: "abcde", fold: true},
		"(?i)ab(?-i)C.*DE":                      {text: "abc", fold: true},
		"[Uu][Ss\u017f][Ee][Rr]17":              {text: "user17", fold: true, wide: true},
		"[Uu][Ss][Ee][Rr]17":                    {text: "er17", fold: true},
		"x[0-9][Kk\u212a]":                      {text: "x"},
		"(?i)\u212aelvin":                       {text: "kelvin", fold: true, wide: true},
		"(?i)élan":                              {},
		"élan":                                  {text: "élan"},
		"abc|abd":                               {text: "ab"}, // the parser takes out what alternatives have in common
		"abc|xyz":                               {},
		"(abc)?d":                               {text: "d"},
		"(abc)*(def){0,2}":                      {},
		"[a-z]+\\d":                             {},
		"\\d+(?:st|nd) avenue|foo$":             {},
	} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := prefilterOf(tree); got != want {
			t.Errorf("%q has %+v, want %+v", pattern, got, want)
		}
	}
}

// TestPrefilterChangesNothing compares random matches with those of a pattern without its prefilter.
func TestPrefilterChangesNothing(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(list []string, most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(list[r.IntN(len(list))])
		}
		return b.String()
	}
	pieces := strings.Fields(`a k s B K S ab ks é É \x{212a} . ^ $ \b (ak)+ (?:sk)? (s|k) (?:a|b) [ks] ks{2} (?i) (?-i) (?i:k) (?i:Sa) \d | * +`)
	letters := strings.Split("a|A|b|B|k|K|\u212a|s|S|ſ|é|É|1|ab|ks|KS|\n|aksk", "|")
	matches := 0
	for range 20_000 {
		text := pick(pieces, 5)
		p, err := Compile(text, Options{caseless: r.IntN(3) == 0})
		if err != nil || p.linear == nil {
			continue
		}
		other := *p
		other.prefilter = prefilter{}
		for range 5 {
			subject := pick(letters, 6)
			got, err := p.Match(subject, nil)
			want, failed := other.Match(subject, nil)
			if got != want || err != nil || failed != nil {
				t.Fatalf("seed %d: %q on %q gives %v, %v, want %v, %v", seed, text, subject, got, err, want, failed)
			}
			if got {
				matches++
			}
		}
	}
	if matches < 1000 {
		t.Errorf("%d matches, too few to compare", matches)
	}
}
