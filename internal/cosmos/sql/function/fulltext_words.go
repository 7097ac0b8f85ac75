package function

import (
	"unicode"
	"unicode/utf8"
)

// A wordList is the words of a text in lower case, without stop words.
type wordList struct {
	text  []byte            // all words, concatenated
	ends  []int             // end of each word in text
	known map[string]string // cached results; "" for stop words
}

// readUnits is the cost of reading a word of a text, including stemming.
const readUnits = 16

// maxKnown is how many words a list caches.
const maxKnown = 4096

func (w *wordList) len() int { return len(w.ends) }

func (w *wordList) word(i int) []byte {
	if i == 0 {
		return w.text[:w.ends[0]]
	}
	return w.text[w.ends[i-1]:w.ends[i]]
}

// read splits text into words: runs of letters, digits and marks, with apostrophes inside. It stems them if stemmed
// is set. It stops early if m, which may be nil, says so.
func (w *wordList) read(text string, stemmed bool, m *Meter) {
	w.text, w.ends = w.text[:0], w.ends[:0]
	start := 0
	for i, r := range text {
		if r < utf8.RuneSelf {
			if low := lowerASCII[r]; 'a' <= low && low <= 'z' || '0' <= low && low <= '9' {
				w.text = append(w.text, low)
				continue
			}
		} else if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			w.text = utf8.AppendRune(w.text, unicode.ToLower(r))
			continue
		}
		if (r == '\'' || r == '’') && len(w.text) > start && letterAt(text[i+utf8.RuneLen(r):]) {
			w.text = append(w.text, '\'')
			continue
		}
		if w.end(start, stemmed); m != nil && !m.Spend(readUnits) {
			return
		}
		start = len(w.text)
	}
	w.end(start, stemmed)
}

func letterAt(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// end ends the word that begins at start, if there is one.
func (w *wordList) end(start int, stemmed bool) {
	word := w.text[start:]
	if len(word) == 0 {
		return
	}
	if len(word) <= maxStemBytes {
		to, ok := w.known[string(word)]
		if !ok {
			to = w.learn(string(word), stemmed)
		}
		if to == "" {
			w.text = w.text[:start]
			return
		}
		w.text = append(w.text[:start], to...)
	}
	w.ends = append(w.ends, len(w.text))
}

// learn caches the result for a word. A list is always stemmed, or never.
func (w *wordList) learn(word string, stemmed bool) (to string) {
	switch {
	case stopWords[word]:
	case stemmed:
		to = stem(word)
	default:
		to = word
	}
	if w.known == nil || len(w.known) >= maxKnown {
		w.known = map[string]string{}
	}
	w.known[word] = to
	return to
}

// stopWords are those of Lucene's EnglishAnalyzer, because the service does not publish its own.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, word := range []string{
		"a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
		"no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
		"they", "this", "to", "was", "will", "with",
	} {
		m[word] = true
	}
	return m
}()
