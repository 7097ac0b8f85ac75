package rest

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
)

// users own permissions and have only a name.
var users = &namedKind{
	kind: catalog.User, feed: "Users", owner: userOwner,
	content: func(*exchange, ownerLinks, doc.Doc, *catalog.Resource) (doc.Doc, error) {
		return objectOf(nil).Data, nil
	},
	system: func(_ *exchange, dst []byte, _ *catalog.Resource) ([]byte, error) {
		return append(dst, `,"_permissions":"permissions/"`...), nil
	},
	rid: func(of ownerLinks, r *catalog.Resource) rid { return rid{database: of.owner.Database, user: r.Number} },
}

func userOwner(e *exchange) (ownerLinks, error) {
	r := databaseRID(e.database)
	return ownerLinks{
		owner: catalog.Owner{Database: e.database.ID}, rid: r, segment: "users",
		links: []link{{"dbs", r}},
	}, nil
}
