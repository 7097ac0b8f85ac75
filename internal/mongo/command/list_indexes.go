package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func listIndexes(r *request, a *answer) error {
	name := r.collection()
	options := r.document("cursor")
	size := r.batchSize("cursor", doc.Lookup(options, "batchSize"), firstBatch)
	if r.err != nil {
		return r.err
	}
	c, err := r.find(r.db, name)
	switch {
	case err != nil:
		return err
	case c == nil:
		return code.New(code.NamespaceNotFound, "ns does not exist: %s.%s", r.db, name)
	case viewOf(c) != nil:
		return code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.db, name)
	}
	return r.reply(a, r.db+"."+name, &listed{documents: indexSpecs(c)}, size, nil)
}

// listed is the producer of documents that are in memory already.
type listed struct {
	holding
	documents []doc.Doc
}

func (l *listed) fill(_ *request, b *batch) (done bool, err error) {
	for len(l.documents) > 0 {
		if !b.add(l.documents[0]) {
			return false, nil
		}
		l.documents = l.documents[1:]
	}
	return true, nil
}

func (l *listed) stop() { l.documents = slices.Clip(l.documents[:0]) }
