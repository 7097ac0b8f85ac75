package node

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/clock"
)

// checkedBy starts a check and waits for its result.
func checkedBy(t *testing.T, n *Node) (result checked, s admin.OperationState) {
	t.Helper()
	v1 := n.AdminURL() + "_mayfly/v1/"
	code, text := ask(t, http.DefaultClient, "POST", v1+"check", "", "")
	if err := json.Unmarshal([]byte(text), &s); err != nil || code != http.StatusAccepted {
		t.Fatalf("%d %s", code, text)
	}
	s.Result = &result
	for s.Ended == nil {
		if err := clock.Pause(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
		_, text = ask(t, http.DefaultClient, "GET", v1+"operations/"+s.ID, "", "")
		if json.Unmarshal([]byte(text), &s) != nil {
			t.Fatal(text)
		}
	}
	return result, s
}

// A check of a mayfly in use finds nothing: not a write, a deletion or a reclaim in its middle.
func TestCheckWhileInUse(t *testing.T) {
	s := newAdminStory(t, Options{})
	for _, given := range []string{
		"POST /databases\n" + `{"id": "db"}`,
		"POST /databases/db/containers\n" + `{"id": "a", "partitionKey": {"paths": ["/pk"]}, "defaultTtl": 50}`,
		"POST /databases/db/containers\n" + `{"id": "b", "dialect": "mongodb", "defaultTtl": 50, ` +
			`"indexes": [{"key": {"n": 1}, "name": "n_1", "unique": true}, ` +
			`{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 9}]}`,
	} {
		if _, response, body := s.send(t, given); response.StatusCode != http.StatusCreated {
			t.Fatalf("%d %s", response.StatusCode, body)
		}
	}
	v1 := s.n.AdminURL() + "_mayfly/v1/databases/db/containers/"
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	write := func(container, format string) {
		for i := 0; ctx.Err() == nil; i++ {
			body := fmt.Sprintf(format, i%300, i%7, 1+i%20, i)
			r, _ := http.NewRequest("POST", v1+container+"/items?upsert=true", strings.NewReader(body))
			if response, err := http.DefaultClient.Do(r); err == nil {
				response.Body.Close()
			}
		}
	}
	work.Go(func() { write("a", `{"id": "%d", "pk": "%d", "ttl": %d, "n": %d}`) })
	work.Go(func() {
		write("b", `{"_id": %d, "k": %d, "ttl": %d, "n": %d, "at": {"$date": "2026-03-01T12:00:10Z"}}`)
	})
	work.Go(func() {
		for ctx.Err() == nil {
			if _, err := s.n.Move(ctx, func(now time.Time) time.Time { return now.Add(time.Second) }); err != nil {
				return
			}
			_ = s.n.ReclaimNow(ctx)
		}
	})
	for range 20 {
		result, state := checkedBy(t, s.n)
		if state.State != "done" || !result.Consistent || result.Containers != 2 {
			t.Fatalf("%+v: %+v", state, result)
		}
	}
	cancel()
	work.Wait()
	if result, _ := checkedBy(t, s.n); result.Documents == 0 && s.n.answered.Load() < 100 {
		t.Errorf("nothing was written: %+v", result)
	}
}
