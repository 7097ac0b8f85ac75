package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

var everything = azcosmos.FeedRange{MinInclusive: "", MaxExclusive: "FF"}

// changes drains a change feed and returns the ids it gave and where it stands.
func changes(t testing.TB, b *box, o azcosmos.ChangeFeedOptions) (ids []string, continuation string) {
	t.Helper()
	for range 1000 {
		page, err := b.ReadChangeFeed(within(t, patience), &o)
		if err != nil {
			t.Fatalf("change feed: %v", err)
		}
		for _, i := range page.Items {
			ids = append(ids, parse(t, i)["id"].(string))
		}
		if page.ContinuationToken == "" {
			t.Fatal("change feed: no continuation")
		}
		o.Continuation = &page.ContinuationToken
		if len(page.Items) == 0 {
			if page.RawResponse.StatusCode != http.StatusNotModified {
				t.Errorf("nothing new: status %d, want 304", page.RawResponse.StatusCode)
			}
			return ids, page.ContinuationToken
		}
	}
	t.Fatal("change feed: no end")
	return nil, ""
}

func TestChangeFeed(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	ctx := within(t, patience)
	for i := range 5 {
		b.create(t, item{"id": fmt.Sprint(i), "pk": fmt.Sprint("k", i%2)})
	}
	k0 := azcosmos.NewPartitionKeyString("k0")
	got, here := changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &everything, MaxItemCount: 2})
	if strings.Join(got, "") != "01234" {
		t.Errorf("from the beginning: %v", got)
	}
	got, _ = changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &everything, PartitionKey: &k0})
	if strings.Join(got, "") != "024" {
		t.Errorf("of one partition: %v", got)
	}

	_, err := b.UpsertItem(ctx, k0, item{"id": "0", "pk": "k0", "n": 2}.bytes(t), nil)
	ok(t, "upsert", err)
	_, err = b.DeleteItem(ctx, k0, "2", nil)
	ok(t, "delete", err)
	got, _ = changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &everything})
	if strings.Join(got, "") != "1340" {
		t.Errorf("an item appears once, at its latest version, and not after its delete: %v", got)
	}
	got, _ = changes(t, b, azcosmos.ChangeFeedOptions{Continuation: &here})
	if strings.Join(got, "") != "0" {
		t.Errorf("from a continuation: %v", got)
	}

	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	got, _ = changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &everything, StartFrom: &past})
	if len(got) != 4 {
		t.Errorf("from an hour ago: %v", got)
	}
	got, _ = changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &everything, StartFrom: &future})
	if len(got) != 0 {
		t.Errorf("from an hour ahead: %v", got)
	}
}

func TestChangeFeedFromNow(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	b.create(t, item{"id": "before"})
	incremental := header{"A-IM", "Incremental feed"}
	first := b.server.do(t, "GET", b.path+"/docs", nil, incremental, header{"If-None-Match", "*"})
	if first.status != http.StatusNotModified || first.header.Get("etag") == "" || len(first.body) != 0 {
		t.Fatalf("from now: %d, etag %q, %s", first.status, first.header.Get("etag"), first.body)
	}
	b.create(t, item{"id": "after"})
	next := b.server.do(t, "GET", b.path+"/docs", nil, incremental, header{"If-None-Match", first.header.Get("etag")})
	if got := next.items(); len(got) != 1 || got[0]["id"] != "after" || got[0]["_lsn"] == nil {
		t.Errorf("after it: %d %s", next.status, next.body)
	}
}

// Sub-ranges of the one physical range share its items out: none twice, none lost.
func TestChangeFeedSubRanges(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{})
	for i := range 40 {
		b.create(t, item{"id": fmt.Sprint(i), "pk": fmt.Sprint("key ", i)})
	}
	ranges, err := b.ReadFeedRanges(within(t, patience), nil)
	ok(t, "feed ranges", err)
	if len(ranges) != 1 || ranges[0] != everything {
		t.Errorf("feed ranges: %v", ranges)
	}
	seen := map[string]int{}
	bounds := []string{"", "10", "20", "30", "FF"}
	for i := range len(bounds) - 1 {
		feed := b.server.do(t, "GET", b.path+"/docs", nil,
			header{"A-IM", "Incremental feed"},
			header{"x-ms-documentdb-partitionkeyrangeid", "0"},
			header{"x-ms-read-key-type", "EffectivePartitionKeyRange"},
			header{"x-ms-start-epk", bounds[i]}, header{"x-ms-end-epk", bounds[i+1]})
		if feed.status != http.StatusOK {
			t.Errorf("range %q to %q: %d %s", bounds[i], bounds[i+1], feed.status, feed.body)
		}
		for _, d := range feed.items() {
			seen[d["id"].(string)]++
		}
	}
	for i := range 40 {
		if n := seen[fmt.Sprint(i)]; n != 1 {
			t.Errorf("item %d seen %d times over the sub-ranges", i, n)
		}
	}
}
