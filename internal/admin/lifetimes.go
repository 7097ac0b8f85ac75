package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
	"github.com/mayflydb/mayfly/internal/store"
)

// lifetimes says until when the items of a page live; asked is when its query began. Rows whose item has ended since
// are dropped: the page holds at the instant now.
func (a *admin) lifetimes(
	r *http.Request, c *catalog.Container, asked int64, page itemPage,
) (kept []json.RawMessage, lives []foresight.RowLife, now int64, err error) {
	if a.Foresight == nil {
		return nil, nil, 0, missing("foresight")
	}
	rows := page.rows
	if rows == nil {
		rows = a.rowsOfNoSQL(c, page.Items)
	}
	err = a.Foresight(r.Context(), func(ctx context.Context, f *foresight.Foresight) error {
		present, err := f.Container(r.PathValue("db"), r.PathValue("c"))
		if err != nil {
			return err
		}
		if present != c {
			return fault.New(fault.Conflict, "the container was replaced by another one of its name: ask again")
		}
		lives, now, err = f.Lifetimes(ctx, c, asked, a.Clock.Now().Unix(), rows)
		return err
	})
	if err != nil {
		return nil, nil, 0, err
	}
	kept = []json.RawMessage{}
	for i, item := range page.Items {
		if !lives[i].Gone {
			kept = append(kept, item)
		}
	}
	lives = slices.DeleteFunc(lives, func(l foresight.RowLife) bool { return l.Gone })
	return kept, lives, now, nil
}

// rowsOfNoSQL says which item each row of the API for NoSQL names: by its _rid, else by id and partition key, or by the
// _id of MongoDB.
func (a *admin) rowsOfNoSQL(c *catalog.Container, items []json.RawMessage) []foresight.Row {
	rows := make([]foresight.Row, len(items))
	for i, item := range items {
		var members map[string]json.RawMessage
		if json.Unmarshal(item, &members) == nil {
			rows[i] = a.rowOf(c, item, members)
		}
	}
	return rows
}

func (a *admin) rowOf(c *catalog.Container, item []byte, members map[string]json.RawMessage) (row foresight.Row) {
	if isView(c) {
		return row
	}
	if raw, ok := members["_rid"]; ok {
		var rid string
		if json.Unmarshal(raw, &rid) == nil && a.ItemNumber != nil {
			row.Number, row.Named = a.ItemNumber(c, rid)
		}
		row.Sure = row.Named
		return row
	}
	if isMongo(c) {
		if raw, ok := members["_id"]; ok {
			if id, err := valueOf(raw, "_id"); err == nil {
				row.Key, row.Named = identityKey(id), true
			}
		}
		return row
	}
	var id string
	if raw, ok := members["id"]; !ok || json.Unmarshal(raw, &id) != nil || id == "" {
		return row
	}
	key, err := partitionKeyOf(c, item)
	if err != nil {
		return row
	}
	var parts []json.RawMessage
	_ = json.Unmarshal([]byte(key), &parts) // it has just been made
	if slices.ContainsFunc(parts, func(part json.RawMessage) bool { return string(part) == "{}" }) {
		return row
	}
	row.Key, err = foresight.ItemKey(c, id, key)
	row.Named = err == nil
	return row
}

func identityKey(id bson.RawValue) store.Key {
	return store.Identity(doc.Value{Type: bsoncore.Type(id.Type), Data: id.Value})
}

// rowsOfMongo says which document each row of the API for MongoDB names: by its _id, in a container with partitions by
// the partition key, too.
func rowsOfMongo(c *catalog.Container, batch []bson.Raw, keeps identityKept) []foresight.Row {
	rows := make([]foresight.Row, len(batch))
	for i, d := range batch {
		id, err := d.LookupErr("_id")
		switch {
		case err != nil || keeps == identityMade || isView(c):
		case isMongo(c):
			rows[i] = foresight.Row{Ref: store.Ref{Key: identityKey(id)}, Named: true, Sure: true}
		default:
			text, ok := id.StringValueOK()
			key := store.Key{ID: text}
			for _, path := range c.State().PartitionPaths() {
				v := path.Lookup(doc.Doc(d))
				scalar := !doc.IsUndefined(v) && v.Type != bsoncore.TypeEmbeddedDocument && !doc.IsArray(v)
				ok = ok && scalar
				key.Partition = append(key.Partition, v)
			}
			rows[i] = foresight.Row{Ref: store.Ref{Key: key}, Named: ok && text != "", Sure: keeps == allKept}
		}
	}
	return rows
}

// identityKept is what a command of the API for MongoDB makes of documents.
type identityKept int

const (
	identityMade identityKept = iota // _id may be another value than that of a document
	justIdentity                     // it is that of a document; other members may be made
	allKept                          // members are those of a document
)

// keepsIdentity says what find or aggregate makes of documents.
func keepsIdentity(command bson.D) identityKept {
	if command[0].Key == "find" {
		for _, e := range command {
			if e.Key == "projection" {
				projection, _ := e.Value.(bson.RawValue)
				return keptBy("$project", projection)
			}
		}
		return allKept
	}
	pipeline, _ := command[1].Value.(bson.RawValue)
	stages, _ := pipeline.ArrayOK()
	values, _ := stages.Values()
	least := allKept
	for _, stage := range values {
		d, _ := stage.DocumentOK()
		elements, err := d.Elements()
		if err != nil || len(elements) != 1 {
			return identityMade
		}
		least = min(least, keptBy(elements[0].Key(), elements[0].Value()))
	}
	return least
}

// keptBy says what a stage makes of documents. A stage that is not known here may make anything.
func keptBy(stage string, spec bson.RawValue) identityKept {
	switch stage {
	case "$match", "$sort", "$limit", "$skip", "$sample":
		return allKept
	case "$project", "$addFields", "$set":
		d, _ := spec.DocumentOK()
		elements, err := d.Elements()
		if err != nil {
			return identityMade
		}
		for _, e := range elements {
			shown := e.Value().IsNumber() || e.Value().Type == bson.TypeBoolean
			if isIdentity(e.Key()) && (stage != "$project" || !shown || e.Key() != "_id") {
				return identityMade
			}
		}
		return justIdentity
	case "$unset":
		values := []bson.RawValue{spec}
		if names, ok := spec.ArrayOK(); ok {
			values, _ = names.Values()
		}
		for _, v := range values {
			if name, ok := v.StringValueOK(); !ok || isIdentity(name) && name != "_id" {
				return identityMade
			}
		}
		return justIdentity
	}
	return keptByJoin(stage, spec)
}

// keptByJoin is keptBy for the stages that put values from elsewhere into documents.
func keptByJoin(stage string, spec bson.RawValue) identityKept {
	if stage != "$unwind" && stage != "$lookup" && stage != "$graphLookup" {
		return identityMade
	}
	if path, ok := spec.StringValueOK(); ok {
		spec = bson.RawValue{}
		if isIdentity(strings.TrimPrefix(path, "$")) {
			return identityMade
		}
	}
	d, _ := spec.DocumentOK()
	for _, member := range []string{"path", "includeArrayIndex", "as", "depthField"} {
		if name, _ := d.Lookup(member).StringValueOK(); isIdentity(strings.TrimPrefix(name, "$")) {
			return identityMade
		}
	}
	return justIdentity
}

// isIdentity reports whether a path is _id, or is in it.
func isIdentity(path string) bool { return path == "_id" || strings.HasPrefix(path, "_id.") }
