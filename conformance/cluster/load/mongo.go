package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// mongoDB is the API for MongoDB through its driver for Go.
type mongoDB struct {
	name       string
	collection *mongo.Collection
	counts     *mongo.Collection
}

// selecting is how long the driver looks for a server: less than a request has.
const selecting = 2 * time.Second

// MongoDB connects to addresses, host:port, with commas between them, and makes
// the collection's index if it is not there. The options say how the driver
// sees what is behind the addresses.
func MongoDB(ctx context.Context, name, addresses, how string) (API, error) {
	client, err := mongo.Connect(options.Client().
		ApplyURI("mongodb://" + addresses + "/?" + how).
		SetServerSelectionTimeout(selecting))
	if err != nil {
		return nil, err
	}
	db := client.Database("mongo")
	c := db.Collection("documents")
	_, err = c.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "end", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(0),
	})
	return &mongoDB{name: name, collection: c, counts: db.Collection("counts")}, err
}

// A row is a document as the API for MongoDB has it.
type row struct {
	ID     string     `bson:"_id"`
	Writer string     `bson:"writer"`
	N      int        `bson:"n"`
	Life   int        `bson:"life,omitempty"` // seconds
	End    *time.Time `bson:"end,omitempty"`
	Now    time.Time  `bson:"now,omitempty"` // of the query
}

func (m *mongoDB) Name() string { return m.name }

func (m *mongoDB) Insert(ctx context.Context, d Document) error {
	r := row{ID: d.ID(), Writer: d.Writer, N: d.N, Life: int(d.Life / time.Second)}
	if d.Life > 0 {
		// A whole second, because a deadline between two is the later of them; docs/ttl.md.
		end := time.Now().Add(d.Life).UTC().Truncate(time.Second)
		r.End = &end
	}
	_, err := m.collection.InsertOne(ctx, r)
	if mongo.IsDuplicateKeyError(err) {
		return ErrThere
	}
	return err
}

// Count leaves it to the driver to send an addition again whose answer is lost.
func (m *mongoDB) Count(ctx context.Context, writer string) (int, error) {
	var counted struct{ Number int }
	err := m.counts.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: writer}},
		bson.D{{Key: "$inc", Value: bson.D{{Key: "number", Value: 1}}}},
		options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&counted)
	return counted.Number, err
}

func (m *mongoDB) Stay(ctx context.Context, writer string) (ids []string, err error) {
	first, behind := writer+".", writer+"/" // of its identifiers
	found, err := m.collection.Find(ctx, bson.D{{Key: "_id", Value: bson.D{
		{Key: "$gt", Value: first}, {Key: "$lt", Value: behind},
	}}})
	if err != nil {
		return nil, err
	}
	var rows []row
	if err := found.All(ctx, &rows); err != nil {
		return nil, err
	}
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// Mortal asks for the time within the query, which is of one moment: its
// documents fit the first batch.
func (m *mongoDB) Mortal(ctx context.Context) (now time.Time, shown []Shown, err error) {
	found, err := m.collection.Aggregate(ctx, mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "life", Value: bson.D{{Key: "$gt", Value: 0}}}}}},
		{{Key: "$limit", Value: 1000}},
		{{Key: "$set", Value: bson.D{{Key: "now", Value: "$$NOW"}}}},
	}, options.Aggregate().SetBatchSize(1001))
	if err != nil {
		return now, nil, err
	}
	var rows []row
	if err := found.All(ctx, &rows); err != nil {
		return now, nil, err
	}
	for _, r := range rows {
		now = r.Now
		shown = append(shown, Shown{ID: r.ID, End: *r.End})
	}
	return now, shown, nil
}

// A place is where a reader of changes stands: behind an event, or at the
// present.
type place struct {
	Token []byte
	Event bson.Timestamp // of the last event, zero before the first
}

// Changes opens a stream for each call, as after a failure.
func (m *mongoDB) Changes(ctx context.Context, after string) (inserted []Document, next string, err error) {
	var at place
	if after != "" {
		if err := json.Unmarshal([]byte(after), &at); err != nil {
			return nil, "", err
		}
	}
	stream, err := m.watch(ctx, at, false)
	if e := (mongo.CommandError{}); errors.As(err, &e) && e.Code == changeStreamFatalError {
		// The event of the token was lost by a kill before it was safe: go on behind its time.
		stream, err = m.watch(ctx, at, true)
	}
	if err != nil {
		return nil, "", err
	}
	defer stream.Close(ctx)
	for stream.TryNext(ctx) {
		var change struct {
			Document row            `bson:"fullDocument"`
			Time     bson.Timestamp `bson:"clusterTime"`
		}
		if err := stream.Decode(&change); err != nil {
			return nil, "", err
		}
		at.Event = change.Time
		r := change.Document
		d := Document{
			Writer: r.Writer, N: r.N, Life: time.Duration(r.Life) * time.Second,
			Version: fmt.Sprintf("%d.%d", change.Time.T, change.Time.I), Written: time.Unix(int64(change.Time.T), 0),
		}
		if r.End != nil {
			d.End = *r.End
		}
		inserted = append(inserted, d)
		if stream.RemainingBatchLength() == 0 {
			break
		}
	}
	if err := stream.Err(); err != nil {
		return nil, "", err
	}
	at.Token = stream.ResumeToken()
	text, err := json.Marshal(at)
	return inserted, string(text), err
}

// changeStreamFatalError is MongoDB's code for a token without its event.
const changeStreamFatalError = 280

// watch opens a stream at a place: by its token, or by the time of its event.
func (m *mongoDB) watch(ctx context.Context, at place, byTime bool) (*mongo.ChangeStream, error) {
	o := options.ChangeStream().SetBatchSize(100).SetMaxAwaitTime(100 * time.Millisecond)
	switch {
	case byTime:
		o.SetStartAtOperationTime(&bson.Timestamp{T: at.Event.T, I: at.Event.I + 1})
	case at.Token != nil:
		o.SetResumeAfter(bson.Raw(at.Token))
	}
	return m.collection.Watch(ctx, mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "operationType", Value: "insert"}}}},
	}, o)
}
