package copying

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/transfer"
)

// A mongoPair is two endpoints of MongoDB.
type mongoPair struct {
	o        *Options
	from, to *mongo.Client
	admin    bool // both are a mayfly with a known admin API
}

func openMongo(o *Options) (pair, error) {
	from, err := o.From.mongo()
	if err != nil {
		return nil, err
	}
	to, err := o.To.mongo()
	if err != nil {
		return nil, errors.Join(err, from.Disconnect(context.Background()))
	}
	return &mongoPair{o, from, to, o.FromAdmin != nil && o.ToAdmin != nil}, nil
}

func (p *mongoPair) close() {
	_ = p.from.Disconnect(context.Background()) // nothing is under way
	_ = p.to.Disconnect(context.Background())
}

// selectionTimeout is how long a copy waits for a server if the URI does not say. The driver would wait for 30 s.
const selectionTimeout = 10 * time.Second

func (e Endpoint) mongo() (*mongo.Client, error) {
	o := options.Client().ApplyURI(e.URL)
	if o.ServerSelectionTimeout == nil {
		o.SetServerSelectionTimeout(selectionTimeout)
	}
	trust, err := e.tls()
	if err != nil {
		return nil, err
	}
	if o.TLSConfig != nil && trust != nil {
		o.TLSConfig.RootCAs, o.TLSConfig.InsecureSkipVerify = trust.RootCAs, trust.InsecureSkipVerify
	}
	return mongo.Connect(o)
}

// ownDatabases belong to the server.
var ownDatabases = map[string]bool{"admin": true, "config": true, "local": true}

// list gives collections before views, which need them.
func (p *mongoPair) list(ctx context.Context) (found []name, err error) {
	dbs := []string{p.o.From.DB}
	if dbs[0] == "" {
		if dbs, err = p.from.ListDatabaseNames(ctx, bson.D{}); err != nil {
			return nil, err
		}
		dbs = slices.DeleteFunc(dbs, func(db string) bool { return ownDatabases[db] })
	}
	slices.Sort(dbs)
	var views []name
	for _, db := range dbs {
		filter := bson.D{}
		if p.o.From.Container != "" {
			filter = bson.D{{Key: "name", Value: p.o.From.Container}}
		}
		specs, err := p.from.Database(db).ListCollectionSpecifications(ctx, filter)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(specs, func(a, b mongo.CollectionSpecification) int { return strings.Compare(a.Name, b.Name) })
		for _, s := range specs {
			switch {
			case strings.HasPrefix(s.Name, "system."):
			case s.Type == "view":
				views = append(views, name{db, s.Name})
			default:
				found = append(found, name{db, s.Name})
			}
		}
	}
	return append(found, views...), nil
}

// A collection is the definition of one.
type collection struct {
	kind    string
	options bson.Raw
	indexes map[string]bson.Raw // by name, without the one on _id
}

// lives are the indexes that end documents, in order.
func (c *collection) lives() (all []string) {
	for _, spec := range c.indexes {
		if _, err := spec.LookupErr("expireAfterSeconds"); err == nil {
			all = append(all, orderedBSON(plainIndex(spec)))
		}
	}
	slices.Sort(all)
	return all
}

// readCollection gives the definition of a collection; nil if it does not exist.
func readCollection(ctx context.Context, db *mongo.Database, of string) (*collection, error) {
	specs, err := db.ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: of}})
	if err != nil || len(specs) == 0 {
		return nil, err
	}
	c := &collection{kind: specs[0].Type, options: specs[0].Options, indexes: map[string]bson.Raw{}}
	if c.kind == "view" {
		return c, nil
	}
	cursor, err := db.Collection(of).Indexes().List(ctx)
	if err != nil {
		return nil, err
	}
	var list []bson.Raw
	if err := cursor.All(ctx, &list); err != nil {
		return nil, err
	}
	for _, spec := range list {
		if index, _ := spec.Lookup("name").StringValueOK(); index != "_id_" {
			c.indexes[index] = spec
		}
	}
	return c, nil
}

func (p *mongoPair) missing(ctx context.Context, j *job) (bool, error) {
	target, err := readCollection(ctx, p.to.Database(j.to.db), j.to.container)
	return target == nil, err
}

