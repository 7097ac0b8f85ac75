package schema

import (
	"cmp"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// Containers lists the containers of a database, none if the database does not exist.
func Containers(n *session.Node, db string) ([]*catalog.Container, error) {
	d, err := n.Catalog.Database(db)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return n.Catalog.Containers(d), nil
}

// Describe is a container as listCollections shows it.
func Describe(c *catalog.Container, nameOnly bool) doc.Doc {
	st, isView := c.State(), query.ViewOf(c) != nil
	a := doc.NewWriter(nil)
	a.String("name", st.Name)
	if isView {
		a.String("type", "view")
	} else {
		a.String("type", "collection")
	}
	if nameOnly {
		return a.End()
	}
	a.Object("options")
	if st.Dialect == catalog.Mongo {
		a.Members(st.Echo)
	}
	a.Close()
	a.Object("info")
	a.Bool("readOnly", isView || st.Dialect != catalog.Mongo)
	if !isView {
		a.Value("uuid", write.UUIDOf(c))
	}
	a.Close()
	if !isView {
		a.Object("idIndex")
		a.Int32("v", 2)
		a.Object("key")
		a.Int32("_id", 1)
		a.Close()
		a.String("name", "_id_")
		a.Close()
	}
	return a.End()
}

// Databases lists the databases that have containers, by name. In MongoDB an empty database does not exist.
func Databases(n *session.Node) []*catalog.Database {
	list := slices.DeleteFunc(n.Catalog.Databases(), func(d *catalog.Database) bool {
		return len(n.Catalog.Containers(d)) == 0
	})
	slices.SortFunc(list, func(x, y *catalog.Database) int { return cmp.Compare(x.Name, y.Name) })
	return list
}
