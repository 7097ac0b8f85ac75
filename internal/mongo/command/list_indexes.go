package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

func listIndexes(r *request, a *answer) error {
	name := r.collection()
	options := r.document("cursor")
	size := r.batchSize("cursor", doc.Lookup(options, "batchSize"), firstBatch)
	if r.err != nil {
		return r.err
	}
	c, err := r.Find(r.db, name)
	switch {
	case err != nil:
		return err
	case c == nil:
		return code.New(code.NamespaceNotFound, "ns does not exist: %s.%s", r.db, name)
	case query.ViewOf(c) != nil:
		return code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.db, name)
	}
	return r.reply(a, r.db+"."+name, &listed{documents: indexSpecs(c)}, size, nil)
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
