package mongo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// crowd is how many clients work at once, for how long.
const (
	crowd    = 32
	crowding = 10 * time.Second
)

// A promise is what the writer of a document knows: alive until, gone from.
type promise struct {
	id          string
	until, from time.Time
}

// On the real clock 32 clients write documents that live for one to three seconds, by the stamp
// or by a date, and read them in every way. No answer to a question asked at or after a deadline
// has the document, and none before its deadline lacks it. Deadlines by a date are the first
// whole second at or after it.
func TestCrowdSeesNothingExpired(t *testing.T) {
	t.Parallel()
	s := start(t, "--data", t.TempDir())
	client := s.connect(t, "maxPoolSize=64")
	db := newDatabase(client)
	ctx, cancel := context.WithTimeout(context.Background(), 3*crowding)
	defer cancel()
	stamps, dates := db.Collection("stamps"), db.Collection("dates")
	stampIndex(t, stamps, 2)
	_, err := dates.Indexes().CreateOne(ctx,
		mongo.IndexModel{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(0)})
	must(t, err)
	for _, c := range []*mongo.Collection{stamps, dates} {
		_, err = c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "writer", Value: 1}}})
		must(t, err)
	}

	var answers, expired, missing atomic.Int64
	end := time.Now().Add(crowding)
	var all sync.WaitGroup
	for writer := range crowd {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(writer)))
			var promises []promise
			for i := 0; time.Now().Before(end); i++ {
				c := stamps
				id := fmt.Sprintf("%d-%d", writer, i)
				if writer%2 == 1 {
					c = dates
				}
				p, err := promised(ctx, c, id, writer, 1+r.IntN(3))
				if err != nil {
					t.Errorf("insert: %v", err)
					return
				}
				promises = append(promises, p)
				ghosts, gaps, err := look(ctx, c, writer, promises[max(0, len(promises)-200):], i)
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				answers.Add(1)
				expired.Add(ghosts)
				missing.Add(gaps)
			}
		})
	}
	all.Wait()
	fmt.Printf("mongo: %d clients, %d answers, %d expired documents in them, %d missing\n", crowd, answers.Load(),
		expired.Load(), missing.Load())
	if expired.Load() != 0 || missing.Load() != 0 || answers.Load() < crowd {
		t.Errorf("%d answers with %d expired documents and %d missing", answers.Load(), expired.Load(), missing.Load())
	}
}

// promised writes a document that lives for some seconds.
func promised(ctx context.Context, c *mongo.Collection, id string, writer, seconds int) (promise, error) {
	life := time.Duration(seconds) * time.Second
	asked := time.Now()
	d := bson.D{{Key: "_id", Value: id}, {Key: "writer", Value: writer}, {Key: "ttl", Value: seconds}}
	if c.Name() == "dates" {
		at := asked.Add(life).Truncate(time.Millisecond)
		_, err := c.InsertOne(ctx, append(d, bson.E{Key: "at", Value: at}))
		return promise{id, at, at.Add(time.Second - 1).Truncate(time.Second)}, err
	}
	_, err := c.InsertOne(ctx, d)
	// The stamp is a whole second between asking and the answer.
	return promise{id, asked.Truncate(time.Second).Add(life), time.Now().Truncate(time.Second).Add(life)}, err
}

// look reads the writer's documents in one of several ways and compares them with its promises.
func look(
	ctx context.Context, c *mongo.Collection, writer int, promises []promise, way int,
) (ghosts, gaps int64, err error) {
	asked := time.Now()
	seen, err := glance(ctx, c, writer, promises, way)
	answered := time.Now()
	for _, p := range promises {
		switch {
		case seen[p.id] && !asked.Before(p.from):
			ghosts++
		case !seen[p.id] && answered.Before(p.until) && way%4 != 3:
			gaps++
		}
	}
	return ghosts, gaps, err
}

func glance(
	ctx context.Context, c *mongo.Collection, writer int, promises []promise, way int,
) (map[string]bool, error) {
	mine := bson.D{{Key: "writer", Value: writer}}
	var cursor *mongo.Cursor
	var err error
	switch way % 4 {
	case 0: // by an index
		cursor, err = c.Find(ctx, mine, options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}))
	case 1: // by none
		cursor, err = c.Find(ctx, mine, options.Find().SetHint(bson.D{{Key: "$natural", Value: 1}}))
	case 2:
		cursor, err = c.Aggregate(ctx,
			bson.A{bson.D{{Key: "$match", Value: mine}}, bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}}})
	default: // one, by _id
		p := promises[len(promises)/2]
		err := c.FindOne(ctx, bson.D{{Key: "_id", Value: p.id}}).Err()
		if err == mongo.ErrNoDocuments {
			return nil, nil
		}
		return map[string]bool{p.id: true}, err
	}
	if err != nil {
		return nil, err
	}
	var found []struct {
		ID string `bson:"_id"`
	}
	if err := cursor.All(ctx, &found); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, f := range found {
		seen[f.ID] = true
	}
	return seen, nil
}
