package mongo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// What the driver's own methods send is in the Stable API, save what the manual leaves out.
func TestStableAPI(t *testing.T) {
	s := start(t, "--memory", "--mongo-replset", "rs0")
	api := options.ServerAPI(options.ServerAPIVersion1).SetStrict(true).SetDeprecationErrors(true)
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + s.mongo +
		"/?replicaSet=rs0").SetServerAPIOptions(api).SetTimeout(patience))
	must(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	ctx := t.Context()
	db := client.Database("app")
	c := db.Collection("things")
	steps := []struct {
		name string
		do   func() error
	}{
		{"ping", func() error { return client.Ping(ctx, nil) }},
		{"create", func() error { return db.CreateCollection(ctx, "made") }},
		{"create a view", func() error {
			return db.CreateView(ctx, "seen", "things", mongo.Pipeline{{{Key: "$match", Value: bson.D{}}}})
		}},
		{"create indexes", func() error {
			_, err := c.Indexes().CreateMany(ctx, []mongo.IndexModel{
				{Keys: bson.D{{Key: "a", Value: 1}}, Options: options.Index().SetUnique(true)},
				{Keys: bson.D{{Key: "end", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(100)},
				{Keys: bson.D{{Key: "p", Value: 1}},
					Options: options.Index().SetPartialFilterExpression(bson.D{{Key: "p",
						Value: bson.D{{Key: "$gt", Value: 1}}}})},
			})
			return err
		}},
		{"insert one", func() error {
			_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: 1}})
			return err
		}},
		{"insert many", func() error {
			_, err := c.InsertMany(ctx,
				[]any{bson.D{{Key: "a", Value: 2}}, bson.D{{Key: "a", Value: 3}}, bson.D{{Key: "a", Value: 4}}})
			return err
		}},
		{"find one", func() error { return c.FindOne(ctx, bson.D{{Key: "_id", Value: 1}}).Err() }},
		{"find and get more", func() error {
			return readAll(c.Find(ctx, bson.D{},
				options.Find().SetBatchSize(2).SetSort(bson.D{{Key: "a", Value: 1}}).SetProjection(bson.D{{Key: "a",
					Value: 1}}).SetCollation(&options.Collation{Locale: "simple"})))
		}},
		{"kill a cursor", func() error {
			cur, err := c.Find(ctx, bson.D{}, options.Find().SetBatchSize(1))
			if err != nil {
				return err
			}
			return cur.Close(ctx)
		}},
		{"update", func() error {
			_, err := c.UpdateMany(ctx, bson.D{}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}})
			return err
		}},
		{"update by pipeline", func() error {
			_, err := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}},
				mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "b", Value: "$a"}}}}})
			return err
		}},
		{"array filters", func() error {
			_, err := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}},
				bson.D{{Key: "$set", Value: bson.D{{Key: "l", Value: bson.A{1, 2}}}}})
			if err != nil {
				return err
			}
			_, err = c.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}},
				bson.D{{Key: "$set", Value: bson.D{{Key: "l.$[x]", Value: 3}}}},
				options.UpdateOne().SetArrayFilters([]any{bson.D{{Key: "x", Value: 2}}}).SetUpsert(true))
			return err
		}},
		{"replace", func() error {
			_, err := c.ReplaceOne(ctx, bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "a", Value: 9}})
			return err
		}},
		{"find and modify", func() error {
			return c.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: 1}},
				bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}},
				options.FindOneAndUpdate().SetReturnDocument(options.After)).Err()
		}},
		{"bulk write", func() error {
			_, err := c.BulkWrite(ctx,
				[]mongo.WriteModel{mongo.NewInsertOneModel().SetDocument(bson.D{{Key: "a", Value: 20}}),
					mongo.NewDeleteOneModel().SetFilter(bson.D{{Key: "a", Value: 20}})})
			return err
		}},
		{"count documents", func() error { _, err := c.CountDocuments(ctx, bson.D{}); return err }},
		{"estimated count", func() error { _, err := c.EstimatedDocumentCount(ctx); return err }},
		{"aggregate", func() error {
			return readAll(c.Aggregate(ctx, mongo.Pipeline{
				{{Key: "$match", Value: bson.D{{Key: "a", Value: bson.D{{Key: "$gt", Value: 0}}}}}},
				{{Key: "$lookup",
					Value: bson.D{{Key: "from", Value: "things"}, {Key: "localField", Value: "a"},
						{Key: "foreignField", Value: "a"}, {Key: "as", Value: "l"}}}},
				{{Key: "$unwind", Value: "$l"}},
				{{Key: "$group",
					Value: bson.D{{Key: "_id", Value: "$a"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
				{{Key: "$facet", Value: bson.D{{Key: "x", Value: bson.A{bson.D{{Key: "$count", Value: "n"}}}}}}},
				{{Key: "$unionWith", Value: "made"}}, {{Key: "$set", Value: bson.D{{Key: "t", Value: "$$NOW"}}}},
			}, options.Aggregate().SetBatchSize(1)))
		}},
		{"merge", func() error {
			return readAll(c.Aggregate(ctx, mongo.Pipeline{{{Key: "$merge", Value: "merged"}}}))
		}},
		{"out", func() error { return readAll(c.Aggregate(ctx, mongo.Pipeline{{{Key: "$out", Value: "out"}}})) }},
		{"view", func() error { return readAll(db.Collection("seen").Find(ctx, bson.D{})) }},
		{"list collections", func() error { _, err := db.ListCollectionNames(ctx, bson.D{}); return err }},
		{"list databases", func() error { _, err := client.ListDatabaseNames(ctx, bson.D{}); return err }},
		{"list indexes", func() error { return readAll(c.Indexes().List(ctx)) }},
		{"drop an index", func() error { return c.Indexes().DropOne(ctx, "a_1") }},
		{"transaction", func() error {
			return client.UseSession(ctx, func(ctx context.Context) error {
				_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
					made := db.Collection("inside")
					if _, err := made.InsertMany(ctx,
						[]any{bson.D{{Key: "a", Value: 1}}, bson.D{{Key: "a", Value: 2}},
							bson.D{{Key: "a", Value: 3}}}); err != nil {
						return nil, err
					}
					if err := readAll(c.Aggregate(ctx, mongo.Pipeline{{{Key: "$unionWith", Value: "inside"}},
						{{Key: "$lookup",
							Value: bson.D{{Key: "from", Value: "inside"}, {Key: "localField", Value: "a"},
								{Key: "foreignField", Value: "a"}, {Key: "as", Value: "l"}}}}})); err != nil {
						return nil, err
					}
					if _, err := made.UpdateMany(ctx, bson.D{},
						bson.D{{Key: "$inc", Value: bson.D{{Key: "a", Value: 1}}}}); err != nil {
						return nil, err
					}
					return nil, readAll(made.Find(ctx, bson.D{}, options.Find().SetBatchSize(1)))
				})
				return err
			})
		}},
		{"aborted transaction", func() error {
			return client.UseSession(ctx, func(ctx context.Context) error {
				session := mongo.SessionFromContext(ctx)
				if err := session.StartTransaction(); err != nil {
					return err
				}
				if _, err := c.InsertOne(ctx, bson.D{{Key: "a", Value: 100}}); err != nil {
					return err
				}
				return session.AbortTransaction(ctx)
			})
		}},
		{"GridFS", func() error {
			bucket := db.GridFSBucket()
			id, err := bucket.UploadFromStream(ctx, "f", bytes.NewReader(make([]byte, 600<<10)))
			if err != nil {
				return err
			}
			if _, err := bucket.DownloadToStream(ctx, id, io.Discard); err != nil {
				return err
			}
			if err := bucket.Rename(ctx, id, "g"); err != nil {
				return err
			}
			return bucket.Delete(ctx, id)
		}},
		{"change stream of a collection", func() error {
			return watchOnce(ctx, c, func(o *options.ChangeStreamOptionsBuilder) (*mongo.ChangeStream, error) {
				return c.Watch(ctx, mongo.Pipeline{}, o)
			})
		}},
		{"change stream of a database", func() error {
			return watchOnce(ctx, c, func(o *options.ChangeStreamOptionsBuilder) (*mongo.ChangeStream, error) {
				return db.Watch(ctx, mongo.Pipeline{}, o)
			})
		}},
		{"change stream of all", func() error {
			return watchOnce(ctx, c, func(o *options.ChangeStreamOptionsBuilder) (*mongo.ChangeStream, error) {
				return client.Watch(ctx, mongo.Pipeline{}, o)
			})
		}},
		{"delete", func() error { _, err := c.DeleteMany(ctx, bson.D{}); return err }},
		{"explain", func() error {
			return db.RunCommand(ctx, bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: "things"}}}}).Err()
		}},
		{"collMod", func() error {
			return db.RunCommand(ctx,
				bson.D{{Key: "collMod", Value: "things"}, {Key: "validationLevel", Value: "off"}}).Err()
		}},
		{"drop", func() error { return c.Drop(ctx) }},
		{"drop the database", func() error { return db.Drop(ctx) }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
	}
	for name, do := range map[string]func() error{
		"distinct": func() error { return c.Distinct(ctx, "a", bson.D{}).Err() },
		"sparse": func() error {
			_, err := c.Indexes().CreateOne(ctx,
				mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}, Options: options.Index().SetSparse(true)})
			return err
		},
		"noTimeout": func() error { return readAll(c.Find(ctx, bson.D{}, options.Find().SetNoCursorTimeout(true))) },
		"$collStats": func() error {
			return readAll(c.Aggregate(ctx,
				mongo.Pipeline{{{Key: "$collStats", Value: bson.D{{Key: "storageStats", Value: bson.D{}}}}}}))
		},
		"buildInfo": func() error { return db.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Err() },
		"$indexStats": func() error {
			return readAll(c.Aggregate(ctx, mongo.Pipeline{{{Key: "$indexStats", Value: bson.D{}}}}))
		},
	} {
		var e mongo.CommandError
		if err := do(); !asCommandError(err, &e) || e.Code != 323 {
			t.Errorf("%s: %v, want APIStrictError", name, err)
		}
	}
}

func asCommandError(err error, e *mongo.CommandError) bool { return errors.As(err, e) }

// readAll reads a cursor to its end.
func readAll(cur *mongo.Cursor, err error) error {
	if err != nil {
		return err
	}
	var all []bson.Raw
	return cur.All(context.Background(), &all)
}

// watchOnce opens a change stream, sees one change in it, and resumes behind that.
func watchOnce(
	ctx context.Context, c *mongo.Collection,
	open func(*options.ChangeStreamOptionsBuilder) (*mongo.ChangeStream, error),
) error {
	cs, err := open(options.ChangeStream().SetFullDocument(options.UpdateLookup))
	if err != nil {
		return err
	}
	defer cs.Close(ctx)
	if _, err := c.InsertOne(ctx,
		bson.D{{Key: "w", Value: bson.NewObjectID()}, {Key: "a", Value: bson.NewObjectID()}}); err != nil {
		return err
	}
	if !cs.Next(ctx) {
		return cs.Err()
	}
	again, err := open(options.ChangeStream().SetResumeAfter(cs.ResumeToken()))
	if err != nil {
		return err
	}
	return again.Close(ctx)
}
