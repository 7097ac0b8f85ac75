package pressure

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// numbers is an array of 250,000 numbers of six digits: 1.7 MB, as large as an item nearly may be.
var numbers = sync.OnceValue(func() string {
	var b strings.Builder
	for i := range 250_000 {
		fmt.Fprintf(&b, ",%d", 100_000+i*3%899_999)
	}
	return "[" + b.String()[1:] + "]"
})

// largeItems upserts items whose index entries take far more than the items.
func largeItems(n int) load {
	return load{"upserts of 1.7 MB with 250,000 numbers, indexed", func(ctx context.Context, s *server) error {
		return s.container(ctx, "large", 0)
	}, func(ctx context.Context, s *server, n int, t *tally) {
		c, err := s.cosmos.NewContainer("rest", "large")
		if err != nil {
			panic(err)
		}
		together(n, func(i int) {
			pk := fmt.Sprint(i)
			_, err := c.UpsertItem(ctx, azcosmos.NewPartitionKeyString(pk),
				[]byte(`{"id":"large`+pk+`","pk":"`+pk+`","numbers":`+numbers()+`}`), nil)
			t.count(ctx, err)
		})
	}, n}
}

// sorted is how many documents sorts and lookups go over.
const sorted = 20_000

func sortedDocuments(ctx context.Context, s *server) error {
	c := s.collection("sorted")
	if n, err := c.EstimatedDocumentCount(ctx); err != nil || n > 0 {
		return err
	}
	if err := s.driver.Database("wire").RunCommand(ctx, bson.D{{Key: "createIndexes", Value: "sorted"},
		{Key: "indexes",
			Value: bson.A{bson.D{{Key: "key", Value: bson.D{{Key: "k", Value: 1}}},
				{Key: "name", Value: "k"}}}}}).Err(); err != nil {
		return err
	}
	for at := 0; at < sorted; at += 1000 {
		var batch []any
		for i := at; i < at+1000; i++ {
			batch = append(batch,
				bson.D{{Key: "_id", Value: i}, {Key: "k", Value: i % 100}, {Key: "r", Value: i * 7919 % sorted},
					{Key: "text", Value: strings.Repeat(string(rune('a'+i%26)), 1000)}})
		}
		if _, err := c.InsertMany(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// pipelines has n clients run a pipeline of which each holds tens of megabytes.
func pipelines(name string, n int, pipeline bson.A) load {
	return load{name, sortedDocuments, func(ctx context.Context, s *server, n int, t *tally) {
		together(n, func(int) {
			t.count(ctx,
				s.driver.Database("wire").RunCommand(ctx,
					bson.D{{Key: "aggregate", Value: "sorted"}, {Key: "pipeline", Value: pipeline},
						{Key: "cursor", Value: bson.D{}}, {Key: "maxTimeMS", Value: 60_000}}).Err())
		})
	}, n}
}

func d(key string, value any) bson.D { return bson.D{{Key: key, Value: value}} }

func lookups(n int) load {
	return pipelines("`$lookup` of 40 MB", n, bson.A{
		d("$match", d("_id", d("$lt", 200))),
		d("$lookup",
			bson.D{{Key: "from", Value: "sorted"}, {Key: "localField", Value: "k"}, {Key: "foreignField", Value: "k"},
				{Key: "as", Value: "found"}}),
		d("$sort", d("r", 1)),
		d("$group", bson.D{{Key: "_id", Value: nil}, {Key: "n", Value: d("$sum", d("$size", "$found"))}}),
	})
}

func sorts(n int) load {
	return pipelines("`$sort` of 20 MB", n, bson.A{
		d("$sort", d("r", 1)),
		d("$group",
			bson.D{{Key: "_id", Value: nil}, {Key: "first", Value: d("$first", "$r")},
				{Key: "last", Value: d("$last", "$text")}}),
	})
}

func maps(n int) load {
	return pipelines("`$map` over a million numbers", n, bson.A{
		d("$match", d("_id", 1)),
		d("$project",
			d("x",
				d("$map",
					bson.D{{Key: "input", Value: d("$range", bson.A{0, 1_000_000})},
						{Key: "in", Value: d("$add", bson.A{"$$this", 1})}}))),
		d("$project", d("n", d("$size", "$x"))),
	})
}

// scripts run a stored procedure.
func scripts(name, procedure, body string, n int, apart time.Duration) load {
	return load{name, func(ctx context.Context, s *server) error {
		if err := s.container(ctx, "scripts", 0); err != nil {
			return err
		}
		_, err := s.send(ctx, "POST", "dbs/rest/colls/scripts/sprocs",
			fmt.Sprintf(`{"id":%q,"body":%q}`, procedure, body))
		return err
	}, func(ctx context.Context, s *server, n int, t *tally) {
		together(n, func(i int) {
			if sleep(ctx, time.Duration(i)*apart) != nil {
				return
			}
			pk, text := keyed("p")
			_, err := s.send(ctx, "POST", "dbs/rest/colls/scripts/sprocs/"+procedure, `[]`, pk, text)
			t.count(ctx, err)
		})
	}, n}
}

func largeScripts(n, megabytes int) load {
	return scripts(fmt.Sprintf("scripts that hold %d MB for a second", megabytes), "hold", `function () {
		var held = [];
		for (var i = 0; i < `+strconv.Itoa(megabytes)+`; i++) held.push(('held ' + i % 10).repeat(1e6 / 6));
		for (var end = Date.now() + 1000; Date.now() < end;);
		getContext().getResponse().setBody(held.length);
	}`, n, 250*time.Millisecond)
}

func loopingScripts(n int) load {
	return scripts("scripts that loop for ever", "loop", `function () { for (;;); }`, n, 0)
}
