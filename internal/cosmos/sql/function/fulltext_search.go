package function

import (
	"bytes"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits of a term of a full-text search. The distance is the reference's.
const (
	maxPhraseWords = 64
	maxDistance    = 2
	maxFuzzyRunes  = 64
	maxTerms       = 1024
)

// Costs of comparing a word of a text with a word of a phrase, exactly and by distance.
const (
	wordUnits  = 2
	fuzzyUnits = 8
)

// A Search is the terms of a full-text search: words, or phrases of consecutive words. It is not safe for concurrent
// use.
type Search struct {
	// Meter, if not nil, counts the work. Once it has failed, results of the search are meaningless.
	Meter *Meter

	phrases []phrase
	fuzzy   bool
	stems   wordList
	written wordList // for fuzzy terms
}

// A phrase is one term. An empty phrase, which had only stop words, never matches.
type phrase struct {
	known    bool // it is a valid term
	distance int  // largest distance of each word; 0 compares stems
	words    wordList
}

// NewSearch creates a Search of terms: strings, or objects {"term", "distance"} for fuzzy matches. Values of other
// types are terms that never match. Errors are fault.Invalid.
func NewSearch(terms []doc.Value) (*Search, error) {
	if len(terms) > maxTerms {
		return nil, fault.New(fault.Invalid, "A full-text search has more than %d terms.", maxTerms)
	}
	s := &Search{phrases: make([]phrase, len(terms))}
	for i, term := range terms {
		if err := s.phrases[i].read(term); err != nil {
			return nil, err
		}
		s.fuzzy = s.fuzzy || s.phrases[i].distance > 0
	}
	return s, nil
}

func (p *phrase) read(term doc.Value) error {
	text, ok := doc.AsString(term)
	if object, isObject := doc.AsDoc(term); isObject {
		distance, isNumber := doc.AsInt(doc.Lookup(object, "distance"))
		text, ok = doc.AsString(doc.Lookup(object, "term"))
		if !ok || !isNumber || distance < 0 || distance > maxDistance {
			return fault.New(fault.Invalid,
				`A fuzzy term of a full-text search has a string "term" and a "distance" from 0 to %d.`, maxDistance)
		}
		p.distance = int(distance)
	}
	p.known = ok
	p.words.read(text, p.distance == 0, nil)
	if p.words.len() > maxPhraseWords {
		return fault.New(fault.Invalid, "A term of a full-text search has more than %d words.", maxPhraseWords)
	}
	return nil
}

// Terms is the number of terms.
func (s *Search) Terms() int { return len(s.phrases) }

// Look counts the occurrences of each term in a text into hits, which must have one element per term, and returns the
// number of words of the text.
func (s *Search) Look(text string, hits []int) (words int) {
	s.read(text)
	for i := range hits {
		hits[i] = s.count(&s.phrases[i], s.stems.len())
	}
	return s.stems.len()
}

func (s *Search) read(text string) {
	s.stems.read(text, true, s.Meter)
	if s.fuzzy {
		s.written.read(text, false, s.Meter)
	}
}

// spend counts work, and reports whether the query may continue.
func (s *Search) spend(units int) bool { return s.Meter == nil || s.Meter.Spend(units) }

// count is the number of occurrences of p in the current text, at most limit.
func (s *Search) count(p *phrase, limit int) (n int) {
	in, last := &s.stems, s.stems.len()-p.words.len()
	if p.distance > 0 {
		in = &s.written
	}
	if p.words.len() == 0 {
		return 0
	}
	units := wordUnits
	if p.distance > 0 {
		units = fuzzyUnits
	}
	for i := 0; i <= last && n < limit && s.spend(units); i++ {
		if p.at(in, i) {
			n++
		}
	}
	return n
}

func (p *phrase) at(in *wordList, i int) bool {
	for k := range p.words.len() {
		if !near(in.word(i+k), p.words.word(k), p.distance) {
			return false
		}
	}
	return true
}

// near reports whether at most distance insertions, deletions and changes of characters turn a into b. Words too long
// for that must be equal.
func near(a, b []byte, distance int) bool {
	if distance == 0 || bytes.Equal(a, b) {
		return bytes.Equal(a, b)
	}
	na, nb := utf8.RuneCount(a), utf8.RuneCount(b)
	if max(na, nb) > maxFuzzyRunes || na-nb > distance || nb-na > distance {
		return false
	}
	return levenshtein([]rune(string(a)), []rune(string(b))) <= distance
}

// levenshtein is the edit distance of two words of at most maxFuzzyRunes.
func levenshtein(a, b []rune) int {
	var row [maxFuzzyRunes + 1]int
	for j := range b {
		row[j+1] = j + 1
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
