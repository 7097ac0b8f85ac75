package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

// reIndex leaves the indexes as they are: their entries are written together with the documents, so a rebuild would
// give the same ones.
func reIndex(r *request, a *answer) error {
	name := r.collection()
	if r.err != nil {
		return r.err
	}
	if r.s.o.ReplSet != "" {
		return code.New(code.IllegalOperation, "reIndex is only allowed on a standalone mongod instance")
	}
	c, err := r.existing(name, code.New(code.NamespaceNotFound, "collection does not exist"))
	if err != nil {
		return err
	}
	specs := indexSpecs(c)
	a.int32("nIndexesWas", len(specs))
	a.int32("nIndexes", len(specs))
	a.array("indexes")
	for _, spec := range specs {
		a.element(spec)
	}
	a.close()
	return nil
}
