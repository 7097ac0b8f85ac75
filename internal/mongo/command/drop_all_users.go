package command

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func init() {
	register("dropAllUsersFromDatabase", command{run: dropAllUsers, help: "Takes all users of a database away.", needs: userAction})
}

func dropAllUsers(r *request, a *answer) error {
	n := 0
	for _, x := range r.s.o.Catalog.Resources(catalog.MongoUser, catalog.Owner{}) {
		name, ours := strings.CutPrefix(x.Name, r.db+".")
		if !ours {
			continue
		}
		err := r.changeUser(name, nil, true)
		if err != nil && !code.Is(err, code.UserNotFound) {
			return err
		}
		if err == nil {
			n++
		}
	}
	a.int32("n", n)
	return nil
}
