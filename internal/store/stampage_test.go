package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestStampIsBeforeTheCommit (D-91) makes a commit take three seconds where several processes share the data. The
// document's life counts from its stamp, so of ten seconds somebody sees seven. A reader of the feed that knows a
// place gets the document; one that begins after an instant at which it was not visible yet, but that is later than
// its stamp, does not.
func TestStampIsBeforeTheCommit(t *testing.T) {
	ctx := context.Background()
	s := newStreet(t, 2, definition(10))
	writer, reader := s.worlds[0], s.worlds[1]
	feed := func(after uint64) (ids []string) {
		for d, err := range reader.store.Changes(ctx, reader.view(), 0, nil, after) {
			reader.ok(err)
			id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
			ids = append(ids, string(id))
		}
		return ids
	}
	_, err := writer.write(writer.put(store.Create, "p", "before", `"ttl":-1`))
	writer.ok(err)
	place, err := reader.store.Sequence(ctx, reader.c, 0)
	reader.ok(err)

	begun := s.cluster.Now().Unix()
	s.cluster.Placed = func() {
		s.cluster.Placed = nil
		if reader.alive("p", "x") {
			t.Error("the document is visible before its commit")
		}
		s.cluster.Move(3 * time.Second)
	}
	r, err := writer.write(writer.put(store.Create, "p", "x", ""))
	writer.ok(err)
	if r.Stamp != begun {
		t.Errorf("the stamp is %d, want %d", r.Stamp, begun)
	}
	if got := feed(place); len(got) != 1 || got[0] != "x" {
		t.Errorf("behind its place a reader of the feed finds %q", got)
	}
	after, err := reader.store.SequenceAt(ctx, reader.view(), 0, begun+2)
	reader.ok(err)
	if got := feed(after); len(got) != 0 {
		t.Errorf("after an instant later than the stamp a reader of the feed finds %q", got)
	}
	for _, c := range []struct {
		at    expiry.Stamp
		alive bool
	}{{begun + 9, true}, {begun + 10, false}} {
		s.cluster.Move(time.Unix(c.at, 0).Sub(s.cluster.Now().Truncate(time.Second)))
		if got := reader.alive("p", "x"); got != c.alive {
			t.Errorf("%d seconds after its stamp the document is alive: %t", c.at-begun, got)
		}
	}
}
