package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// everyPartition is the partition key of a query over all of them.
var everyPartition = azcosmos.NewPartitionKey()

// rows asks a query page by page, and gives the ids of the items.
func (b *box) rows(
	t testing.TB, query string, key azcosmos.PartitionKey, o azcosmos.QueryOptions,
) (ids []string, pages int) {
	t.Helper()
	pager := b.NewQueryItemsPager(query, key, &o)
	for pager.More() {
		page, err := pager.NextPage(within(t, patience))
		ok(t, query, err)
		if page.RequestCharge <= 0 || page.ActivityID == "" {
			t.Errorf("%s: charge %v, activity %q", query, page.RequestCharge, page.ActivityID)
		}
		for _, row := range page.Items {
			ids = append(ids, fmt.Sprint(parse(t, row)["id"]))
		}
		if pages++; pages > 100 {
			t.Fatalf("%s: more than 100 pages", query)
		}
	}
	return ids, pages
}

func TestQueryPages(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	var want []string
	for i := range 25 {
		id := fmt.Sprintf("%02d", i)
		want = append(want, id)
		b.create(t, item{"id": id, "pk": fmt.Sprint("p", i%3), "n": i, "even": i%2 == 0})
	}
	for _, tt := range []struct {
		name, query string
		pages       int
		want        []string
	}{
		{"everything", "SELECT * FROM c", 5, want},
		{"in order", "SELECT * FROM c ORDER BY c.n", 5, want},
		{"a range", "SELECT c.id FROM c WHERE c.n >= 20 ORDER BY c.n", 1, want[20:]},
		{"top", "SELECT TOP 7 c.id FROM c ORDER BY c.n", 2, want[:7]},
		{"a window", "SELECT c.id FROM c ORDER BY c.n OFFSET 3 LIMIT 4", 1, want[3:7]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, pages := b.rows(t, tt.query, everyPartition, azcosmos.QueryOptions{PageSizeHint: 5})
			if !slices.Equal(got, tt.want) || pages != tt.pages {
				t.Errorf("%d pages of %v, want %d of %v", pages, got, tt.pages, tt.want)
			}
		})
	}
}

// TestQueryOrderInPartition reads the newest items of a partition of 600 in pages. A composite index that begins with
// the partition key has their order, and so may the index of a path: a page costs about what its items cost.
func TestQueryOrderInPartition(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{IndexingPolicy: &azcosmos.IndexingPolicy{
		Automatic: true, IndexingMode: azcosmos.IndexingModeConsistent,
		IncludedPaths: []azcosmos.IncludedPath{{Path: "/*"}},
		CompositeIndexes: [][]azcosmos.CompositeIndex{{{Path: "/pk", Order: azcosmos.CompositeIndexAscending},
			{Path: "/at", Order: azcosmos.CompositeIndexDescending}}},
	}})
	const count = 600
	var want []string
	for i := 0; i < count; i += 100 {
		batch := b.NewTransactionalBatch(partitionP)
		for j := i; j < i+100; j++ {
			batch.CreateItem(item{"id": fmt.Sprint(j), "pk": "p", "at": j, "also": j}.bytes(t), nil)
			want = append(want, fmt.Sprint(j))
		}
		r, err := b.ExecuteTransactionalBatch(within(t, patience), batch, nil)
		ok(t, "batch", err)
		if !r.Success {
			t.Fatalf("batch: %v", codes(r))
		}
	}
	slices.Reverse(want)
	for _, query := range []string{"SELECT * FROM c ORDER BY c.at DESC", "SELECT * FROM c ORDER BY c.also DESC",
		"SELECT * FROM c WHERE c.pk = 'p' ORDER BY c.at DESC"} {
		got, pages := b.rows(t, query, partitionP, azcosmos.QueryOptions{PageSizeHint: 40})
		if !slices.Equal(got, want) || pages != count/40 {
			t.Errorf("%s: %d pages of %v", query, pages, got)
		}
		first, err := b.NewQueryItemsPager(query, partitionP, &azcosmos.QueryOptions{PageSizeHint: 10}).
			NextPage(within(t, patience))
		ok(t, query, err)
		if n := len(first.Items); n != 10 || first.RequestCharge > 6 {
			t.Errorf("%s: %d items for %v request units", query, n, first.RequestCharge)
		}
	}
}

