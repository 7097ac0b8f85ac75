package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// TestNoGhostUnderLoad lets 32 clients read, write, list and follow the change
// feed while a wave of items expires, on the real clock and on disk.
//
// What counts is sound without trusting the server's clock to be ours to the
// millisecond, because it is the same machine's: the server reads its clock
// after the question was asked and before the answer arrived. So an item in an
// answer is a ghost when its deadline, _ts plus its ttl, had been reached when
// the question was asked; and a 404 is a loss when the item's deadline had not
// been reached when the answer arrived.
func TestNoGhostUnderLoad(t *testing.T) {
	const (
		defaultTTL = 4
		waveSize   = 3000
		duration   = 9 * time.Second
	)
	s := start(t, "--data", t.TempDir())
	b := newBox(t, s, azcosmos.ContainerProperties{DefaultTimeToLive: ptr(int32(defaultTTL))})
	w := &wave{box: b, size: waveSize, defaultTTL: defaultTTL, deadline: make([]atomic.Int64, waveSize)}

	ctx, cancel := context.WithTimeout(context.Background(), duration)
	defer cancel()
	var clients sync.WaitGroup
	role := func(n int, work func(context.Context, *rand.Rand) error) {
		for i := range n {
			random := rand.New(rand.NewPCG(uint64(n), uint64(i)))
			clients.Go(func() {
				for ctx.Err() == nil {
					if err := work(ctx, random); err != nil && ctx.Err() == nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	role(8, w.write)
	role(14, w.read)
	role(6, w.list)
	role(4, w.follow)
	clients.Wait()

	if n := w.ghosts.Load(); n != 0 {
		t.Errorf("%d expired items returned, among them %v", n, *w.example.Load())
	}
	if n := w.lost.Load(); n != 0 {
		t.Errorf("%d living items answered 404", n)
	}
	if w.seeded.Load() < waveSize || w.live.Load() == 0 || w.late.Load() < 100 {
		t.Errorf("the wave did not happen: %d of %d written, %d items seen alive, %d reads of the expired",
			w.seeded.Load(), waveSize, w.live.Load(), w.late.Load())
	}
	figures.add("ghosts under load: %d in %d answers of 32 clients (%d items seen alive, %d reads of items past "+
		"their deadline, %d lost)",
		w.ghosts.Load(), w.answers.Load(), w.live.Load(), w.late.Load(), w.lost.Load())
}

// A wave is the state that the clients share. The first writes give every item
// of it the same ttl, so that they die together; later writes are of other items
// that come and go.
type wave struct {
	box        *box
	size       int
	defaultTTL int64
	seeded     atomic.Int64
	deadline   []atomic.Int64 // of a wave item, once written

	answers, live, late atomic.Int64
	ghosts, lost        atomic.Int64
	example             atomic.Pointer[string]
}

// write seeds the wave, a batch at a time, and upserts short-lived items once
// it is there.
func (w *wave) write(ctx context.Context, random *rand.Rand) error {
	if first := w.seeded.Add(batchSize) - batchSize; first < int64(w.size) {
		return w.seed(ctx, first)
	}
	churn := fmt.Sprintf(`{"id":"churn-%d","pk":"p","ttl":%d}`, random.IntN(500), 1+random.IntN(3))
	_, err := w.box.UpsertItem(ctx, partitionP, []byte(churn), nil)
	w.answers.Add(1)
	return err
}

const batchSize = 100

func (w *wave) seed(ctx context.Context, first int64) error {
	batch := w.box.NewTransactionalBatch(partitionP)
	for n := first; n < first+batchSize; n++ {
		batch.CreateItem(fmt.Appendf(nil, `{"id":"wave-%d","pk":"p","text":"a body for the item"}`, n), nil)
	}
	r, err := w.box.ExecuteTransactionalBatch(ctx, batch,
		&azcosmos.TransactionalBatchOptions{EnableContentResponseOnWrite: true})
	if err != nil {
		return err
	}
	w.answers.Add(1)
	for i, o := range r.OperationResults {
		var written item
		if err := json.Unmarshal(o.ResourceBody, &written); err != nil {
			return err
		}
		w.deadline[first+int64(i)].Store(written.stamp() + w.defaultTTL)
	}
	return nil
}

// read points at an item of the wave.
func (w *wave) read(ctx context.Context, random *rand.Rand) error {
	n := random.IntN(w.size)
	known := w.deadline[n].Load()
	asked := time.Now()
	r, err := w.box.ReadItem(ctx, partitionP, fmt.Sprint("wave-", n), nil)
	answered := time.Now()
	if known != 0 && asked.Unix() >= known {
		w.late.Add(1)
	}
	var refused *azcore.ResponseError
	switch {
	case err == nil:
		w.answers.Add(1)
		return w.look(asked, "read", r.Value)
	case errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound:
		w.answers.Add(1)
		if known != 0 && answered.Unix() < known {
			w.lost.Add(1)
		}
		return nil
	}
	return err
}

// list pages through the feed; each page is a question of its own.
func (w *wave) list(ctx context.Context, random *rand.Rand) error {
	headers := []header{{"x-ms-max-item-count", fmt.Sprint(20 + random.IntN(180))}, {}}
	for ctx.Err() == nil {
		asked := time.Now()
		a, err := w.box.server.send("GET", w.box.path+"/docs", nil, headers...)
		if err != nil {
			return err
		}
		if err := w.lookAtFeed(asked, "feed", a); err != nil {
			return err
		}
		next := a.header.Get("x-ms-continuation")
		if next == "" {
			return nil
		}
		headers[1] = header{"x-ms-continuation", next}
	}
	return nil
}

// follow reads the change feed from its beginning.
func (w *wave) follow(ctx context.Context, random *rand.Rand) error {
	headers := []header{{"A-IM", "Incremental feed"}, {"x-ms-max-item-count", fmt.Sprint(20 + random.IntN(180))}, {}}
	for ctx.Err() == nil {
		asked := time.Now()
		a, err := w.box.server.send("GET", w.box.path+"/docs", nil, headers...)
		if err != nil {
			return err
		}
		if a.status == http.StatusNotModified {
			w.answers.Add(1)
			return nil
		}
		if err := w.lookAtFeed(asked, "change feed", a); err != nil {
			return err
		}
		headers[2] = header{"If-None-Match", a.header.Get("etag")}
	}
	return nil
}

func (w *wave) lookAtFeed(asked time.Time, what string, a answer) error {
	if a.status != http.StatusOK {
		return fmt.Errorf("%s: %d %s", what, a.status, a.body)
	}
	w.answers.Add(1)
	var feed struct{ Documents []json.RawMessage }
	if err := json.Unmarshal(a.body, &feed); err != nil {
		return err
	}
	for _, d := range feed.Documents {
		if err := w.look(asked, what, d); err != nil {
			return err
		}
	}
	return nil
}

// look judges one returned item against the second in which it was asked for.
func (w *wave) look(asked time.Time, what string, document []byte) error {
	var d struct {
		ID  string `json:"id"`
		TTL int64  `json:"ttl"`
		TS  int64  `json:"_ts"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return err
	}
	if d.TTL == 0 {
		d.TTL = w.defaultTTL
	}
	w.live.Add(1)
	if deadline := d.TS + d.TTL; asked.Unix() >= deadline {
		w.ghosts.Add(1)
		text := fmt.Sprintf("%s by %s, %v after its deadline", d.ID, what, asked.Sub(time.Unix(deadline, 0)))
		w.example.Store(&text)
	}
	return nil
}
