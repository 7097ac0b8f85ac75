package rest

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
)

func databaseVersion(db *catalog.Database) access.Version {
	return access.Version{Sequence: db.Sequence, Stamp: db.Stamp}
}

func listDatabases(e *exchange) (int, error) {
	list := e.api.catalog.Databases()
	e.sendDatabaseQuota(len(list))
	return answerFeed(e, rid{}, "Databases", list,
		func(db *catalog.Database) uint64 { return uint64(db.ID) },
		func(db *catalog.Database) error { e.appendDatabase(db); return nil })
}

// sendDatabaseQuota sends the number of databases and its limit.
func (e *exchange) sendDatabaseQuota(have int) {
	e.set(outQuota, fmt.Sprintf("databases=%d;", catalog.MaxDatabases))
	e.set(outUsage, fmt.Sprintf("databases=%d;", have))
}

func createDatabase(e *exchange) (int, error) {
	d, err := e.object()
	if err != nil {
		return 0, err
	}
	name, err := nameOf(d)
	if err != nil {
		return 0, err
	}
	throughput, err := e.throughput()
	if err != nil {
		return 0, err
	}
	db, err := e.api.catalog.CreateDatabase(e.audited(), e.now, name, throughput.body())
	if err != nil {
		return 0, err
	}
	e.charge(4.95)
	return e.answerDatabase(db, http.StatusCreated)
}

func readDatabase(e *exchange) (int, error) {
	if err := e.checkConditions(databaseVersion(e.database)); err != nil {
		return 0, err
	}
	return e.answerDatabase(e.database, http.StatusOK)
}

func deleteDatabase(e *exchange) (int, error) {
	if err := e.checkConditions(databaseVersion(e.database)); err != nil {
		return 0, err
	}
	e.charge(4.95)
	if slices.ContainsFunc(e.api.catalog.Containers(e.database),
		func(c *catalog.Container) bool { return isMongo(c.State()) }) {
		return 0, errMongoDatabase
	}
	return http.StatusNoContent, e.api.catalog.DeleteDatabase(e.audited(), e.database)
}

func (e *exchange) answerDatabase(db *catalog.Database, status int) (int, error) {
	e.sendDatabaseQuota(len(e.api.catalog.Databases()))
	e.etag(databaseVersion(db))
	e.appendDatabase(db)
	return status, nil
}

// appendDatabase renders {id,_rid,_self,_etag,_colls,_users,_ts}.
func (e *exchange) appendDatabase(db *catalog.Database) {
	r := databaseRID(db)
	b := appendText(e.reply, "id", db.Name)
	b[len(e.reply)] = '{' // replaces the first comma
	b = appendRID(b, "_rid", r)
	b = appendSelf(b, link{"dbs", r})
	b = appendETagMember(b, databaseVersion(db))
	b = append(b, `,"_colls":"colls/","_users":"users/"`...)
	e.reply = append(appendStamp(b, db.Stamp), '}')
}
