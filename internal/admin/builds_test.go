package admin

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// An index build is among the operations while it is under way, and cannot be cancelled.
func TestIndexBuildsAreOperations(t *testing.T) {
	o, _ := virtualOptions()
	list := []IndexBuild{{Number: 7, Database: "shop", Container: "carts", Done: 30, Total: 120,
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, {Number: 3, Database: "shop", Container: "visits"}}
	o.IndexBuilds = func() []IndexBuild { return list }
	h := New(o)
	var all struct{ Operations []OperationState }
	w := send(h, "GET", "/operations", "")
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || len(all.Operations) != 2 {
		t.Fatalf("%v: %s", err, w.Body)
	}
	s := all.Operations[0]
	if s.Kind != "index build" || s.Target != "shop/carts" || s.State != stateRunning || s.Done != 30 ||
		s.Total != 120 || s.Unit != "documents" || s.Started.Year() != 2026 || s.Ended != nil {
		t.Errorf("%+v", s)
	}
	if all.Operations[1].Started.IsZero() {
		t.Error("a build that goes on since before the start has no time")
	}
	if w := send(h, "GET", "/operations/"+s.ID, ""); w.Code != 200 || !strings.Contains(w.Body.String(), "shop/carts") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = send(h, "DELETE", "/operations/"+s.ID, "")
	if p := problemOf(t, w); w.Code != 409 || !strings.Contains(p.Detail, "cannot be cancelled: drop the index") {
		t.Errorf("%d %+v", w.Code, p)
	}
	list = nil
	for _, method := range []string{"GET", "DELETE"} {
		if w := send(h, method, "/operations/"+s.ID, ""); w.Code != 404 {
			t.Errorf("%s of one that is over: %d %s", method, w.Code, w.Body)
		}
	}
}
