package rest

import (
	"bytes"
	"hash/maphash"
	"sync"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// Programs ask what they have asked before, parameters included: a dashboard, a worker that looks for its next task, a
// page that many people open. So prepared queries that come a second time are kept.
const (
	// maxPlanned is how many bytes of text, parameters and scopes all of them may have. A prepared query takes 20 to
	// 600 times as much.
	maxPlanned = 32 << 10
	// maxPlannedBytes is the longest text, and the longest parameters with the scope, of one that is kept.
	maxPlannedBytes = 1 << 10
	// maxPlannedCopies is how many copies of one are kept, for requests at the same time.
	maxPlannedCopies = 2
)

// plannedQueries is a cache of prepared queries. The zero value is empty. It is safe for concurrent use.
type plannedQueries struct {
	mu    sync.Mutex
	known map[plannedKey]*plannedQuery
	bytes int         // of known
	seen  [512]uint64 // hashes of queries that came once, each at its remainder
	seed  maphash.Seed
}

// A plannedKey is what a prepared query depends on, if it calls no functions. A state of a container stands for its
// schema.
type plannedKey struct {
	tree              *syntax.Query
	state             *catalog.State
	scope, parameters string
}

// A plannedQuery is the copies of a query that no request uses.
type plannedQuery struct {
	size int // of one copy, and of the key: bytes of text, parameters and scope
	idle []*exec.Query
}

func (q *plannedQuery) bytes() int { return q.size * (1 + len(q.idle)) }

// A plannedRequest is the key of a request, with its memory.
type plannedRequest struct {
	text              string
	tree              *syntax.Query
	state             *catalog.State
	scope, parameters []byte
}

// plannedRequest returns the key of a query; false if it is too long to be kept.
func (q *queryRequest) plannedRequest(state *catalog.State, scope access.Scope) (r plannedRequest, short bool) {
	kind := byte('w') // the whole container
	switch scope.(type) {
	case access.Partition:
		kind = 'p'
	case *access.Span:
		kind = 's'
	}
	r = plannedRequest{q.text, q.tree, state, appendScope([]byte{kind}, scope), q.list.Data}
	return r, len(q.text) <= maxPlannedBytes && len(r.scope)+len(r.parameters) <= maxPlannedBytes
}

func (r *plannedRequest) key() plannedKey {
	return plannedKey{r.tree, r.state, string(r.scope), string(r.parameters)}
}

// take returns a copy of a prepared query, which the caller gives back; nil if there is none. again reports that the
// request came before, so a query that is prepared for it can be given, too.
func (p *plannedQueries) take(r plannedRequest) (q *exec.Query, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Like r.key(), which would allocate.
	known := p.known[plannedKey{r.tree, r.state, string(r.scope), string(r.parameters)}]
	if known == nil {
		return nil, p.again(r.key())
	}
	if last := len(known.idle) - 1; last >= 0 {
		q, known.idle = known.idle[last], known.idle[:last]
		p.bytes -= known.size
	}
	return q, true
}

// again reports whether a key came before, not long ago, and notes that it came.
func (p *plannedQueries) again(key plannedKey) bool {
	if p.known == nil {
		p.known, p.seed = map[plannedKey]*plannedQuery{}, maphash.MakeSeed()
	}
	hash := maphash.Comparable(p.seed, key)
	place := &p.seen[hash%uint64(len(p.seen))]
	if *place == hash {
		return true
	}
	*place = hash
	return false
}

// give keeps a query that was prepared with an owned environment, has run without an error, and may run again.
func (p *plannedQueries) give(r plannedRequest, q *exec.Query) {
	key := r.key()
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.known[key]
	if known == nil {
		known = &plannedQuery{size: len(r.text) + len(r.scope) + len(r.parameters)}
		p.known[key] = known
		p.bytes += known.size
	}
	if len(known.idle) < maxPlannedCopies {
		known.idle = append(known.idle, q)
		p.bytes += known.size
	}
	for other, old := range p.known { // any ones go
		if p.bytes <= maxPlanned {
			return
		}
		p.bytes -= old.bytes()
		delete(p.known, other)
	}
}

// owned is an environment whose parameters and base do not have the memory of a request.
func owned(env exec.Environment) exec.Environment {
	parameters := make(map[string]doc.Value, len(env.Parameters))
	for name, v := range env.Parameters {
		parameters[name] = ownValue(v)
	}
	env.Parameters = parameters
	switch base := env.Base.(type) {
	case access.Partition:
		values := make(access.Partition, len(base))
		for i, v := range base {
			values[i] = ownValue(v)
		}
		env.Base = values
	case *access.Span:
		env.Base = &access.Span{Low: bytes.Clone(base.Low), High: bytes.Clone(base.High)}
	}
	return env
}

func ownValue(v doc.Value) doc.Value { return doc.Value{Type: v.Type, Data: bytes.Clone(v.Data)} }
