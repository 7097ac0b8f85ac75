package function

import (
	"slices"
	"strings"
)

// maxStemBytes: longer words are no English.
const maxStemBytes = 48

// stem takes the English ending off a lower-case word: the algorithm Porter2.
// https://snowballstem.org/algorithms/english/stemmer.html
// Words that are not all ASCII letters stay as they are.
func stem(word string) string {
	if len(word) <= 2 || len(word) > maxStemBytes || !isEnglish(word) {
		return word
	}
	if to, ok := irregular[word]; ok {
		return to
	}
	w := stemmer{b: []byte(word)}
	w.markY()
	w.regions()
	w.possessive()
	w.plural()
	if !slices.Contains(wholeWords, string(w.b)) {
		w.pastAndGerund()
		w.finalY()
		w.apply(step2)
		w.ativeOr(step3)
		w.remove()
		w.finalE()
	}
	return strings.ToLower(string(w.b))
}

func isEnglish(word string) bool {
	for i, b := range word {
		if (b < 'a' || b > 'z') && (b != '\'' || i == 0) {
			return false
		}
	}
	return true
}

// A stemmer is a word on its way. A y that is a consonant is written Y.
type stemmer struct {
	b      []byte
	r1, r2 int // where the regions R1 and R2 begin
}

func isVowel(b byte) bool { return strings.IndexByte("aeiouy", b) >= 0 }

func (w *stemmer) markY() {
	for i, b := range w.b {
		if b == 'y' && (i == 0 || isVowel(w.b[i-1])) {
			w.b[i] = 'Y'
		}
	}
}

func (w *stemmer) regions() {
	w.r1 = w.region(0)
	for _, start := range []string{"gener", "commun", "arsen"} {
		if strings.HasPrefix(viewOf(w.b), start) {
			w.r1 = len(start)
		}
	}
	w.r2 = w.region(w.r1)
}

// region begins behind the first consonant that follows a vowel.
func (w *stemmer) region(from int) int {
	for i := from + 1; i < len(w.b); i++ {
		if isVowel(w.b[i-1]) && !isVowel(w.b[i]) {
			return i + 1
		}
	}
	return len(w.b)
}

func (w *stemmer) ends(suffix string) bool { return strings.HasSuffix(viewOf(w.b), suffix) }

// longest is the first of suffixes, longest first, that the word ends with.
func (w *stemmer) longest(suffixes ...string) string {
	for _, s := range suffixes {
		if w.ends(s) {
			return s
		}
	}
	return ""
}

// before is what a suffix stands behind.
func (w *stemmer) before(suffix string) []byte { return w.b[:len(w.b)-len(suffix)] }

func (w *stemmer) swap(suffix, to string) { w.b = append(w.before(suffix), to...) }

func hasVowel(b []byte) bool { return slices.ContainsFunc(b, isVowel) }

// shortSyllable reports whether b ends in one.
func shortSyllable(b []byte) bool {
	n := len(b)
	switch {
	case n < 2 || isVowel(b[n-1]) || !isVowel(b[n-2]):
		return false
	case n == 2:
		return true
	}
	return !isVowel(b[n-3]) && strings.IndexByte("wxY", b[n-1]) < 0
}

func (w *stemmer) possessive() { w.swap(w.longest("'s'", "'s", "'"), "") }

func (w *stemmer) plural() {
	switch s := w.longest("sses", "ied", "ies", "us", "ss", "s"); s {
	case "sses":
		w.swap(s, "ss")
	case "ied", "ies":
		if len(w.before(s)) > 1 {
			w.swap(s, "i")
		} else {
			w.swap(s, "ie")
		}
	case "s":
		if len(w.b) > 2 && hasVowel(w.b[:len(w.b)-2]) {
			w.swap(s, "")
		}
	}
}

func (w *stemmer) pastAndGerund() {
	s := w.longest("eedly", "ingly", "edly", "eed", "ing", "ed")
	switch {
	case s == "":
		return
	case s == "eed" || s == "eedly":
		if len(w.before(s)) >= w.r1 {
			w.swap(s, "ee")
		}
		return
	case !hasVowel(w.before(s)):
		return
	}
	w.swap(s, "")
	switch {
	case w.longest("at", "bl", "iz") != "":
		w.b = append(w.b, 'e')
	case w.longest("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt") != "":
		w.b = w.b[:len(w.b)-1]
	case w.r1 >= len(w.b) && shortSyllable(w.b):
		w.b = append(w.b, 'e')
	}
}

func (w *stemmer) finalY() {
	n := len(w.b)
	if n > 2 && (w.b[n-1] == 'y' || w.b[n-1] == 'Y') && !isVowel(w.b[n-2]) {
		w.b[n-1] = 'i'
	}
}

// A rule says what comes in the place of a suffix, if a letter of behind is before it.
type rule struct{ suffix, to, behind string }

var step2 = []rule{
	{"ational", "ate", ""}, {"fulness", "ful", ""}, {"iveness", "ive", ""}, {"ization", "ize", ""}, {"ousness", "ous", ""},
	{"biliti", "ble", ""}, {"lessli", "less", ""}, {"tional", "tion", ""},
	{"alism", "al", ""}, {"aliti", "al", ""}, {"ation", "ate", ""}, {"entli", "ent", ""}, {"fulli", "ful", ""}, {"iviti", "ive", ""}, {"ousli", "ous", ""},
	{"abli", "able", ""}, {"alli", "al", ""}, {"anci", "ance", ""}, {"ator", "ate", ""}, {"enci", "ence", ""}, {"izer", "ize", ""},
	{"bli", "ble", ""}, {"ogi", "og", "l"}, {"li", "", "cdeghkmnrt"},
}

var step3 = []rule{
	{"ational", "ate", ""}, {"tional", "tion", ""}, {"alize", "al", ""}, {"icate", "ic", ""}, {"iciti", "ic", ""},
	{"ical", "ic", ""}, {"ness", "", ""}, {"ful", "", ""},
}

// apply makes use of the first rule whose suffix fits, if that is in R1.
func (w *stemmer) apply(rules []rule) {
	for _, r := range rules {
		if !w.ends(r.suffix) {
			continue
		}
		before := w.before(r.suffix)
		fits := r.behind == "" || len(before) > 0 && strings.IndexByte(r.behind, before[len(before)-1]) >= 0
		if fits && len(before) >= w.r1 {
			w.swap(r.suffix, r.to)
		}
		return
	}
}

// ativeOr is apply with one more rule, whose suffix is to be in R2.
func (w *stemmer) ativeOr(rules []rule) {
	switch {
	case !w.ends("ative"):
		w.apply(rules)
	case len(w.before("ative")) >= w.r2:
		w.swap("ative", "")
	}
}

// remove takes a suffix off in R2.
func (w *stemmer) remove() {
	s := w.longest("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al", "er", "ic")
	if s == "" || len(w.before(s)) < w.r2 {
		return
	}
	before := w.before(s)
	if s == "ion" && (len(before) == 0 || before[len(before)-1] != 's' && before[len(before)-1] != 't') {
		return
	}
	w.swap(s, "")
}

func (w *stemmer) finalE() {
	n := len(w.b) - 1
	switch {
	case w.ends("e") && (n >= w.r2 || n >= w.r1 && !shortSyllable(w.b[:n])):
		w.b = w.b[:n]
	case w.ends("ll") && n >= w.r2:
		w.b = w.b[:n]
	}
}

// irregular are words with stems of their own; wholeWords stay once they have
// lost their plural.
var (
	irregular = map[string]string{
		"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
		"idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
		"sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
	}
	wholeWords = []string{"inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"}
)
