package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

func listIndexes(r *request, a *answer) error {
	name := r.Collection()
	options := r.Document("cursor")
	size := r.BatchSize("cursor", doc.Lookup(options, "batchSize"), firstBatch)
	if r.Err != nil {
		return r.Err
	}
	c, err := r.Find(r.DB, name)
	switch {
	case err != nil:
		return err
	case c == nil:
		return code.New(code.NamespaceNotFound, "ns does not exist: %s.%s", r.DB, name)
	case query.ViewOf(c) != nil:
		return code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.DB, name)
	}
	return r.reply(a, r.DB+"."+name, &listed{documents: schema.Specs(c)}, size, nil)
}

// listed is the producer of documents that are in memory already.
type listed struct {
	session.Holding
	documents []doc.Doc
}

func (l *listed) Fill(_ *session.Operation, b *session.Batch) (done bool, err error) {
	for len(l.documents) > 0 {
		if !b.Add(l.documents[0]) {
			return false, nil
		}
		l.documents = l.documents[1:]
	}
	return true, nil
}

func (l *listed) Stop() { l.documents = slices.Clip(l.documents[:0]) }
