package function

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

const (
	noteFullText = "Text is treated as English, whatever the container's full-text policy says: without case, stop " +
		"words and endings."
	noteRank    = "In ORDER BY RANK only, as in the service."
	noteClients = "Not in the reference: clients send it for the parts of a hybrid search."
)

var fullTextFunctions = []Function{
	{Name: "FULLTEXTCONTAINS", Family: "Full text search", Min: 2, Max: -1, Run: fullTextContains(false),
		Note: noteFullText},
	{Name: "FULLTEXTCONTAINSALL", Family: "Full text search", Min: 2, Max: -1, Run: fullTextContains(false),
		Note: noteFullText},
	{Name: "FULLTEXTCONTAINSANY", Family: "Full text search", Min: 2, Max: -1, Run: fullTextContains(true),
		Note: noteFullText},
	{Name: "FULLTEXTSCORE", Family: "Full text search", Min: 2, Max: -1, Run: onlyRanks("FULLTEXTSCORE"),
		Note: noteRank + " " + noteFullText},
	{Name: "RRF", Family: "Full text search", Min: 2, Max: -1, Run: onlyRanks("RRF"), Note: noteRank},
	{Name: "_FULLTEXTSCORE", Family: "Full text search", Min: 5, Max: 5, Run: fullTextScore, Note: noteClients},
	{Name: "_FULLTEXTWORDCOUNT", Family: "Full text search", Min: 1, Max: 1, Run: fullTextWordCount, Note: noteClients},
}

func onlyRanks(name string) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, _ []doc.Value) doc.Value {
		return c.Fail(fault.New(fault.Invalid, "The function %s can be used in ORDER BY RANK only.", name))
	}
}

// A fullText is the search for a call's terms, identified by key.
type fullText struct {
	scratch
	search *Search
	key    []byte
	hits   []int
}

// fullTextOf returns the search for terms, and reuses that of the previous row if the terms are the same.
func fullTextOf(c *Call, terms []doc.Value) (*fullText, bool) {
	f, ok := c.Memo.(*fullText)
	if !ok {
		f = &fullText{}
		c.Memo = f
	}
	f.left = f.left[:0]
	for _, term := range terms {
		f.left = append(append(f.left, byte(term.Type)), term.Data...)
	}
	if f.search != nil && bytes.Equal(f.left, f.key) {
		return f, true
	}
	search, err := NewSearch(terms)
	if err != nil {
		c.Fail(err)
		return nil, false
	}
	f.search, f.key = search, append(f.key[:0], f.left...)
	search.Meter = c.Meter
	f.hits = make([]int, len(terms))
	return f, true
}

// fullTextContains reports whether a text has any of its terms, or all. A term that is not valid counts as undefined.
func fullTextContains(anyOf bool) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		text, ok := doc.AsString(args[0])
		if !ok {
			return undefined
		}
		f, ok := fullTextOf(c, args[1:])
		if !ok {
			return undefined
		}
		f.search.read(text)
		o := verdict{decisive: anyOf}
		for i := range f.search.phrases {
			p := &f.search.phrases[i]
			if o.take(p.known && f.search.count(p, 1) > 0, p.known) {
				return truth(anyOf)
			}
		}
		return o.none()
	}
}

func fullTextWordCount(c *Call, args []doc.Value) doc.Value {
	text, ok := doc.AsString(args[0])
	if !ok {
		return undefined
	}
	f, ok := fullTextOf(c, nil)
	if !ok {
		return undefined
	}
	return f.int(int64(f.search.Look(text, nil)))
}

// fullTextScore is BM25 of a text for an array of terms, given statistics of all texts: their number, their number of
// words, and the number of texts with each term.
func fullTextScore(c *Call, args []doc.Value) doc.Value {
	text, ok := doc.AsString(args[0])
	documents, isNumber := doc.AsFloat(args[2])
	words, isNumberToo := doc.AsFloat(args[3])
	if !ok || !isNumber || !isNumberToo || !doc.IsArray(args[1]) || !doc.IsArray(args[4]) {
		return undefined
	}
	s := Statistics{Documents: documents, Words: words}
	for v := range doc.Elements(args[4]) {
		hits, ok := doc.AsFloat(v)
		if !ok {
			return undefined
		}
		s.Hits = append(s.Hits, hits)
	}
	f, ok := fullTextOf(c, elementsOf(args[1]))
	if !ok {
		return undefined
	}
	n := f.search.Look(text, f.hits)
	return f.float(s.BM25(n, f.hits))
}

func elementsOf(array doc.Value) (values []doc.Value) {
	for v := range doc.Elements(array) {
		values = append(values, v)
	}
	return values
}
