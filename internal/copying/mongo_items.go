package copying

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/clock"
)

// batchBytes is how many bytes of documents are written at once. A message of MongoDB has at most 48 MB.
const batchBytes = 8 << 20

// A mongoWriter writes documents to one collection.
type mongoWriter struct {
	to      *mongo.Collection
	pretend bool
	batch   []bson.Raw
	bytes   int
}

func (w *mongoWriter) add(d bson.Raw) {
	w.batch = append(w.batch, slices.Clone(d))
	w.bytes += len(d)
}

// flush writes the batch, and notes how far the job is.
func (w *mongoWriter) flush(ctx context.Context, j *job) error {
	if !w.pretend {
		if err := w.write(ctx); err != nil {
			return err
		}
	}
	last, err := bson.MarshalExtJSON(bson.D{{Key: "_id", Value: w.batch[len(w.batch)-1].Lookup("_id")}}, true, false)
	if err != nil {
		return err
	}
	j.state.Last = last
	j.part.Read += int64(len(w.batch))
	j.part.Written += int64(len(w.batch))
	clear(w.batch)
	w.batch, w.bytes = w.batch[:0], 0
	return nil
}

// Cosmos DB for MongoDB answers this code when a request exceeds the throughput, and the driver does not know it.
// https://learn.microsoft.com/azure/cosmos-db/mongodb/error-codes-solutions
const codeTooManyRequests = 16500

// write replaces the documents of the batch, or inserts them, so that it can be done again, as after a broken
// connection. The driver does that only for replica sets.
func (w *mongoWriter) write(ctx context.Context) error {
	models := make([]mongo.WriteModel, len(w.batch))
	for i, d := range w.batch {
		filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: d.Lookup("_id")}}}}
		models[i] = mongo.NewReplaceOneModel().SetFilter(filter).SetReplacement(d).SetUpsert(true)
	}
	for try := 1; ; try++ {
		_, err := w.to.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
		server, ok := errors.AsType[mongo.ServerError](err)
		busy := ok && server.HasErrorCode(codeTooManyRequests)
		if !busy && !mongo.IsNetworkError(err) || try > maxRetries || ctx.Err() != nil {
			return named(err, w.batch)
		}
		if err := clock.Pause(ctx, time.Duration(try)*200*time.Millisecond); err != nil {
			return err
		}
	}
}

// named adds the _id of the first document that could not be written.
func named(err error, batch []bson.Raw) error {
	bulk, ok := errors.AsType[mongo.BulkWriteException](err)
	if ok && len(bulk.WriteErrors) > 0 && bulk.WriteErrors[0].Index < len(batch) {
		id := batch[bulk.WriteErrors[0].Index].Lookup("_id")
		return fmt.Errorf("document %s, one of %d: %w", id, len(bulk.WriteErrors), bulk.WriteErrors[0])
	}
	return err
}
