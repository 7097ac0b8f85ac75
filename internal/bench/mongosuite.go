package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// MongoOperations are the names of the operations of OpenMongoSuite.
var MongoOperations = []string{"insertOne", "insertMany", "findOne", "updateOne", "indexed find"}

// batchDocuments is how many documents an insertMany has.
const batchDocuments = 1000

// A mongoSuite has a collection with documents, and one that inserts write to, so that queries keep their size.
type mongoSuite struct {
	client              *mongo.Client
	collection, created *mongo.Collection
	count               int
}

// OpenMongoSuite makes two collections, one of them with an index and count documents.
func OpenMongoSuite(ctx context.Context, uri, db, container string, count int) (*Suite, error) {
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return nil, err
	}
	database := client.Database(db)
	s := &mongoSuite{client, database.Collection(container), database.Collection(container + "-new"), count}
	if err := s.load(ctx); err != nil {
		return nil, errors.Join(err, s.close(context.WithoutCancel(ctx)))
	}
	return &Suite{Operations: s.operations(), Close: s.close}, nil
}

func (s *mongoSuite) load(ctx context.Context) error {
	_, err := s.collection.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "group", Value: 1}}})
	if err != nil {
		return err
	}
	for i := 0; i < s.count; i += batchDocuments {
		if err := s.insertMany(ctx, s.collection, i, min(i+batchDocuments, s.count)); err != nil {
			return err
		}
	}
	return nil
}

func (s *mongoSuite) close(ctx context.Context) error {
	return errors.Join(s.collection.Drop(ctx), s.created.Drop(ctx), s.client.Disconnect(ctx))
}

func (s *mongoSuite) operations() []*Operation {
	operation := func(name string, do func(context.Context, int) error) *Operation {
		return &Operation{Name: name, check: do, do: do, kind: mongoKind}
	}
	return []*Operation{
		operation("insertOne", func(ctx context.Context, n int) error {
			o := makeOrder(n, s.count)
			o.ID = "one-" + strconv.Itoa(n)
			_, err := s.created.InsertOne(ctx, o)
			return err
		}),
		operation("insertMany", func(ctx context.Context, n int) error {
			return s.insertMany(ctx, s.created, n*batchDocuments, (n+1)*batchDocuments)
		}),
		operation("findOne", func(ctx context.Context, n int) error {
			return s.collection.FindOne(ctx, bson.D{{Key: "_id", Value: orderID(s.spread(n))}}).Err()
		}),
		operation("updateOne", func(ctx context.Context, n int) error {
			result, err := s.collection.UpdateByID(ctx, orderID(s.spread(n)),
				bson.D{{Key: "$set", Value: bson.D{{Key: "score", Value: n}}}})
			if err == nil && result.MatchedCount != 1 {
				err = ErrGone
			}
			return err
		}),
		operation("indexed find", s.find),
	}
}

// spread is a document that is there, far from that of n-1.
func (s *mongoSuite) spread(n int) int { return n * 6151 % s.count }

// insertMany writes documents from first to before last.
func (s *mongoSuite) insertMany(ctx context.Context, to *mongo.Collection, first, last int) error {
	var documents []any
	for i := first; i < last; i++ {
		documents = append(documents, makeOrder(i, s.count))
	}
	_, err := to.InsertMany(ctx, documents)
	return err
}

func (s *mongoSuite) find(ctx context.Context, n int) error {
	cursor, err := s.collection.Find(ctx, bson.D{{Key: "group", Value: n % (s.count / together)}})
	if err != nil {
		return err
	}
	var rows []bson.Raw
	if err := cursor.All(ctx, &rows); err != nil {
		return err
	}
	if len(rows) != together {
		return fmt.Errorf("find by group returned %d documents, and %d are correct", len(rows), together)
	}
	return nil
}
