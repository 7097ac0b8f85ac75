package copying_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/copying"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// Where lives count from a property, items that lack it end at the same second on both sides, too.
func TestLivesFromProperty(t *testing.T) {
	for _, admin := range []bool{false, true} {
		t.Run(fmt.Sprint("admin=", admin), func(t *testing.T) {
			t.Parallel()
			from, to := newBox(t), newBox(t)
			remote := &transfer.Remote{Send: from.admin, Database: "shop", Container: "carts"}
			from.ok(remote.CreateAs(t.Context(), map[string]json.RawMessage{
				"partitionKey":    json.RawMessage(`{"paths":["/pk"],"kind":"Hash"}`),
				"defaultTtl":      json.RawMessage(`100`),
				"ttlPropertyPath": json.RawMessage(`"/made/at"`),
			}, func(err error) bool { return copying.Status(err) == http.StatusConflict }))
			c := from.container("shop", "carts")
			now := begin.Unix()
			put(t, c, "k", fmt.Sprintf(`{"id":"earlier","pk":"k","made":{"at":%d}}`, now-50))
			put(t, c, "k", fmt.Sprintf(`{"id":"later","pk":"k","made":{"at":%d.5},"ttl":70}`, now+50))
			put(t, c, "k", `{"id":"lacking","pk":"k"}`)
			put(t, c, "k", `{"id":"own","pk":"k","ttl":60}`)
			put(t, c, "k", `{"id":"no number","pk":"k","made":{"at":"noon"}}`)
			put(t, c, "k", fmt.Sprintf(`{"id":"ever","pk":"k","made":{"at":%d},"ttl":-1}`, now))
			advance(30*time.Second, from, to)
			o := copying.Options{From: from.nosql("shop"), To: to.nosql("store"), Compare: true}
			if admin {
				o.ToAdmin = to.admin
			}
			result, err := copying.Run(t.Context(), o)
			from.ok(err)
			if p := result.Containers[0]; p.Written != 6 || p.Different != 0 {
				t.Errorf("%+v", p)
			}
			for second := 30; second <= 130; second++ {
				if a, b := living(t, c), living(t, to.container("store", "carts")); a != b {
					t.Fatalf("after %d s: %s in the source, %s in the target", second, a, b)
				}
				advance(time.Second, from, to)
			}
			if got := living(t, to.container("store", "carts")); got != "ever" {
				t.Errorf("at the end there is %q", got)
			}
		})
	}
}
