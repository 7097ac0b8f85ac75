package copying

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/mayflydb/mayfly/internal/transfer"
)

func (p *nosqlPair) items(ctx context.Context, j *job, acknowledge func() error) error {
	c := p.ready[j]
	p.o.progress(j.part, c.total)
	f, err := openFeed(ctx, c.from, p.o.Batch, j.state.Ranges)
	if err != nil {
		return err
	}
	write, err := p.writer(ctx, j, c)
	if err != nil {
		return err
	}
	for {
		batch, err := f.batch(ctx, p.o.Batch)
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := ctx.Err(); err != nil { // the batch is from pages that were read before
			return err
		}
		writing, done := lasting(ctx)
		err = write(writing, batch)
		done()
		if err != nil {
			return err
		}
		j.part.Read += int64(len(batch))
		j.state.Ranges = f.at()
		if err := acknowledge(); err != nil {
			return err
		}
	}
}

// writer chooses what to do with a batch.
func (p *nosqlPair) writer(ctx context.Context, j *job, c *containers) (func(context.Context, []item) error, error) {
	if p.o.ToAdmin != nil && p.o.Lives == KeepLives && !p.o.DryRun {
		to := &transfer.Remote{Send: p.o.ToAdmin, Database: j.to.db, Container: j.to.container}
		return func(ctx context.Context, batch []item) error { return sendLines(ctx, to, lines(batch), j.part) }, nil
	}
	w := &nosqlWriter{containers: c, part: j.part, lives: p.o.Lives, clients: p.o.Clients}
	var err error
	if p.o.DryRun {
		of, server := c.to, p.toInstance
		if of == nil { // no query without a container: take the clock of the source
			of, server = c.from, p.fromInstance
		}
		var now int64
		now, err = clockOf(ctx, of, server)
		w.now.Store(now)
		return w.pretend, err
	}
	if w.lives == KeepLives && c.fromLife.on() {
		var now int64
		now, err = clockOf(ctx, c.to, p.toInstance)
		w.now.Store(now)
	}
	return w.write, err
}

// lines are items for an import that keeps their stamps.
func lines(batch []item) []byte {
	var b bytes.Buffer
	for _, i := range batch {
		text := i.bytes(member{"_ts", json.RawMessage(strconv.FormatInt(i.stamp, 10))})
		if err := json.Compact(&b, text); err != nil {
			b.Write(text) // the import says what is wrong with it
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// A nosqlWriter writes items through the API.
type nosqlWriter struct {
	*containers
	part    *Part
	lives   Lives
	clients int
	now     atomic.Int64 // the clock of the target, as its last answer shows it
}

// pretend counts what write would do.
func (w *nosqlWriter) pretend(_ context.Context, batch []item) error {
	for _, i := range batch {
		if at, limited := w.fromLife.end(i); limited && at <= w.now.Load() && !w.asItIs(i) {
			w.part.Overdue++
		} else {
			w.part.Written++
		}
	}
	return nil
}

// asItIs reports whether an item can be written without a look at its life.
func (w *nosqlWriter) asItIs(i item) bool {
	_, own := w.fromLife.property(i)
	return own || w.lives == RestartLives
}

// write writes a batch with several requests at the same time, and waits for them.
func (w *nosqlWriter) write(ctx context.Context, batch []item) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var written, overdue atomic.Int64
	var group sync.WaitGroup
	work := make(chan item)
	for range min(w.clients, len(batch)) {
		group.Go(func() {
			for i := range work {
				ok, err := w.put(ctx, i)
				switch {
				case err != nil:
					cancel(fmt.Errorf("item %q: %w", i.id, plainError(err)))
				case ok:
					written.Add(1)
				default:
					overdue.Add(1)
				}
			}
		})
	}
	for _, i := range batch {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	w.part.Written += written.Load()
	w.part.Overdue += overdue.Load()
	return nil
}

// tries is how often an item is written because the second of the target has changed in between.
const tries = 5

// put writes an item; ok is false if its life is over.
func (w *nosqlWriter) put(ctx context.Context, i item) (ok bool, err error) {
	key, err := i.partitionKey(w.toPaths)
	if err != nil {
		return false, err
	}
	ctx = context.WithValue(ctx, partitionKeyKey{}, key)
	end, limited := w.fromLife.end(i)
	asItIs := w.asItIs(i)
	if asItIs || !limited {
		if !asItIs {
			i = w.toLife.lasting(i, never)
		}
		_, err := w.to.UpsertItem(ctx, azcosmos.NewPartitionKey(), i.bytes(), nil)
		return err == nil, err
	}
	for try := 0; ; try++ {
		now := w.now.Load()
		if end <= now {
			return false, w.remove(ctx, i.id)
		}
		ttl := min(end-now, maxTTL)
		stamp, err := w.upsert(ctx, w.toLife.lasting(i, ttl))
		if err != nil {
			return false, err
		}
		w.now.Store(stamp)
		if stamp+ttl == end || ttl == maxTTL && stamp+ttl < end {
			return true, nil
		}
		if try < tries {
			continue
		}
		if stamp+ttl < end {
			return true, nil // never longer
		}
		return false, errors.Join(errors.New("the clock of the target moves too fast to keep the end of the life"),
			w.remove(ctx, i.id))
	}
}

// upsert writes an item and says which stamp it has got.
func (w *nosqlWriter) upsert(ctx context.Context, i item) (stamp int64, err error) {
	answer, err := w.to.UpsertItem(ctx, azcosmos.NewPartitionKey(), i.bytes(),
		&azcosmos.ItemOptions{EnableContentResponseOnWrite: true})
	if err != nil {
		return 0, err
	}
	written, err := parseItem(answer.Value)
	if err == nil && written.stamp == 0 {
		err = errors.New("the target does not say which stamp the item has got")
	}
	return written.stamp, err
}

// remove deletes an item whose life is over, in case the target has an older version that lives longer.
func (w *nosqlWriter) remove(ctx context.Context, id string) error {
	_, err := w.to.DeleteItem(ctx, azcosmos.NewPartitionKey(), id, nil)
	if status(err) == http.StatusNotFound {
		return nil
	}
	return err
}
