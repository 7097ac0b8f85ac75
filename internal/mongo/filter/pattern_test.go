package filter

import (
	"math/rand/v2"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// TestRegexAndRegexMatchAgree asks $regex and $regexMatch about random patterns.
func TestRegexAndRegexMatchAgree(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	pieces := strings.Fields(`a b . ^ $ \Z \z \b \d \w \s \S \h \H \v \R \N \K \n [\h] [^\s] [\S] [^a] (a) (?:a|b) ` +
		`(a|b) (?=a) (?<!b) (?i) (?m) (?>a) | * + ? {2} é K \Qa\E \p{L} (?<n>a) \1 $`)
	letters := strings.Split("a|b|ab|\n|\r\n|\t| |\v|\u00a0|\u2028|é|k|\u212a|1|_", "|")
	join := func(from []string, most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	matched := 0
	for range 5000 {
		text, options, subject := join(pieces, 5), []string{"", "i", "m", "s", "x"}[r.IntN(5)], join(letters, 6)
		asked, wrong := ask(t,
			bson.D{{Key: "a", Value: bson.D{{Key: "$regex", Value: text}, {Key: "$options", Value: options}}}}, subject)
		also, wrongToo := ask(t,
			bson.D{{Key: "$expr",
				Value: bson.D{{Key: "$regexMatch",
					Value: bson.D{{Key: "input", Value: "$a"},
						{Key: "regex", Value: bson.D{{Key: "$literal", Value: text}}},
						{Key: "options", Value: options}}}}}}, subject)
		if asked != also || (wrong == nil) != (wrongToo == nil) {
			t.Errorf("seed %d: /%s/%s of %q: $regex %v %v, $regexMatch %v %v", seed, text, options, subject, asked,
				wrong, also, wrongToo)
			continue
		}
		if wrong == nil {
			continue
		}
		_, reason, _ := strings.Cut(code.Of(wrong).Message, ": ")
		if _, other, _ := strings.Cut(code.Of(wrongToo).Message, ": "); reason != other {
			t.Errorf("seed %d: /%s/: %v, but %v", seed, text, wrong, wrongToo)
		}
		matched++
	}
	if matched == 0 {
		t.Error("no pattern was wrong")
	}
}

// ask reports whether a query accepts {a: subject}.
func ask(t *testing.T, query bson.D, subject string) (bool, error) {
	t.Helper()
	raw, err := bson.Marshal(query)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Compile(raw, Options{})
	if err != nil {
		return false, err
	}
	d := doc.Doc(doc.With(nil, "a", doc.String(subject)))
	return f.Match(d, scopeOf(d))
}
