package pipeline

import (
	"context"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// A Namespace names a container. An empty Database stands for the command's database.
type Namespace struct{ Database, Container string }

// A Server gives stages access to the rest of the server: other containers, statistics, and writes. It reads everything
// as of one instant, the Env's Now. Its rows are read once and follow the rules of Rows.
type Server interface {
	// Documents returns the documents of a container or the rows of a view: at least those that match accepts, all if
	// it is nil. Match may have variables in its $expr, which the server may ignore. A container that does not exist is
	// empty.
	Documents(ctx context.Context, from Namespace, match *filter.Filter) Rows

	// Equal returns exactly the documents that {path: {$in: values}} accepts. It is called once for each document of a
	// join. If not ok, there is no index for it, and the stage reads the whole container once. No value is a regular
	// expression; the values are valid until the rows end.
	Equal(ctx context.Context, from Namespace, path string, values []doc.Value) (rows Rows, ok bool)

	// Source returns the rows of a first stage that the server answers: $collStats, $indexStats, $currentOp,
	// $listSessions, $listLocalSessions, $planCacheStats, $changeStream.
	Source(ctx context.Context, stage string, arg doc.Value) Rows

	// Out replaces a container by the rows, or leaves it as it was if they end in an error.
	Out(ctx context.Context, into Namespace, rows Rows) error

	// Merge writes one document. If the container has a document with the same values in the fields m.On, which need a
	// unique index (else 51183), it replaces that with the result of change, unless the bytes are the same. Otherwise
	// it follows m.WhenNotMatched: it inserts d, discards it, or fails with m.NotMatched(). With m.WhenMatched "fail"
	// it always inserts d. Errors of the write go through m.Failed.
	Merge(ctx context.Context, m *Merge, d doc.Doc, change func(old doc.Doc) (doc.Doc, error)) error
}

// Containers lists the containers that the pipeline and its sub-pipelines read in addition to its own, each once, and
// the one that it writes, or nil.
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