func (p *mongoPair) prepare(ctx context.Context, j *job) error {
	source, err := readCollection(ctx, p.from.Database(j.from.db), j.from.container)
	if err != nil {
		return err
	}
	if source == nil {
		return ErrNothing
	}
	j.part.View = source.kind == "view"
	if source.kind == "timeseries" {
		return errors.New("a time series collection cannot be copied, since its documents have no _id to go on from: " +
			"exclude it with --exclude, and use mongodump")
	}
	if err := p.checkLives(source); err != nil {
		return err
	}
	db := p.to.Database(j.to.db)
	target, err := readCollection(ctx, db, j.to.container)
	switch {
	case err != nil:
		return err
	case target != nil && p.o.IntoExisting:
		if p.o.Lives == KeepLives && !slices.Equal(source.lives(), target.lives()) {
			return errors.New("the target has other indexes with expireAfterSeconds: give it those of the source, " +
				"or copy with --lives restart")
		}
		return nil
	case target != nil && !j.part.Created:
		if what := collectionDifferences(source, target); len(what) > 0 {
			return &DifferentError{j.to.String(), what}
		}
		return nil
	}
	if target == nil {
		if err := j.begin(); err != nil {
			return err
		}
	}
	j.part.Created = true
	if p.o.DryRun {
		return nil
	}
	if target == nil {
		if err := createCollection(ctx, db, j.to.container, source); err != nil {
			return err
		}
	}
	return createIndexes(ctx, db, j.to.container, source)
}

// checkLives refuses what cannot keep its lives: with an index on `_ts` they count from the last write, which no
// command of MongoDB shows. A date in a document is the same on both sides.
func (p *mongoPair) checkLives(source *collection) error {
	if p.o.Lives == RestartLives || p.admin {
		return nil
	}
	for _, spec := range source.indexes {
		key, _ := spec.Lookup("key").DocumentOK()
		first, err := key.IndexErr(0)
		if err == nil && first.Key() == "_ts" && spec.Lookup("expireAfterSeconds").IsNumber() {
			return errors.New("lives count from the last write here (an index on _ts), which MongoDB's protocol does " +
				"not show: name the admin APIs with --from-admin and --to-admin, or copy with --lives restart")
		}
	}
	return nil
}

func createCollection(ctx context.Context, db *mongo.Database, as string, c *collection) error {
	command := bson.D{{Key: "create", Value: as}}
	elements, err := c.options.Elements()
	if len(c.options) > 0 && err != nil {
		return err
	}
	for _, e := range elements {
		command = append(command, bson.E{Key: e.Key(), Value: e.Value()})
	}
	return db.RunCommand(ctx, command).Err()
}

func createIndexes(ctx context.Context, db *mongo.Database, of string, c *collection) error {
	if len(c.indexes) == 0 {
		return nil
	}
	var list bson.A
	for _, index := range slices.Sorted(maps.Keys(c.indexes)) {
		list = append(list, plainIndex(c.indexes[index]))
	}
	return db.RunCommand(ctx, bson.D{{Key: "createIndexes", Value: of}, {Key: "indexes", Value: list}}).Err()
}

