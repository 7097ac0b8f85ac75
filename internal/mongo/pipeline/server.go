package pipeline

import (
	"context"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// A Namespace names a container. An empty Database is that of the command.
type Namespace struct{ Database, Container string }

// A Server is what stages ask of the server that runs them: other containers, what the
// server knows of itself, and writes. Everything that it reads is of one instant, the
// Env's Now. The rows that it gives are walked once; what is valid of them is as for Rows.
type Server interface {
	// Documents gives the documents of a container, or the rows of a view: at least those
	// that match accepts, all when it is nil. Match may have variables in its $expr, which
	// the server need not understand. A container that does not exist has none.
	Documents(ctx context.Context, from Namespace, match *filter.Filter) Rows

	// Equal gives exactly the documents that {path: {$in: values}} accepts. It is asked once
	// for each document of a join. With ok false there is no index for it, and the stage
	// reads the whole container once instead. No value is a regular expression; values are
	// valid until the rows end.
	Equal(ctx context.Context, from Namespace, path string, values []doc.Value) (rows Rows, ok bool)

	// Source gives the rows of a first stage that is about the server: $collStats,
	// $indexStats, $currentOp, $listSessions, $listLocalSessions, $planCacheStats, $changeStream.
	Source(ctx context.Context, stage string, arg doc.Value) Rows

	// Out replaces a container by the rows, or leaves it as it was when they have an error.
	Out(ctx context.Context, into Namespace, rows Rows) error

	// Merge writes one document. Where the container has one with the same values in the
	// fields m.On, which must be of a unique index (51183 if not), it puts what change
	// makes of that in its place; nothing when change gives the same bytes. Else it does
	// what m.WhenNotMatched says: inserts d, discards it, or fails with m.NotMatched(). With
	// m.WhenMatched "fail" it inserts d whatever there is. The write's error is m.Failed.
	Merge(ctx context.Context, m *Merge, d doc.Doc, change func(old doc.Doc) (doc.Doc, error)) error
}

// Containers lists what the pipeline and its sub-pipelines read beside the container that
// it runs on, each once, and what it writes, nil when it writes nothing.
func (p *Pipeline) Containers() (reads []Namespace, writes *Namespace) {
	seen := map[Namespace]bool{}
	p.eachContainer(func(n Namespace, write bool) {
		if write {
			writes = &n
			return
		}
		if !seen[n] {
			seen[n] = true
			reads = append(reads, n)
		}
	})
	return reads, writes
}

// A reader is a stage that names other containers or has sub-pipelines.
type reader interface {
	containers(see func(n Namespace, write bool))
}

func (p *Pipeline) eachContainer(see func(n Namespace, write bool)) {
	for _, s := range p.stages {
		if s, ok := s.(reader); ok {
			s.containers(see)
		}
	}
}
