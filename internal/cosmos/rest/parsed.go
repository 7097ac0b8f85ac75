package rest

import (
	"strings"
	"sync"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
)

// Programs send the same queries with other parameters, so the trees of short texts are kept.
const (
	// maxParsed is how many bytes of text the cache of trees may hold. A tree takes about fifteen times as much.
	maxParsed = 256 << 10
	// maxParsedText is the longest text whose tree is kept.
	maxParsedText = 4 << 10
)

// parsedQueries is a cache of the trees of queries. The zero value is empty. It is safe for concurrent use.
type parsedQueries struct {
	mu    sync.RWMutex
	known map[string]*parsedQuery
	bytes int
}

// A parsedQuery is a text and its tree, which nobody changes.
type parsedQuery struct {
	text string
	tree *syntax.Query
	uses []string // names of parameters
}

// parse parses a query, whose text may change after the call.
func (p *parsedQueries) parse(text string) (*parsedQuery, error) {
	p.mu.RLock()
	q := p.known[text]
	p.mu.RUnlock()
	if q != nil {
		return q, nil
	}
	q = &parsedQuery{text: strings.Clone(text)}
	var err error
	if q.tree, err = syntax.Parse(q.text); err != nil {
		return q, err
	}
	syntax.Walk(q.tree, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.Parameter); ok {
			q.uses = append(q.uses, p.Name)
		}
		return true
	})
	if len(text) > maxParsedText {
		return q, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes += len(text); p.bytes > maxParsed || p.known == nil {
		p.known, p.bytes = map[string]*parsedQuery{}, len(text)
	}
	p.known[q.text] = q
	return q, nil
}
