package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// newRanges makes a container with four ranges of partition keys, and 40 items in 40 partitions.
func newRanges(t *testing.T) *box {
	t.Helper()
	s := shared(t)
	db := newDatabase(t, s)
	made := s.do(t, "POST", "dbs/"+db.ID()+"/colls",
		`{"id":"things","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`, header{"x-mayfly-partitions", "4"})
	if made.status != http.StatusCreated || made.header.Get("x-mayfly-partitions") != "4" {
		t.Fatalf("create: %d %s", made.status, made.body)
	}
	c, err := db.NewContainer("things")
	ok(t, "container", err)
	b := &box{c, s, "dbs/" + db.ID() + "/colls/things"}
	for i := range 40 {
		b.create(t, item{"id": fmt.Sprint(i), "pk": fmt.Sprint("key ", i), "n": i, "third": i % 3})
	}
	return b
}

// inOrder sorts ids by number.
func inOrder(ids []string) string {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})
	return strings.Join(ids, " ")
}

// firstForty is what inOrder gives for all items of newRanges.
func firstForty() string {
	var ids []string
	for i := range 40 {
		ids = append(ids, fmt.Sprint(i))
	}
	return strings.Join(ids, " ")
}

// Each feed range is read with the id of the range behind it.
func TestChangeFeedOfEachRange(t *testing.T) {
	b := newRanges(t)
	ranges, err := b.ReadFeedRanges(within(t, patience), nil)
	ok(t, "feed ranges", err)
	if len(ranges) != 4 || ranges[0].MinInclusive != "" || ranges[3].MaxExclusive != "FF" {
		t.Fatalf("feed ranges: %v", ranges)
	}
	var all []string
	places := make([]string, len(ranges))
	for i := range ranges {
		var got []string
		got, places[i] = changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &ranges[i], MaxItemCount: 3})
		if len(got) == 0 {
			t.Errorf("range %v is empty", ranges[i])
		}
		all = append(all, got...)
	}
	if inOrder(all) != firstForty() {
		t.Errorf("the ranges have %s", inOrder(all))
	}
	b.create(t, item{"id": "40", "pk": "key 40"})
	var more []string
	for i := range places {
		got, _ := changes(t, b, azcosmos.ChangeFeedOptions{Continuation: &places[i]})
		more = append(more, got...)
	}
	if strings.Join(more, " ") != "40" {
		t.Errorf("then: %v", more)
	}
}

// The client keeps a queue of ranges for the feed of the container, and the feed of a partition is in one of them.
func TestChangeFeedOverRanges(t *testing.T) {
	b := newRanges(t)
	got, here := changes(t, b, azcosmos.ChangeFeedOptions{FeedRange: &everything, MaxItemCount: 3})
	if inOrder(got) != firstForty() {
		t.Errorf("the feed has %s", inOrder(got))
	}
	b.create(t, item{"id": "40", "pk": "key 40"})
	if got, _ = changes(t, b, azcosmos.ChangeFeedOptions{Continuation: &here}); strings.Join(got, " ") != "40" {
		t.Errorf("then: %v", got)
	}
}

// The client groups items by range, with its own hash of their keys, and asks each range for its own.
func TestReadManyOverRanges(t *testing.T) {
	b := newRanges(t)
	var wanted []azcosmos.ItemIdentity
	for i := range 40 {
		wanted = append(wanted, azcosmos.ItemIdentity{ID: fmt.Sprint(i),
			PartitionKey: azcosmos.NewPartitionKeyString(fmt.Sprint("key ", i))})
	}
	r, err := b.ReadManyItems(within(t, patience), wanted, nil)
	ok(t, "read many", err)
	var got []string
	for _, i := range r.Items {
		got = append(got, parse(t, i)["id"].(string))
	}
	if inOrder(got) != firstForty() {
		t.Errorf("read many: %s", inOrder(got))
	}
}

// The client leaves queries to the server.
func TestQueriesOverRanges(t *testing.T) {
	b := newRanges(t)
	for query, want := range map[string]string{
		"SELECT VALUE c.n FROM c WHERE c.n < 4 ORDER BY c.n":                "0 1 2 3",
		"SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 2 LIMIT 3":        "37 36 35",
		"SELECT VALUE COUNT(1) FROM c":                                      "40",
		"SELECT VALUE SUM(c.n) FROM c":                                      "780",
		"SELECT VALUE AVG(c.n) FROM c":                                      "19.5",
		"SELECT VALUE MAX(c.n) FROM c":                                      "39",
		"SELECT DISTINCT VALUE c.third FROM c ORDER BY c.third":             "0 1 2",
		"SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.third FROM c)": "3",
		"SELECT TOP 3 VALUE c.n FROM c WHERE c.n > 7 ORDER BY c.n":          "8 9 10",
	} {
		pages := b.NewQueryItemsPager(query, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{PageSizeHint: 2})
		var got []string
		for pages.More() {
			page, err := pages.NextPage(within(t, patience))
			ok(t, query, err)
			for _, row := range page.Items {
				got = append(got, string(row))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}

// A session token names the range of the item, and is good for reading it.
func TestSessionsOverRanges(t *testing.T) {
	b := newRanges(t)
	seen := map[string]bool{}
	for i := range 40 {
		pk := azcosmos.NewPartitionKeyString(fmt.Sprint("key ", i))
		batch := b.NewTransactionalBatch(pk)
		batch.UpsertItem(item{"id": fmt.Sprint(i), "pk": fmt.Sprint("key ", i)}.bytes(t), nil)
		batch.ReadItem(fmt.Sprint(i), nil)
		written, err := b.ExecuteTransactionalBatch(within(t, patience), batch, nil)
		ok(t, "batch", err)
		token := written.SessionToken
		id, _, _ := strings.Cut(token, ":")
		seen[id] = true
		read, err := b.ReadItem(within(t, patience), pk, fmt.Sprint(i), &azcosmos.ItemOptions{SessionToken: &token})
		ok(t, "read", err)
		if read.SessionToken == nil || !strings.HasPrefix(*read.SessionToken, id+":") ||
			read.RawResponse.Header.Get("x-ms-documentdb-partitionkeyrangeid") != id {
			t.Errorf("item %d: written with %s, read with %v", i, token, read.SessionToken)
		}
	}
	if len(seen) != 4 {
		t.Errorf("tokens of the ranges %v", seen)
	}
}

// A range that the container does not have.
func TestRangesThatAreGone(t *testing.T) {
	b := newRanges(t)
	gone := b.server.do(t, "GET", b.path+"/docs", nil, header{"x-ms-documentdb-partitionkeyrangeid", "4"})
	if gone.status != http.StatusGone || gone.header.Get("x-ms-substatus") != "1002" {
		t.Errorf("range 4: %d, substatus %s, %s", gone.status, gone.header.Get("x-ms-substatus"), gone.body)
	}
}
