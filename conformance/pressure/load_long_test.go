package pressure

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// over evaluates an expression a thousand times.
func over(in any) bson.D {
	return d("$size", d("$map", bson.D{{Key: "input", Value: d("$range", bson.A{0, 1000})}, {Key: "in", Value: in}}))
}

// long are expressions that take far longer than a second on the one document of longDocument.
var long = []struct {
	name       string
	expression bson.D
}{
	{"`$filter` with `$in` of a `$range`",
		d("$size", d("$filter", bson.D{{Key: "input", Value: d("$range", bson.A{0, 1_000_000})},
			{Key: "cond", Value: d("$in", bson.A{"$$this", d("$range", bson.A{0, 1_000_000})})}}))},
	{"`$map` of `$range` of a million", over(d("$size", d("$range", bson.A{"$$this", 1_000_000})))},
	{"`$map` of `$sortArray` of 300,000",
		over(d("$size", d("$sortArray", bson.D{{Key: "input", Value: "$numbers"}, {Key: "sortBy", Value: 1}})))},
	{"`$map` of `$setUnion` of 300,000", over(d("$size", d("$setUnion", bson.A{"$numbers", bson.A{"$$this"}})))},
	{"`$map` of `$toUpper` of 8 MB", over(d("$strLenBytes", d("$toUpper", "$text")))},
	{"`$map` of `$strLenCP`", over(d("$strLenCP", "$text"))},
	{"`$map` of `$indexOfCP`", over(d("$indexOfCP", bson.A{"$text", "zzz"}))},
	{"`$map` of `$substrCP`", over(d("$strLenBytes", d("$substrCP", bson.A{"$text", 1000, 4_000_000})))},
	{"`$map` of `$split`", over(d("$size", d("$split", bson.A{"$text", "zzz"})))},
}

// longDocument is a document with a text of 8 MB and an array of 300,000 numbers.
func longDocument(ctx context.Context, s *server) error {
	c := s.collection("long")
	if n, err := c.EstimatedDocumentCount(ctx); err != nil || n > 0 {
		return err
	}
	numbers := make(bson.A, 300_000)
	for i := range numbers {
		numbers[i] = i * 7919 % len(numbers)
	}
	_, err := c.InsertOne(ctx,
		bson.D{{Key: "_id", Value: 1}, {Key: "text", Value: strings.Repeat("lång ", 8_000_000/6)},
			{Key: "numbers", Value: numbers}})
	return err
}

func aggregateLong(expression bson.D, most time.Duration) bson.D {
	return bson.D{{Key: "aggregate", Value: "long"},
		{Key: "pipeline", Value: bson.A{d("$project", d("x", expression))}},
		{Key: "cursor", Value: bson.D{}}, {Key: "maxTimeMS", Value: most.Milliseconds()}}
}

// longExpression has n clients evaluate one of them with maxTimeMS 1000.
func longExpression(which, n int) load {
	return load{long[which].name, longDocument, func(ctx context.Context, s *server, n int, t *tally) {
		together(n, func(int) {
			// of a deadline the driver makes a second maxTimeMS, which would count instead
			unbounded := context.WithoutCancel(ctx)
			t.count(ctx,
				s.driver.Database("wire").RunCommand(unbounded,
					aggregateLong(long[which].expression, time.Second)).Err())
		})
	}, n}
}

// goneClients ask for what takes long and leave after a second and a half: one
// in two for an expression of a pipeline, the others for a join.
func goneClients(n int) load {
	return load{"long expressions of clients that leave after 1.5 s", func(ctx context.Context, s *server) error {
		if err := s.container(ctx, "large", 0); err != nil {
			return err
		}
		if err := s.put(ctx, "large", "joined",
			`{"id":"joined","pk":"joined","numbers":`+numbers()[:7*28_571]+`]}`); err != nil {
			return err
		}
		return longDocument(ctx, s)
	}, func(ctx context.Context, s *server, n int, t *tally) {
		ctx, leave := context.WithTimeout(ctx, 1500*time.Millisecond)
		defer leave()
		first := rand.IntN(len(long))
		together(n, func(i int) {
			if i%2 == 0 {
				t.count(ctx,
					s.driver.Database("wire").RunCommand(ctx,
						aggregateLong(long[(first+i/2)%len(long)].expression, time.Hour)).Err())
				return
			}
			pk, text := keyed("joined")
			_, err := s.send(ctx, "POST", "dbs/rest/colls/large/docs",
				`{"query":"SELECT VALUE COUNT(1) FROM c JOIN a IN c.numbers JOIN b IN c.numbers WHERE a + b = `+
					`7","parameters":[]}`,
				pk, text, "x-ms-documentdb-isquery", "true", "Content-Type", "application/query+json")
			t.count(ctx, err)
		})
	}, n}
}
