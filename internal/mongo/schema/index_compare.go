package schema

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// sameKey reports whether two key patterns are equal: names, order and directions.
func (x *Index) sameKey(y catalog.NamedIndex) bool {
	return slices.Equal(x.Columns, y.Columns) && x.Wildcard == y.Wildcard
}

// compare tells how a new index relates to one that is there: identical, an error, or neither.
func (x *Index) compare(y catalog.NamedIndex) (identical bool, err error) {
	signature := x.sameKey(y) && x.Unique == y.Unique && x.Sparse == y.Sparse &&
		string(x.Partial) == string(y.Partial) && string(x.Projection) == string(y.Projection)
	rest := x.Expires == y.Expires && x.Seconds == y.Seconds
	both := "Requested index: " + code.Show(doc.Object(x.Spec)) + ", existing index: " + code.Show(doc.Object(y.Spec))
	switch {
	case x.Name == y.Name && !signature:
		return false, code.New(code.IndexKeySpecsConflict,
			"An existing index has the same name as the requested index. When index names are not specified, "+
				"they are auto generated and can cause conflicts. Please refer to our documentation. %s", both)
	case x.Name == y.Name && !rest:
		return false, code.New(code.IndexOptionsConflict,
			"An equivalent index already exists with the same name but different options. %s", both)
	case x.Name == y.Name:
		return true, nil
	case signature && rest:
		return false, code.New(code.IndexOptionsConflict, "Index already exists with a different name: %s", y.Name)
	case signature:
		return false, code.New(code.IndexOptionsConflict,
			"An equivalent index already exists with a different name and options. %s", both)
	}
	return false, nil
}
