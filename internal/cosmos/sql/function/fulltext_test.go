package function

import (
	"math"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

const bike = `"The Red Bicycle's wheels are running well; it's state-of-the-art. Vélo ROUGE!"`

func TestFullTextContains(t *testing.T) {
	runCalls(t, []callCase{
		{"FULLTEXTCONTAINS", bike + `, "bicycle"`, `true`},
		{"FULLTEXTCONTAINS", bike + `, "BICYCLES"`, `true`},
		{"FULLTEXTCONTAINS", bike + `, "red bicycle"`, `true`},
		{"FULLTEXTCONTAINS", bike + `, "bicycle red"`, `false`},
		{"FULLTEXTCONTAINS", bike + `, "wheel run"`, `true`},
		{"FULLTEXTCONTAINS", bike + `, "state art"`, `true`},
		{"FULLTEXTCONTAINS", bike + `, "vélo rouge"`, `true`},
		{"FULLTEXTCONTAINS", bike + `, "bicy"`, `false`},
		{"FULLTEXTCONTAINS", bike + `, "the"`, `false`},
		{"FULLTEXTCONTAINS", bike + `, ""`, `false`},
		{"FULLTEXTCONTAINS", bike + `, undefined`, `undefined`},
		{"FULLTEXTCONTAINS", `undefined, "a"`, `undefined`},
		{"FULLTEXTCONTAINS", `["red"], "red"`, `undefined`},
		{"FULLTEXTCONTAINS", `"", "red"`, `false`},

		{"FULLTEXTCONTAINSALL", bike + `, "red", "wheel"`, `true`},
		{"FULLTEXTCONTAINSALL", bike + `, "red", "car"`, `false`},
		{"FULLTEXTCONTAINSALL", bike + `, "red", undefined`, `undefined`},
		{"FULLTEXTCONTAINSALL", bike + `, "car", undefined`, `false`},
		{"FULLTEXTCONTAINSANY", bike + `, "red", "car"`, `true`},
		{"FULLTEXTCONTAINSANY", bike + `, "blue", "car"`, `false`},
		{"FULLTEXTCONTAINSANY", bike + `, 1, "red"`, `true`},
		{"FULLTEXTCONTAINSANY", bike + `, 1, "car"`, `undefined`},

		{"FULLTEXTCONTAINS", bike + `, {"term": "rad", "distance": 1}, {"term": "whels", "distance": 2}`, `true`},
		{"FULLTEXTCONTAINS", bike + `, {"term": "rad", "distance": 0}`, `false`},
		{"FULLTEXTCONTAINS", bike + `, {"term": "xxd", "distance": 1}`, `false`},
		{"FULLTEXTCONTAINS", bike + `, {"term": "xxd", "distance": 2}`, `true`},
		{"FULLTEXTCONTAINS", bike + `, {"term": "red bycicle's", "distance": 2}`, `true`},
		{"FULLTEXTCONTAINS", bike + `, {"term": "velo", "distance": 1}`, `true`},
		{"FULLTEXTCONTAINS", bike + `, {"term": "red", "distance": 3}`, `!invalid`},
		{"FULLTEXTCONTAINS", bike + `, {"distance": 1}`, `!invalid`},
		{"FULLTEXTCONTAINS", bike + `, "` + strings.Repeat("word ", maxPhraseWords+1) + `"`, `!invalid`},
	})
}

func TestRanksStandInOrderByOnly(t *testing.T) {
	runCalls(t, []callCase{
		{"FULLTEXTSCORE", bike + `, "red"`, `!invalid`},
		{"RRF", `1, 2`, `!invalid`},
	})
}

func TestWordCount(t *testing.T) {
	runCalls(t, []callCase{
		{"_FULLTEXTWORDCOUNT", bike, `10`},
		{"_FULLTEXTWORDCOUNT", `""`, `0`},
		{"_FULLTEXTWORDCOUNT", `"the of and"`, `0`},
		{"_FULLTEXTWORDCOUNT", `1`, `undefined`},
		{"_FULLTEXTSCORE", `"swim run", ["fly"], 10, 20, [0]`, `0`},
		{"_FULLTEXTSCORE", `undefined, ["fly"], 10, 20, [0]`, `undefined`},
		{"_FULLTEXTSCORE", `"fly", "fly", 10, 20, [0]`, `undefined`},
		{"_FULLTEXTSCORE", `"fly", ["fly"], 10, 20, ["x"]`, `undefined`},
		{"_FULLTEXTSCORE", `"fly", ["fly", "x"], 10, 20, []`, `0`},
	})
}

// The score by hand: ln(1 + (4-1+0.5)/(1+0.5)) * 2*2.2/(2 + 1.2*(0.25 + 0.75*3/2)).
func TestScore(t *testing.T) {
	s := Statistics{}
	terms, err := NewSearch([]doc.Value{doc.String("swim")})
	if err != nil {
		t.Fatal(err)
	}
	hits := make([]int, terms.Terms())
	for _, text := range []string{"swimming, swim run", "run", "run", "run home far"} {
		s.Add(terms.Look(text, hits), hits)
	}
	if s.Documents != 4 || s.Words != 8 || s.Hits[0] != 1 {
		t.Fatalf("statistics %+v", s)
	}
	words := terms.Look("swimming, swim run", hits)
	want := math.Log(1+3.5/1.5) * 2 * 2.2 / (2 + 1.2*(0.25+0.75*1.5))
	if got := s.BM25(words, hits); math.Abs(got-want) > 1e-12 {
		t.Errorf("score %v, want %v", got, want)
	}
	got := argument(t, evaluate(t, "_FULLTEXTSCORE", `"swimming, swim run", ["swim"], 4, 8, [1]`))
	if f, _ := doc.AsFloat(got); math.Abs(f-want) > 1e-12 {
		t.Errorf("_FULLTEXTSCORE %v, want %v", f, want)
	}
}

// More hits score higher, a longer text scores lower, a rarer term scores higher.
func TestScoreOrder(t *testing.T) {
	s := Statistics{Documents: 100, Words: 1000, Hits: []float64{10, 50}}
	if !(s.BM25(10, []int{2, 0}) > s.BM25(10, []int{1, 0})) {
		t.Error("two hits score no higher than one")
	}
	if !(s.BM25(10, []int{1, 0}) > s.BM25(20, []int{1, 0})) {
		t.Error("a short text scores no higher than a long one")
	}
	if !(s.BM25(10, []int{1, 0}) > s.BM25(10, []int{0, 1})) {
		t.Error("a rare term scores no higher than a common one")
	}
	s = Statistics{Documents: 1, Words: 0, Hits: []float64{7}}
	if got := s.BM25(3, []int{1}); math.IsNaN(got) || got < 0 {
		t.Errorf("statistics that cannot be: %v", got)
	}
}

func TestReciprocalRank(t *testing.T) {
	if got, want := ReciprocalRank([]int{1, 3}, nil), 1.0/61+1.0/63; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := ReciprocalRank([]int{1, 3}, []float64{2, 0.5}), 2.0/61+0.5/63; got != want {
		t.Errorf("weighted: got %v, want %v", got, want)
	}
}

// Pairs of Snowball's own vocabulary for English.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"consign": "consign", "consigned": "consign", "consigning": "consign", "consignment": "consign",
		"consist": "consist", "consisted": "consist", "consistency": "consist", "consistently": "consist",
		"consolation": "consol",
		"knack":       "knack", "knackeries": "knackeri", "knaves": "knave", "knavish": "knavish", "kneaded": "knead",
		"knightly": "knight", "knitting": "knit", "knives": "knive", "knots": "knot",
		"running": "run", "bicycles": "bicycl", "bicycle": "bicycl", "hoping": "hope", "hopping": "hop",
		"hopped": "hop",
		"happy":  "happi", "happily": "happili", "happiness": "happi", "ties": "tie", "cries": "cri", "gas": "gas",
		"this": "this", "kiwis": "kiwi",
		"skies": "sky", "news": "news", "generally": "general", "generate": "generat", "communism": "communism",
		"relational": "relat", "conditional": "condit", "rationalize": "ration", "electricity": "electr",
		"formative": "format", "formalize": "formal",
		"hopefulness": "hope", "goodness": "good", "adoption": "adopt", "controlling": "control",
		"controll": "control", "rate": "rate", "cease": "ceas",
		"say": "say", "by": "by", "cry": "cri", "enjoy": "enjoy", "youth": "youth", "boyish": "boyish",
		"agreed": "agre", "feed": "feed", "proceed": "proceed", "proceeding": "proceed",
		"bicycle's": "bicycl", "vélo": "vélo", "42": "42", "mp3s": "mp3s",
	} {
		if got := stem(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}
