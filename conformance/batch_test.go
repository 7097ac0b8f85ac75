package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// codes are the statuses of a batch's operations.
func codes(r azcosmos.TransactionalBatchResponse) []int32 {
	var all []int32
	for _, o := range r.OperationResults {
		all = append(all, o.StatusCode)
	}
	return all
}

func TestBatchCommits(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	ctx := within(t, patience)
	for _, id := range []string{"read", "replace", "upsert", "patch", "delete"} {
		b.create(t, item{"id": id, "n": 1})
	}
	batch := b.NewTransactionalBatch(partitionP)
	batch.CreateItem(item{"id": "create", "pk": "p"}.bytes(t), nil)
	batch.ReadItem("read", nil)
	batch.ReplaceItem("replace", item{"id": "replace", "pk": "p", "n": 2}.bytes(t), nil)
	batch.UpsertItem(item{"id": "upsert", "pk": "p", "n": 2}.bytes(t), nil)
	batch.UpsertItem(item{"id": "inserted", "pk": "p", "n": 2}.bytes(t), nil)
	var ops azcosmos.PatchOperations
	ops.AppendIncrement("/n", 1)
	batch.PatchItem("patch", ops, nil)
	batch.DeleteItem("delete", nil)
	batch.ReadItem("create", nil)

	r, err := b.ExecuteTransactionalBatch(ctx, batch,
		&azcosmos.TransactionalBatchOptions{EnableContentResponseOnWrite: true})
	ok(t, "execute", err)
	if want := []int32{201, 200, 200, 200, 201, 200, 204, 200}; !r.Success || !slices.Equal(codes(r), want) {
		t.Fatalf("success %v, codes %v, want %v", r.Success, codes(r), want)
	}
	for i, o := range r.OperationResults {
		if o.RequestCharge <= 0 {
			t.Errorf("operation %d: charge %v", i, o.RequestCharge)
		}
		if isDelete := i == 6; (o.ETag == "" || o.ResourceBody == nil) != isDelete {
			t.Errorf("operation %d: etag %q, body %s", i, o.ETag, o.ResourceBody)
		}
	}
	for id, n := range map[string]any{"replace": 2.0, "upsert": 2.0, "inserted": 2.0, "patch": 2.0, "read": 1.0} {
		if _, got := b.read(t, id); got["n"] != n {
			t.Errorf("%s after the batch: %v", id, got)
		}
	}
	if got, _ := b.read(t, "delete"); got != http.StatusNotFound {
		t.Errorf("deleted item: %d", got)
	}
}

func TestBatchRollsBack(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	ctx := within(t, patience)
	kept := b.create(t, item{"id": "kept", "n": 1})
	stale := azcore.ETag(`"00000000-0000-0000-0000-000000000000"`)

	for name, c := range map[string]struct {
		fail func(*azcosmos.TransactionalBatch)
		want int32
	}{
		"conflict": {func(b *azcosmos.TransactionalBatch) {
			b.CreateItem([]byte(`{"id":"kept","pk":"p"}`), nil)
		}, 409},
		"missing":   {func(b *azcosmos.TransactionalBatch) { b.ReadItem("absent", nil) }, 404},
		"no delete": {func(b *azcosmos.TransactionalBatch) { b.DeleteItem("absent", nil) }, 404},
		"etag": {func(b *azcosmos.TransactionalBatch) {
			b.ReplaceItem("kept", []byte(`{"id":"kept","pk":"p"}`),
				&azcosmos.TransactionalBatchItemOptions{IfMatchETag: &stale})
		}, 412},
	} {
		t.Run(name, func(t *testing.T) {
			batch := b.NewTransactionalBatch(partitionP)
			batch.CreateItem(item{"id": "new", "pk": "p"}.bytes(t), nil)
			batch.UpsertItem(item{"id": "kept", "pk": "p", "n": 2}.bytes(t), nil)
			c.fail(&batch)
			batch.DeleteItem("kept", nil)
			r, err := b.ExecuteTransactionalBatch(ctx, batch, nil)
			ok(t, "execute", err)
			if r.RawResponse.StatusCode != http.StatusMultiStatus || r.Success {
				t.Errorf("status %d, success %v", r.RawResponse.StatusCode, r.Success)
			}
			if want := []int32{424, 424, c.want, 424}; !slices.Equal(codes(r), want) {
				t.Errorf("codes %v, want %v", codes(r), want)
			}
			if got, _ := b.read(t, "new"); got != http.StatusNotFound {
				t.Errorf("an operation before the failure was applied: %d", got)
			}
			if _, got := b.read(t, "kept"); got["_etag"] != kept["_etag"] {
				t.Errorf("the item that was there changed: %v", got)
			}
		})
	}
}

func TestBatchLimits(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	ctx := within(t, patience)
	for n, want := range map[int]int{100: http.StatusOK, 101: http.StatusBadRequest} {
		batch := b.NewTransactionalBatch(partitionP)
		for i := range n {
			batch.CreateItem(item{"id": fmt.Sprintf("%d-%d", n, i), "pk": "p"}.bytes(t), nil)
		}
		r, err := b.ExecuteTransactionalBatch(ctx, batch, nil)
		if err != nil {
			wantStatus(t, fmt.Sprint(n, " operations"), err, want)
		} else if r.RawResponse.StatusCode != want {
			t.Errorf("%d operations: %d, want %d", n, r.RawResponse.StatusCode, want)
		}
	}
}
