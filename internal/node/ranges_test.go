package node

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/clock"
)

// sent sends a request to the admin API of a node, and decodes the answer into out.
func sent(t *testing.T, n *Node, method, path, body string, want int, out any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, n.AdminURL()+"_mayfly/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != want {
		t.Fatalf("%s %s: %s, want %d", method, path, response.Status, want)
	}
	if out != nil {
		if err := json.NewDecoder(response.Body).Decode(out); err != nil {
			t.Fatal(err)
		}
	}
}

// ended waits for the end of an operation.
func ended(t *testing.T, n *Node, o admin.OperationState) admin.OperationState {
	t.Helper()
	for o.Ended == nil {
		if err := clock.Pause(t.Context(), 5*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		sent(t, n, "GET", "/operations/"+o.ID, "", 200, &o)
	}
	return o
}

// TestSplitOverNodes splits ranges through one node while programs write through the other one.
func TestSplitOverNodes(t *testing.T) {
	_, nodes := startSharing(t, 2)
	nosql(t, nodes[0], "POST", "/dbs", "", `{"id":"d"}`)
	nosql(t, nodes[0], "POST", "/dbs/d/colls", "", `{"id":"c","partitionKey":{"paths":["/p"],"kind":"Hash","version":2}}`)
	var writers sync.WaitGroup
	over := make(chan struct{})
	var mu sync.Mutex
	written := map[string]bool{}
	for w := range 3 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				id := fmt.Sprintf("%d-%d", w, i)
				item := fmt.Sprintf(`{"id":%q,"p":%[1]q}`, id)
				code, text := nosql(t, nodes[1], "POST", "/dbs/d/colls/c/docs", id, item)
				if code != 201 {
					t.Errorf("%s: %d %s", id, code, text)
					return
				}
				mu.Lock()
				written[id] = true
				mu.Unlock()
			}
		})
	}
	stop := sync.OnceFunc(func() {
		close(over)
		writers.Wait()
	})
	defer stop()
	for n := 0; n < 60; {
		if err := clock.Pause(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		n = len(written)
		mu.Unlock()
	}
	const ranges = "/databases/d/containers/c/ranges"
	for _, id := range []string{"0", "1", "4"} {
		var o admin.OperationState
		sent(t, nodes[0], "POST", ranges+"/"+id+"/split", `{"at":"median"}`, 202, &o)
		if o = ended(t, nodes[0], o); o.State != "done" {
			t.Fatalf("the split of range %s is %s: %+v", id, o.State, o.Error)
		}
	}
	stop()
	var list admin.RangeList
	sent(t, nodes[1], "GET", ranges, "", 200, &list)
	var ids []string
	items := int64(0)
	for _, r := range list.Ranges {
		ids = append(ids, r.ID+"<"+strings.Join(r.Parents, "<"))
		items += r.Items
	}
	slices.Sort(ids)
	if want := []string{"2<0", "3<0<1", "5<0<1<4", "6<0<1<4"}; !slices.Equal(ids, want) || list.Split != nil {
		t.Errorf("the ranges are %v, want %v", ids, want)
	}
	if items != int64(len(written)) {
		t.Errorf("the ranges have %d items, %d were written", items, len(written))
	}
	for id := range written {
		for i, n := range nodes {
			if code, text := nosql(t, n, "GET", "/dbs/d/colls/c/docs/"+id, id, ""); code != 200 {
				t.Errorf("item %s through node %d: %d %s", id, i, code, text)
			}
		}
	}
	sent(t, nodes[0], "POST", ranges+"/0/split", "", 404, nil)
	sent(t, nodes[0], "POST", ranges+"/2/split", `{"at":"zz"}`, 400, nil)
	sent(t, nodes[0], "POST", ranges+"/2/split", `{"at":"3F00"}`, 400, nil)
}

// TestSplitSaysWhatItCannot: errors that name what is not possible.
func TestSplitSaysWhatItCannot(t *testing.T) {
	n := start(t, Options{NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0", TLS: TLS{Off: true}, Key: WellKnownKey})
	sent(t, n, "POST", "/databases", `{"id":"d"}`, 201, nil)
	sent(t, n, "POST", "/databases/d/containers", `{"id":"m","dialect":"mongodb"}`, 201, nil)
	sent(t, n, "POST", "/databases/d/containers/m/ranges/0/split", "", 501, nil)
	sent(t, n, "POST", "/databases/d/containers",
		`{"id":"c","partitionKey":{"paths":["/p"]},"partitions":2}`, 201, nil)
	sent(t, n, "POST", "/databases/d/containers/c/ranges/7/split", "", 404, nil)
	sent(t, n, "POST", "/databases/d/containers/c/ranges/x/split", "", 404, nil)
	sent(t, n, "POST", "/databases/d/containers/c/ranges/0/split", `{"at":"median"}`, 400, nil)
	var o admin.OperationState
	sent(t, n, "POST", "/databases/d/containers/c/ranges/0/split", "", 202, &o)
	if o = ended(t, n, o); o.State != "done" {
		t.Errorf("the split of an empty range is %s: %+v", o.State, o.Error)
	}
}
