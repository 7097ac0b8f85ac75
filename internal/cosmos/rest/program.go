package rest

import (
	"context"
	"strings"
	"sync"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
)

// maxPrograms is how many bytes of source text the cache of compiled scripts may hold.
const maxPrograms = 16 << 20

// programCache is a cache of compiled scripts. The zero value is empty. It is safe for concurrent use.
type programCache struct {
	mu    sync.Mutex
	known map[programKey]*script.Program
	bytes int
}

// A programKey is one version of a script.
type programKey struct{ number, sequence uint64 }

// compiled returns the program of a script. ctx limits the time to compile it.
func (p *programCache) compiled(ctx context.Context, r *catalog.Resource) (*script.Program, error) {
	key := programKey{r.Number, r.Sequence}
	p.mu.Lock()
	program := p.known[key]
	p.mu.Unlock()
	if program != nil {
		return program, nil
	}
	source := strings.Clone(textOf(r.Body, "body"))
	program, err := script.Compile(ctx, r.Name, source)
	if err != nil {
		return nil, scriptFault(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes += len(source); p.bytes > maxPrograms || p.known == nil {
		p.known, p.bytes = map[programKey]*script.Program{}, len(source)
	}
	p.known[key] = program
	return program, nil
}
