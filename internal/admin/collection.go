package admin

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// createCollection creates a container of MongoDB. Without options it is created with its indexes or not at all. With
// options, it stays if its indexes cannot be made: the command create is content with a collection of the same options,
// so it may be another client's.
func (a *admin) createCollection(ctx context.Context, db string, head definitionHead) error {
	command := bson.D{{Key: "create", Value: head.ID}}
	if head.Options != nil {
		options, err := bsonOf(head.Options, "options")
		if err != nil {
			return err
		}
		elements, err := options.Elements()
		if err != nil {
			return err
		}
		for _, e := range elements {
			if strings.HasPrefix(e.Key(), "$") {
				return fault.New(fault.Invalid, "create has no option %q", e.Key())
			}
			command = append(command, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	indexes := bson.A{}
	for _, text := range head.Indexes {
		index, err := bsonOf(text, "an index")
		if err != nil {
			return err
		}
		if name, _ := index.Lookup("name").StringValueOK(); name != "_id_" {
			indexes = append(indexes, index)
		}
	}
	if head.DefaultTTL != nil {
		ttl := bson.D{{Key: "key", Value: bson.D{{Key: "_ts", Value: 1}}}, {Key: "name", Value: "_ts_1"},
			{Key: "expireAfterSeconds", Value: *head.DefaultTTL}}
		indexes = append(indexes, ttl)
	}
	plain := len(command) == 1
	if len(indexes) == 0 || !plain {
		if _, err := a.mongo(ctx, db, command); err != nil || len(indexes) == 0 {
			return err
		}
	}
	// By itself, createIndexes makes the collection too, and takes it back if the indexes cannot be.
	_, err := a.mongo(ctx, db, bson.D{{Key: "createIndexes", Value: head.ID}, {Key: "indexes", Value: indexes}})
	if err != nil && !plain {
		return fault.New(fault.KindOf(err), "the container exists now, without its indexes: %s", fault.Message(err))
	}
	return err
}

// replaceCollection gives a container of MongoDB the lifetime of a definition, and the indexes if the definition has
// any: others are dropped. put changes the lifetime. What cannot be done is found out first, and new indexes are made
// before anything ends or is dropped: they may fail because of the documents.
func (a *admin) replaceCollection(
	ctx context.Context, c *catalog.Container, head definitionHead, put nosqlCall,
) (*nosqlAnswer, error) {
	now, err := a.stateOf(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := sameOptions(now.Options, head.Options); err != nil {
		return nil, err
	}
	if head.Indexes == nil {
		return a.nosql(ctx, put)
	}
	if now.View {
		return nil, fault.New(fault.Invalid, "a view has no indexes: leave them out")
	}
	change, err := changeOfIndexes(now, head)
	if err != nil {
		return nil, err
	}
	if err := meets(put.header, now.ETag); err != nil {
		return nil, err
	}
	run := func(command string, more ...bson.E) error {
		_, err := a.mongo(ctx, now.Database, append(bson.D{{Key: command, Value: now.ID}}, more...))
		return err
	}
	if len(change.add) > 0 {
		if err := run("createIndexes", bson.E{Key: "indexes", Value: change.add}); err != nil {
			return nil, err
		}
	}
	put.header = nil // it has been met, and the new indexes have changed the ETag
	answer, err := a.nosql(ctx, put)
	if err != nil {
		for _, name := range change.added {
			_ = run("dropIndexes", bson.E{Key: "index", Value: name}) // the error is that of the lifetime
		}
		return nil, err
	}
	for _, index := range change.modify {
		if err := run("collMod", bson.E{Key: "index", Value: index}); err != nil {
			return nil, halfway(err)
		}
	}
	for _, name := range change.drop {
		if err := run("dropIndexes", bson.E{Key: "index", Value: name}); err != nil {
			return nil, halfway(err)
		}
	}
	return answer, nil
}

// halfway is the error of a change of which a part is done: lifetimes that end something cannot be taken back.
func halfway(err error) error {
	return fault.New(fault.KindOf(err), "the lifetime and the new indexes are in force, but not the rest: %s",
		fault.Message(err))
}

// meets checks If-Match and If-None-Match against the ETag of a container.
func meets(when http.Header, etag string) error {
	any := func(name string) (given, met bool) {
		values := when.Values(name)
		return len(values) > 0, slices.ContainsFunc(strings.Split(strings.Join(values, ","), ","), func(v string) bool {
			v = strings.TrimPrefix(strings.TrimSpace(v), "W/")
			return v == "*" || strings.Trim(v, `"`) == strings.Trim(etag, `"`)
		})
	}
	given, met := any("If-Match")
	_, refused := any("If-None-Match")
	if given && !met || refused {
		return fault.New(fault.Precondition, "the ETag is another one: read it again")
	}
	return nil
}

// sameOptions refuses other options than a collection has. Without options they stay.
func sameOptions(has, wants json.RawMessage) error {
	if wants == nil || string(wants) == "null" {
		return nil
	}
	asked, err := bsonOf(wants, "options")
	if err != nil {
		return err
	}
	var present bson.Raw
	if has != nil {
		if present, err = bsonOf(has, "options"); err != nil {
			return err
		}
	}
	if !maps.Equal(membersOf(asked), membersOf(present)) {
		return fault.New(fault.Unsupported, "the options of a collection are not changed here: "+
			"send them as they are, or leave them out, and change them with MongoDB's command collMod")
	}
	return nil
}

// membersOf are the members of a document as texts, so that numbers of all types are equal. What is false is left out:
// it is the default of every option.
func membersOf(d bson.Raw) map[string]string {
	members := map[string]string{}
	elements, _ := d.Elements() // it has just been made of a text
	for _, e := range elements {
		if on, ok := e.Value().BooleanOK(); ok && !on {
			continue
		}
		if n, ok := e.Value().AsFloat64OK(); ok {
			members[e.Key()] = strconv.FormatFloat(n, 'g', -1, 64)
			continue
		}
		members[e.Key()] = identityText(e.Value())
	}
	return members
}

// An indexChange is what has to be done so that a collection has the indexes of a definition.
type indexChange struct {
	add    bson.A
	added  []string
	modify []bson.D // for collMod
	drop   []string
}

// changeOfIndexes compares indexes by name. The one on _id stays, and the one on _ts is the same as defaultTtl.
func changeOfIndexes(now containerState, head definitionHead) (x indexChange, err error) {
	has, _, stampNow, err := indexesByName(now.Indexes)
	if err != nil {
		return x, err
	}
	wants, order, stamp, err := indexesByName(head.Indexes)
	if err != nil {
		return x, err
	}
	if err := checkStampIndex(stamp, stampNow, head.DefaultTTL); err != nil {
		return x, err
	}
	for _, name := range order {
		present, found := has[name]
		if !found {
			x.add, x.added = append(x.add, wants[name]), append(x.added, name)
			continue
		}
		change, err := modification(name, membersOf(present), membersOf(wants[name]), wants[name])
		if err != nil {
			return x, err
		}
		if change != nil {
			x.modify = append(x.modify, change)
		}
	}
	for name := range has {
		if _, stays := wants[name]; !stays {
			x.drop = append(x.drop, name)
		}
	}
	slices.Sort(x.drop)
	return x, nil
}

// indexesByName reads specifications. stamp is the lifetime of the index on _ts, "" without one.
func indexesByName(list []json.RawMessage) (found map[string]bson.Raw, order []string, stamp string, err error) {
	found = map[string]bson.Raw{}
	for _, text := range list {
		index, err := bsonOf(text, "an index")
		if err != nil {
			return nil, nil, "", err
		}
		name, _ := index.Lookup("name").StringValueOK()
		members := membersOf(index)
		switch seconds := members["expireAfterSeconds"]; {
		case name == "":
			return nil, nil, "", fault.New(fault.Invalid, "an index needs a name: %.200s", text)
		case found[name] != nil:
			return nil, nil, "", fault.New(fault.Invalid, "there are two indexes with the name %q", name)
		case name == "_id_":
		case members["key"] == `{"_ts":1}` && seconds != "":
			stamp = seconds
		default:
			found[name] = index
			order = append(order, name)
		}
	}
	return found, order, stamp, nil
}

// checkStampIndex refuses an index on _ts that contradicts defaultTtl. An old one is no contradiction: the sender has
// read the definition and changed defaultTtl.
func checkStampIndex(asked, now string, ttl *int64) error {
	switch {
	case asked == "", ttl != nil && (asked == strconv.FormatInt(*ttl, 10) || asked == now):
		return nil
	}
	return fault.New(fault.Invalid, "defaultTtl is the lifetime of the index on _ts, and the definition has both with "+
		"different values: change defaultTtl, and leave the index out")
}

// modification is what collMod has to change of an index; nil for nothing.
func modification(name string, is, wants map[string]string, spec bson.Raw) (bson.D, error) {
	for _, m := range []map[string]string{is, wants} {
		delete(m, "v")
		delete(m, "ns")
	}
	if maps.Equal(is, wants) {
		return nil, nil
	}
	change := bson.D{{Key: "name", Value: name}}
	if is["hidden"] != wants["hidden"] {
		change = append(change, bson.E{Key: "hidden", Value: wants["hidden"] != ""})
	}
	if is["expireAfterSeconds"] != wants["expireAfterSeconds"] && wants["expireAfterSeconds"] != "" {
		change = append(change, bson.E{Key: "expireAfterSeconds", Value: spec.Lookup("expireAfterSeconds")})
		is["expireAfterSeconds"] = wants["expireAfterSeconds"]
	}
	delete(is, "hidden")
	delete(wants, "hidden")
	if !maps.Equal(is, wants) {
		return nil, fault.New(fault.Exists, "there is an index %q already, with another definition: "+
			"give the new one another name, and leave the old one out", name)
	}
	return change, nil
}
