package pressure

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const (
	restWriters = 8
	wireWriters = 4
)

// A churn writes documents of about a kilobyte that live for 1 to 5 seconds, as
// fast as it can, and reads a part of them back around their ends.
//
// The clock is the machine's, as the server's is: an answer holds an expired
// document when its end had come as the question was asked, and a document is
// missing when its end had not come as the answer arrived.
type churn struct {
	server  *server
	tally   tally
	written atomic.Int64 // documents
	bytes   atomic.Int64 // of their bodies

	looked, expired, missing atomic.Int64
}

var filler = strings.Repeat("abcdefghij", 60)

func (c *churn) prepare(ctx context.Context) error {
	if err := c.server.container(ctx, "churn", -1); err != nil {
		return err
	}
	_, err := c.server.collection("churn").Indexes().CreateOne(ctx,
		mongo.IndexModel{Keys: d("at", 1), Options: options.Index().SetExpireAfterSeconds(0)})
	return err
}

// run writes until ctx ends.
func (c *churn) run(ctx context.Context) {
	together(restWriters+wireWriters, func(i int) {
		write := c.rest
		if i >= restWriters {
			write = c.wire
		}
		random := rand.New(rand.NewPCG(uint64(i), 1))
		for n := 0; ctx.Err() == nil; n++ {
			err := write(ctx, random, fmt.Sprintf("%d-%d", i, n))
			c.tally.count(ctx, err)
			if err != nil && sleep(ctx, 100*time.Millisecond) != nil {
				return
			}
		}
	})
}

// rest creates an item and reads an earlier one back, one time in ten.
func (c *churn) rest(ctx context.Context, random *rand.Rand, id string) error {
	pk := fmt.Sprint("p", random.IntN(100))
	ttl := 1 + random.IntN(5)
	item := fmt.Sprintf(`{"id":%q,"pk":%q,"ttl":%d,"kind":"churn","n":%d,"price":%d.5,"tags":["a","b","c"],"place":{"city":"c%d","zip":"%05d"},"text":%q}`,
		id, pk, ttl, random.IntN(1000), random.IntN(100), random.IntN(50), random.IntN(100_000), filler)
	name, text := keyed(pk)
	answer, err := c.server.send(ctx, "POST", "dbs/rest/colls/churn/docs", item, name, text)
	if err != nil {
		return err
	}
	c.written.Add(1)
	c.bytes.Add(int64(len(item)))
	if random.IntN(10) > 0 {
		return nil
	}
	var stored struct {
		TS int64 `json:"_ts"`
	}
	if err := json.Unmarshal(answer, &stored); err != nil {
		return err
	}
	end := time.Unix(stored.TS+int64(ttl), 0)
	c.around(ctx, end, random, func() (bool, error) {
		_, err := c.server.send(ctx, "GET", "dbs/rest/colls/churn/docs/"+id, "", name, text)
		if is(err, http.StatusNotFound) {
			return false, nil
		}
		return true, err
	})
	return nil
}

// wire does the same with a document of a collection with a TTL index. Ends are whole seconds.
func (c *churn) wire(ctx context.Context, random *rand.Rand, id string) error {
	end := time.Now().Truncate(time.Second).Add(time.Duration(2+random.IntN(4)) * time.Second)
	document := bson.D{{Key: "_id", Value: id}, {Key: "at", Value: end}, {Key: "kind", Value: "churn"},
		{Key: "n", Value: random.IntN(1000)},
		{Key: "tags", Value: bson.A{"a", "b", "c"}}, {Key: "text", Value: filler}}
	text, err := bson.Marshal(document)
	if err != nil {
		return err
	}
	documents := c.server.collection("churn")
	if _, err := documents.InsertOne(ctx, bson.Raw(text)); err != nil {
		return err
	}
	c.written.Add(1)
	c.bytes.Add(int64(len(text)))
	if random.IntN(10) == 0 {
		c.around(ctx, end, random, func() (bool, error) {
			err := documents.FindOne(ctx, d("_id", id)).Err()
			if err == mongo.ErrNoDocuments {
				return false, nil
			}
			return true, err
		})
	}
	return nil
}

// around asks, in a goroutine of its own, whether a document is there, at a moment within half a second of its end.
func (c *churn) around(ctx context.Context, end time.Time, random *rand.Rand, ask func() (bool, error)) {
	moment := end.Add(time.Duration(random.IntN(1000)-500) * time.Millisecond)
	go func() {
		if sleep(ctx, time.Until(moment)) != nil {
			return
		}
		asked := time.Now()
		there, err := ask()
		answered := time.Now()
		switch {
		case err != nil:
			c.tally.count(ctx, err)
			return
		case there && !asked.Before(end):
			c.expired.Add(1)
		case !there && answered.Before(end):
			c.missing.Add(1)
		}
		c.looked.Add(1)
	}()
}

// A keeper writes documents that live for ever, at a steady rate, and remembers those that were acknowledged.
type keeper struct {
	server     *server
	tally      tally
	rest, wire []string // ids
}

func (k *keeper) prepare(ctx context.Context) error { return k.server.container(ctx, "kept", -1) }

// run writes until ctx ends. The ids of the two APIs are disjoint slices: no lock is needed.
func (k *keeper) run(ctx context.Context) {
	together(2, func(api int) {
		for n := 0; sleep(ctx, 50*time.Millisecond) == nil; n++ {
			id := fmt.Sprint("k", n)
			var err error
			if api == 0 {
				err = k.server.put(ctx, "kept", id, fmt.Sprintf(`{"id":%q,"pk":%q,"text":"kept"}`, id, id))
			} else {
				_, err = k.server.collection("kept").InsertOne(ctx,
					bson.D{{Key: "_id", Value: id}, {Key: "text", Value: "kept"}})
			}
			k.tally.count(ctx, err)
			switch {
			case err != nil:
			case api == 0:
				k.rest = append(k.rest, id)
			default:
				k.wire = append(k.wire, id)
			}
		}
	})
}

// lost says how many of the acknowledged documents are not there.
func (k *keeper) lost(ctx context.Context) (n int, err error) {
	for _, id := range k.rest {
		name, text := keyed(id)
		if _, err := k.server.send(ctx, "GET", "dbs/rest/colls/kept/docs/"+id, "", name, text); is(err,
			http.StatusNotFound) {
			n++
		} else if err != nil {
			return n, err
		}
	}
	var all []struct {
		ID string `bson:"_id"`
	}
	cursor, err := k.server.collection("kept").Find(ctx, bson.D{})
	if err != nil {
		return n, err
	}
	if err := cursor.All(ctx, &all); err != nil {
		return n, err
	}
	there := map[string]bool{}
	for _, d := range all {
		there[d.ID] = true
	}
	for _, id := range k.wire {
		if !there[id] {
			n++
		}
	}
	return n, nil
}
