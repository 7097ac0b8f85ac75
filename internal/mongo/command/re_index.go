package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
)

// reIndex leaves the indexes as they are: their entries are written together with the documents, so a rebuild would
// give the same ones.
func reIndex(r *request, a *answer) error {
	name := r.Collection()
	if r.Err != nil {
		return r.Err
	}
	if r.Node.Replicates {
		return code.New(code.IllegalOperation, "reIndex is only allowed on a standalone mongod instance")
	}
	c, err := query.Existing(&r.Request, name, code.New(code.NamespaceNotFound, "collection does not exist"))
	if err != nil {
		return err
	}
	specs := schema.Specs(c)
	a.Int32("nIndexesWas", len(specs))
	a.Int32("nIndexes", len(specs))
	a.Array("indexes")
	for _, spec := range specs {
		a.Element(spec)
	}
	a.Close()
	return nil
}
