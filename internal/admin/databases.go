package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A database is a database as the API shows it.
type database struct {
	ID         string `json:"id"`
	Containers int    `json:"containers"`
}

func (a *admin) listDatabases(r *http.Request) (any, error) {
	if err := a.Catalog().Refresh(r.Context()); err != nil {
		return nil, err
	}
	list := struct {
		Databases []database `json:"databases"`
	}{[]database{}}
	for _, db := range a.Catalog().Databases() {
		list.Databases = append(list.Databases, a.showOf(db))
	}
	return list, nil
}

func (a *admin) showOf(db *catalog.Database) database {
	return database{db.Name, len(a.Catalog().Containers(db))}
}

func (a *admin) showDatabase(r *http.Request) (any, error) {
	db, err := a.database(r)
	if err != nil {
		return nil, err
	}
	return a.showOf(db), nil
}

// createDatabase takes {"id": "shop"}.
func (a *admin) createDatabase(w http.ResponseWriter, r *http.Request) error {
	body, err := read[struct{ ID string }](r, `{"id": "shop"}`)
	if err != nil {
		return err
	}
	text, _ := json.Marshal(map[string]string{"id": body.ID})
	call := nosqlCall{method: http.MethodPost, steps: []string{"dbs"}, body: text}
	if _, err := a.nosql(r.Context(), call); err != nil {
		return err
	}
	w.Header().Set("Location", Base+"/databases/"+url.PathEscape(body.ID))
	a.write(w, http.StatusCreated, database{ID: body.ID})
	return nil
}

// deleteDatabase deletes a database with all containers. Each API drops its own: only then do change streams report it.
// If that fails in the middle, the containers that are gone stay gone.
func (a *admin) deleteDatabase(w http.ResponseWriter, r *http.Request) error {
	db, err := a.database(r)
	if err != nil {
		return err
	}
	mongo, nosql := 0, 0
	for _, c := range a.Catalog().Containers(db) {
		if c.State().Dialect == catalog.Mongo {
			mongo++
		} else {
			nosql++
		}
	}
	if mongo > 0 && nosql == 0 {
		_, err = a.mongo(r.Context(), db.Name, bson.D{{Key: "dropDatabase", Value: 1}})
	} else {
		err = a.deleteMixed(r.Context(), db)
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// deleteMixed deletes a database that is not MongoDB's alone.
func (a *admin) deleteMixed(ctx context.Context, db *catalog.Database) error {
	for _, c := range a.Catalog().Containers(db) {
		if st := c.State(); st.Dialect == catalog.Mongo {
			if _, err := a.mongo(ctx, db.Name, bson.D{{Key: "drop", Value: st.Name}}); err != nil {
				return err
			}
		}
	}
	_, err := a.nosql(ctx, nosqlCall{method: http.MethodDelete, steps: []string{"dbs", db.Name}})
	return err
}

// database finds the database that a path names.
func (a *admin) database(r *http.Request) (*catalog.Database, error) {
	if err := a.Catalog().Refresh(r.Context()); err != nil {
		return nil, err
	}
	name := r.PathValue("db")
	db, err := a.Catalog().Database(name)
	if fault.KindOf(err) == fault.NotFound {
		return nil, fault.New(fault.NotFound, "there is no database %q", name)
	}
	return db, err
}

// container finds the container that a path names.
func (a *admin) container(r *http.Request) (*catalog.Container, error) {
	db, err := a.database(r)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("c")
	c, err := a.Catalog().Container(db, name)
	if fault.KindOf(err) == fault.NotFound {
		return nil, fault.New(fault.NotFound, "there is no container %q in the database %q", name, db.Name)
	}
	return c, err
}