// plainIndex is an index without what the server adds.
func plainIndex(spec bson.Raw) (d bson.D) {
	elements, _ := spec.Elements() // the driver has checked it
	for _, e := range elements {
		if e.Key() != "v" && e.Key() != "ns" && e.Key() != "background" {
			d = append(d, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	return d
}

// collectionDifferences says in words in which properties two collections differ.
func collectionDifferences(source, target *collection) (what []string) {
	if source.kind != target.kind {
		return []string{fmt.Sprintf("the source is a %s, the target a %s", source.kind, target.kind)}
	}
	if a, b := plainBSON(source.options), plainBSON(target.options); a != b {
		what = append(what, fmt.Sprintf("options: the source has %s, the target %s", a, b))
	}
	both := maps.Clone(source.indexes)
	maps.Copy(both, target.indexes)
	for _, index := range slices.Sorted(maps.Keys(both)) {
		a, b := "nothing", "nothing"
		if spec, ok := source.indexes[index]; ok {
			a = orderedBSON(plainIndex(spec))
		}
		if spec, ok := target.indexes[index]; ok {
			b = orderedBSON(plainIndex(spec))
		}
		if a != b {
			what = append(what, fmt.Sprintf("index %s: the source has %s, the target %s", index, a, b))
		}
	}
	return what
}

// plainBSON is a document as JSON with sorted members.
func plainBSON(d any) string {
	text, err := bson.MarshalExtJSON(d, false, false)
	if err != nil {
		return "nothing"
	}
	if v := bare(decode(text)); v != nil {
		return canonical(v)
	}
	return "nothing"
}

// orderedBSON is plainBSON with the key of an index in its order, which means something.
func orderedBSON(spec bson.D) string {
	for i, e := range spec {
		if raw, ok := e.Value.(bson.RawValue); ok && e.Key == "key" {
			spec[i].Value = raw.String()
		}
	}
	return plainBSON(spec)
}

func (p *mongoPair) items(ctx context.Context, j *job, acknowledge func() error) error {
	from := p.from.Database(j.from.db).Collection(j.from.container)
	total, err := from.EstimatedDocumentCount(ctx)
	if err != nil {
		return err
	}
	p.o.progress(j.part, total)
	if p.admin && p.o.Lives == KeepLives && !p.o.DryRun {
		source := &transfer.Remote{Send: p.o.FromAdmin, Database: j.from.db, Container: j.from.container}
		target := &transfer.Remote{Send: p.o.ToAdmin, Database: j.to.db, Container: j.to.container}
		return copyLines(ctx, source, target, j, acknowledge)
	}
	cursor, behind, err := documentsAfter(ctx, from, j.state.Last)
	if err != nil {
		return err
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	w := &mongoWriter{to: p.to.Database(j.to.db).Collection(j.to.container), pretend: p.o.DryRun}
	for more := true; more; {
		if more = cursor.Next(ctx); more {
			if behind != nil {
				if cursor.Current.Lookup("_id").Equal(*behind) {
					behind = nil
				}
				continue
			}
			w.add(cursor.Current)
		}
		if err := cursor.Err(); err != nil {
			return err
		}
		if behind != nil {
			return errGone
		}
		if len(w.batch) == 0 || more && len(w.batch) < p.o.Batch && w.bytes < batchBytes {
			continue
		}
		if err := ctx.Err(); err != nil { // the cursor has more without asking
			return err
		}
		writing, done := lasting(ctx)
		err := w.flush(writing, j)
		done()
		if err != nil {
			return err
		}
		if err := acknowledge(); err != nil {
			return err
		}
	}
	return nil
}

// errGone is the error for a source that cannot compare and no longer has the document that the copy had reached.
var errGone = errors.New("the source has no $expr to go on with, and the last document that was copied is gone: " +
	"copy with --restart")

// codeNotImplemented is the answer of FerretDB to operators that it lacks.
const codeNotImplemented = 238

// documentsAfter reads the documents whose _id follows another one, nil for all of them, in that order. If the source
// cannot compare them, behind is the _id that the cursor passes on its way, and what comes before is not wanted.
func documentsAfter(
	ctx context.Context, of *mongo.Collection, last json.RawMessage,
) (cursor *mongo.Cursor, behind *bson.RawValue, err error) {
	inOrder := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	if last == nil {
		cursor, err = of.Find(ctx, bson.D{}, inOrder)
		return cursor, nil, err
	}
	var d bson.Raw
	if err := bson.UnmarshalExtJSON(last, true, &d); err != nil {
		return nil, nil, errCheckpoint
	}
	id, err := d.LookupErr("_id")
	if err != nil {
		return nil, nil, errCheckpoint
	}
	cursor, err = of.Find(ctx, after(id), inOrder)
	if server, ok := errors.AsType[mongo.ServerError](err); ok && server.HasErrorCode(codeNotImplemented) {
		cursor, err = of.Find(ctx, bson.D{}, inOrder)
		return cursor, &id, err
	}
	return cursor, nil, err
}

var errCheckpoint = errors.New("the last _id of the checkpoint cannot be read: copy with --restart")

// after selects documents whose _id follows another one in the order of all types; $gt in a filter stays within a type.
func after(id bson.RawValue) bson.D {
	value := bson.D{{Key: "$literal", Value: id}}
	return bson.D{{Key: "$expr", Value: bson.D{{Key: "$gt", Value: bson.A{"$_id", value}}}}}
}