func TestQueryWithParameters(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	b.create(t, item{"id": "1", "pk": "p", "name": "Ada", "tags": []any{"x", "y"}})
	b.create(t, item{"id": "2", "pk": "p", "name": "Bob", "tags": []any{"z"}})
	o := azcosmos.QueryOptions{QueryParameters: []azcosmos.QueryParameter{{Name: "@name", Value: "Ada"},
		{Name: "@tags", Value: []string{"y", "z"}}}}
	for query, want := range map[string]string{
		"SELECT * FROM c WHERE c.name = @name":                                                   "[1]",
		"SELECT * FROM c WHERE c.name != @name":                                                  "[2]",
		"SELECT * FROM c WHERE ARRAY_CONTAINS(@tags, c.tags[0])":                                 "[2]",
		"SELECT c.id FROM c JOIN t IN c.tags WHERE ARRAY_CONTAINS(@tags, t) ORDER BY c.id":       "[1 2]",
		"SELECT c.id FROM c WHERE c.absent = @absent":                                            "[]",
		"SELECT VALUE {\"id\": UPPER(c.name)} FROM c WHERE c.name LIKE 'A%'":                     "[ADA]",
		"SELECT c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t IN ('x', 'q'))": "[1]",
	} {
		if got, _ := b.rows(t, query, partitionP, o); fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}

func TestQueryMistakes(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	for _, query := range []string{"", "SELEC * FROM c", "SELECT * FROM c WHERE x.n = 1",
		"SELECT * FROM c WHERE c.n = NOSUCH(1)", "SELECT * FROM c ORDER BY c.a, c.b", "SELECT * FROM c;"} {
		_, err := b.NewQueryItemsPager(query, partitionP, nil).NextPage(within(t, patience))
		wantStatus(t, query, err, http.StatusBadRequest)
	}
}

func TestReadManyItems(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	var wanted []azcosmos.ItemIdentity
	for i := range 12 {
		id, pk := fmt.Sprint(i), fmt.Sprint("p", i%4)
		b.create(t, item{"id": id, "pk": pk})
		if i%2 == 0 {
			wanted = append(wanted, azcosmos.ItemIdentity{ID: id, PartitionKey: azcosmos.NewPartitionKeyString(pk)})
		}
	}
	got, err := b.ReadManyItems(within(t, patience), wanted, nil)
	ok(t, "read many", err)
	if len(got.Items) != len(wanted) {
		t.Errorf("%d items, want %d", len(got.Items), len(wanted))
	}
}

// Expired items are in no answer, whichever way a query takes.
func TestQueriesSeeNoExpiredItem(t *testing.T) {
	s := start(t, "--memory", "--clock=virtual")
	minute := int32(60)
	b := newBox(t, s, azcosmos.ContainerProperties{DefaultTimeToLive: &minute})
	for i := range 20 {
		made := item{"id": fmt.Sprintf("%02d", i), "pk": "p", "n": i % 5, "tags": []any{i % 3}}
		if i%2 == 1 {
			made["ttl"] = 10
		}
		b.create(t, made)
	}
	s.advance(t, 10*time.Second)
	for _, query := range []string{
		"SELECT * FROM c", "SELECT * FROM c WHERE c.n >= 0", "SELECT * FROM c ORDER BY c.n DESC",
		"SELECT * FROM c WHERE c.n IN (0, 1, 2, 3, 4)",
		"SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, 0) OR c.tags[0] > 0", "SELECT * FROM c ORDER BY c._ts",
		"SELECT * FROM c WHERE c._ts > 0",
	} {
		for _, key := range []azcosmos.PartitionKey{everyPartition, partitionP} {
			if got, _ := b.rows(t, query, key, azcosmos.QueryOptions{PageSizeHint: 3}); len(got) != 10 {
				t.Errorf("%s: %v, want the ten that live", query, got)
			}
		}
	}
	for query, want := range map[string]string{
		"SELECT VALUE {\"id\": COUNT(1)} FROM c":                                        "[10]",
		"SELECT VALUE {\"id\": COUNT(1)} FROM c WHERE c.n = 1":                          "[2]",
		"SELECT VALUE {\"id\": SUM(c.n)} FROM c":                                        "[20]",
		"SELECT c.n AS id FROM c GROUP BY c.n":                                          "[0 1 2 3 4]",
		"SELECT DISTINCT c.n AS id FROM c WHERE c.n < 2":                                "[0 1]",
		"SELECT COUNT(1) AS id FROM c JOIN t IN c.tags":                                 "[10]",
		"SELECT VALUE {\"id\": COUNT(1)} FROM c WHERE c.id IN (\"00\", \"01\", \"02\")": "[2]",
	} {
		if got, _ := b.rows(t, query, partitionP, azcosmos.QueryOptions{}); fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	s.advance(t, 50*time.Second)
	if got, _ := b.rows(t, "SELECT * FROM c", everyPartition, azcosmos.QueryOptions{}); len(got) != 0 {
		t.Errorf("after a minute: %v", got)
	}
}
