package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/clock"
)

// expiry is the field that a TTL index ends documents by: every server has that, and not only those of Cosmos DB.
const expiry = "expireAt"

type mongoTarget struct {
	client     *mongo.Client
	collection *mongo.Collection
}

// OpenMongo makes a collection with a TTL index, and an index for queries, on a MongoDB server.
func OpenMongo(ctx context.Context, uri, db, container string) (Target, error) {
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return nil, err
	}
	t := &mongoTarget{client, client.Database(db).Collection(container)}
	_, err = t.collection.Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{Key: expiry, Value: 1}}, Options: options.Index().SetExpireAfterSeconds(0)},
		{Keys: bson.D{{Key: "group", Value: 1}}},
	})
	if err != nil {
		return nil, errors.Join(err, client.Disconnect(context.WithoutCancel(ctx)))
	}
	return t, nil
}

func (t *mongoTarget) Create(ctx context.Context, d Document, ttl int) error {
	body := bson.D{{Key: "_id", Value: d.ID}, {Key: "group", Value: d.Group}, {Key: "text", Value: d.Text}}
	if ttl > 0 {
		end := clock.Wall().Add(time.Duration(ttl) * time.Second)
		body = append(body, bson.E{Key: expiry, Value: end})
	}
	_, err := t.collection.InsertOne(ctx, body)
	return err
}

func (t *mongoTarget) Read(ctx context.Context, id string) error {
	err := t.collection.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return ErrGone
	}
	return err
}

func (t *mongoTarget) Update(ctx context.Context, d Document) error {
	_, err := t.collection.ReplaceOne(ctx, bson.D{{Key: "_id", Value: d.ID}}, d)
	return err
}

func (t *mongoTarget) Query(ctx context.Context, group int) error {
	cursor, err := t.collection.Find(ctx, bson.D{{Key: "group", Value: group}}, options.Find().SetLimit(queryRows))
	if err != nil {
		return err
	}
	var rows []bson.Raw
	return cursor.All(ctx, &rows)
}

// Kind is the code of an error of the server, or what the driver says.
func (t *mongoTarget) Kind(err error) string { return mongoKind(err) }

func mongoKind(err error) string {
	if server, ok := errors.AsType[mongo.ServerError](err); ok {
		for _, code := range server.ErrorCodes() {
			return fmt.Sprintf("code %d", code)
		}
	}
	return commonKind(err)
}

func (t *mongoTarget) Close(ctx context.Context) error {
	return errors.Join(t.collection.Drop(ctx), t.client.Disconnect(ctx))
}

// queryRows is the most rows of a query.
const queryRows = 10

func commonKind(err error) string {
	switch {
	case errors.Is(err, ErrGone):
		return "not found"
	case errors.Is(err, context.DeadlineExceeded), mongo.IsTimeout(err):
		return "timeout"
	case mongo.IsNetworkError(err):
		return "network"
	}
	return "other"
}
