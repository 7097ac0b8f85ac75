package conformance

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// split splits a range of the container and waits for the end.
func (b *box) split(t *testing.T, id string) {
	t.Helper()
	parts := strings.Split(b.path, "/") // dbs, its id, colls, its id
	base := "http://" + b.server.admin + "/_mayfly/v1"
	path := base + "/databases/" + parts[1] + "/containers/" + parts[3] + "/ranges/" + id + "/split"
	resp, err := http.Post(path, "application/json", strings.NewReader("{}"))
	ok(t, "split", err)
	for {
		var operation struct{ ID, State string }
		err = json.NewDecoder(resp.Body).Decode(&operation)
		_ = resp.Body.Close()
		switch {
		case err != nil || operation.State != "running" && operation.State != "done":
			t.Fatalf("split of range %s: %s, %v", id, operation.State, err)
		case operation.State == "done":
			return
		}
		resp, err = http.Get(base + "/operations/" + operation.ID)
		ok(t, "operation", err)
	}
}

// The client reads a page of the change feed of a range, which is then split, and goes on.
func TestChangeFeedOverASplit(t *testing.T) {
	b := newRanges(t)
	ranges, err := b.ReadFeedRanges(within(t, patience), nil)
	ok(t, "feed ranges", err)
	for i := range ranges {
		whole, _ := changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &ranges[i]})
		page, err := b.ReadChangeFeed(within(t, patience),
			&azcosmos.ChangeFeedOptions{FeedRange: &ranges[i], MaxItemCount: 2})
		ok(t, "first page", err)
		var got []string
		for _, one := range page.Items {
			got = append(got, parse(t, one)["id"].(string))
		}
		if i < 2 {
			b.split(t, []string{"0", "1"}[i])
		}
		rest, _ := changes(t, b, azcosmos.ChangeFeedOptions{Continuation: &page.ContinuationToken, MaxItemCount: 2})
		if got = append(got, rest...); inOrder(got) != inOrder(whole) {
			t.Errorf("range %d: %s, want %s", i, inOrder(got), inOrder(whole))
		}
	}
	got, _ := changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &everything, MaxItemCount: 3})
	if inOrder(got) != firstForty() {
		t.Errorf("the feed of the container has %s", inOrder(got))
	}
}

// The client reads pages of a query over all ranges, one of which is split after the first page.
func TestQueryOverASplit(t *testing.T) {
	b := newRanges(t)
	pager := b.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(),
		&azcosmos.QueryOptions{PageSizeHint: 7})
	var got []string
	for n := 0; pager.More(); n++ {
		page, err := pager.NextPage(within(t, patience))
		ok(t, "page", err)
		for _, one := range page.Items {
			got = append(got, parse(t, one)["id"].(string))
		}
		if n < 2 {
			b.split(t, []string{"0", "2"}[n])
		}
	}
	if inOrder(got) != firstForty() {
		t.Errorf("the pages have %s", inOrder(got))
	}
	b.create(t, item{"id": "40", "pk": "key 40"})
	if _, err := b.ReadItem(within(t, patience), azcosmos.NewPartitionKeyString("key 40"), "40", nil); err != nil {
		t.Errorf("read after the splits: %v", err)
	}
}
