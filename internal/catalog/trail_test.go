package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// noon is when the clock of a trail begins. It moves on by a minute with each event.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (h *house) audited() *house {
	now := noon.Add(-time.Minute)
	h.SetClock(func() time.Time { now = now.Add(time.Minute); return now })
	return h
}

// events gives the events of a part of the trail as "number action kind target".
func (h *house) events(s catalog.Stretch) (list []string) {
	h.t.Helper()
	for e, err := range h.Events(ctx, s) {
		h.ok(err)
		list = append(list, strings.TrimSpace(fmt.Sprint(e.Number, " ", e.Action, " ", e.Kind, " ", e.Target)))
	}
	return list
}

func (h *house) wantEvents(s catalog.Stretch, want ...string) {
	h.t.Helper()
	if got := h.events(s); !slices.Equal(got, want) {
		h.t.Errorf("%+v:\n got %q\nwant %q", s, got, want)
	}
}

// last is the newest event, as JSON.
func (h *house) last() string {
	h.t.Helper()
	for e, err := range h.Events(ctx, catalog.Stretch{Max: 1}) {
		h.ok(err)
		text, err := json.Marshal(e)
		h.ok(err)
		return string(text)
	}
	return ""
}

func TestEveryChangeHasItsEvent(t *testing.T) {
	h := newHouse(t, false).audited()
	ann := audit.With(ctx, audit.Who{API: audit.NoSQL, Principal: "primary", Address: "127.0.0.1:4711"})
	db, err := h.CreateDatabase(ann, 100, "shop", nil)
	h.ok(err)
	ct, err := h.CreateContainer(ann, 100, db, definition("orders"), nil)
	h.ok(err)
	h.replace(200, ct, func(d *catalog.Definition) { d.TTL = 60 })
	change := `"changes":[{"name":"defaultTtl","before":-1,"after":60}]}`
	if got := h.last(); !strings.HasSuffix(got, change) {
		t.Errorf("got %s, want …%s", got, change)
	}
	h.replace(200, ct, func(*catalog.Definition) {})
	index := catalog.NamedIndex{Name: "a_1", Spec: body(`{"name":"a_1","expireAfterSeconds":60}`)}
	_, err = h.ReplaceIndexes(ann, 200, ct, func(*catalog.State) ([]catalog.NamedIndex, error) {
		return []catalog.NamedIndex{index}, nil
	})
	h.ok(err)
	_, err = h.ReplaceIndexes(ann, 200, ct, func(st *catalog.State) ([]catalog.NamedIndex, error) {
		list := slices.Clone(st.Named)
		list[0].Spec = body(`{"name":"a_1","expireAfterSeconds":5}`)
		return list, nil
	})
	h.ok(err)
	const want = `{"number":5,"time":"2026-03-01T12:04:00Z","api":"nosql","principal":"primary","address":"127.0.0.1:4711",` +
		`"action":"replace","kind":"index","target":"shop/orders/a_1",` +
		`"changes":[{"name":"expireAfterSeconds","before":60,"after":5}]}`
	if got := h.last(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	user, err := h.CreateResource(ann, 200, catalog.User, catalog.Owner{Database: db.ID}, "bob", nil)
	h.ok(err)
	of := catalog.Owner{Database: db.ID, User: user.Number}
	p, err := h.CreateResource(ann, 200, catalog.Permission, of, "p", body(`{"permissionMode":"Read"}`))
	h.ok(err)
	_, err = h.ReplaceResource(ann, 200, p, "q", body(`{"permissionMode":"All","resourcePartitionKey":["secret"]}`))
	h.ok(err)
	if got := h.last(); strings.Contains(got, "secret") || !strings.Contains(got, `"before":"Read","after":"All"`) {
		t.Errorf("got %s", got)
	}
	h.ok(h.DeleteResource(ann, user))
	h.ok(h.RenameContainer(ann, ct, "sales", false))
	h.ok(h.DeleteContainer(ann, ct))
	h.ok(h.DeleteDatabase(ann, db))
	h.ok(h.Audit(ann, audit.Event{Action: "rotate", Kind: "key", Target: "primary"}))
	h.ok(h.SaveClockMark(ann, noon, audit.Event{Action: "move", Kind: "clock"}))
	all := []string{
		"1 create database shop", "2 create container shop/orders", "3 replace container shop/orders",
		"4 create index shop/orders/a_1", "5 replace index shop/orders/a_1", "6 create user shop/bob",
		"7 create permission shop/bob/p", "8 replace permission shop/bob/p", "9 delete user shop/bob",
		"10 rename container shop/orders", "11 delete container shop/sales", "12 delete database shop",
		"13 rotate key primary", "14 move clock",
	}
	h.wantEvents(catalog.Stretch{}, all...)
	h.reopen()
	h.audited()
	h.wantEvents(catalog.Stretch{}, all...)
	h.database("next")
	h.wantEvents(catalog.Stretch{After: 14}, "15 create database next")
	if got := h.last(); !strings.Contains(got, `"time":"2026-03-01T12:13:00Z","api":"mayfly"`) {
		t.Errorf("time went back, or the work has a client: %s", got)
	}
}

// Passwords, scripts and data of clients are not in the trail.
func TestEventsHaveNoSecrets(t *testing.T) {
	h := newHouse(t, false).audited()
	user := body(
		`{"_id":"admin.ann","credentials":{"SCRAM":"s3cret"},"roles":[{"role":"read","db":"a"}],"customData":"s3cret"}`,
	)
	r, err := h.CreateResource(ctx, 100, catalog.MongoUser, catalog.Owner{}, "admin.ann", user)
	h.ok(err)
	if got := h.last(); strings.Contains(got, "s3cret") || !strings.Contains(got, `"role":"read"`) {
		t.Errorf("got %s", got)
	}
	_, err = h.ReplaceResource(ctx, 100, r, r.Name, body(`{"_id":"admin.ann","credentials":{"SCRAM":"s3cret2"}}`))
	h.ok(err)
	if got := h.last(); strings.Contains(got, "s3cret") || !strings.Contains(got, `"credentials"`) {
		t.Errorf("got %s", got)
	}
	ct := h.container(h.database("shop"), "orders")
	script := body(`{"body":"function f() { return 's3cret' }"}`)
	_, err = h.CreateResource(ctx, 100, catalog.Procedure, catalog.Owner{Database: 1, Container: ct.ID}, "f", script)
	h.ok(err)
	if got := h.last(); strings.Contains(got, "s3cret") || !strings.Contains(got, "SHA-256") {
		t.Errorf("got %s", got)
	}
}

func TestPartsOfTheTrail(t *testing.T) {
	h := newHouse(t, false).audited()
	h.wantEvents(catalog.Stretch{Max: 5})
	for range 10 {
		h.ok(h.Audit(ctx, audit.Event{Action: "pause", Kind: "reclaiming"}))
	}
	for _, c := range []struct {
		part        catalog.Stretch
		first, last uint64
	}{
		{catalog.Stretch{}, 1, 10},
		{catalog.Stretch{Max: 3}, 8, 10},
		{catalog.Stretch{Max: 30}, 1, 10},
		{catalog.Stretch{After: 4, Max: 3}, 5, 7},
		{catalog.Stretch{After: 10}, 0, 0},
		{catalog.Stretch{After: 1 << 62}, 0, 0},
		{catalog.Stretch{Since: noon}, 1, 10},
		{catalog.Stretch{Since: noon.Add(90 * time.Second), Max: 2}, 3, 4},
		{catalog.Stretch{Since: noon.Add(2 * time.Minute), After: 6}, 7, 10},
		{catalog.Stretch{Since: noon.Add(time.Hour)}, 0, 0},
	} {
		var want []string
		for n := c.first; n > 0 && n <= c.last; n++ {
			want = append(want, fmt.Sprint(n, " pause reclaiming"))
		}
		h.wantEvents(c.part, want...)
	}
}

func TestTrailIsBounded(t *testing.T) {
	h := newHouse(t, false).audited()
	h.SetMaxEvents(3)
	for range 10 {
		h.ok(h.Audit(ctx, audit.Event{Action: "pause", Kind: "reclaiming"}))
	}
	h.wantEvents(catalog.Stretch{}, "8 pause reclaiming", "9 pause reclaiming", "10 pause reclaiming")
	h.reopen()
	h.audited().SetMaxEvents(3)
	h.ok(h.Audit(ctx, audit.Event{Action: "resume", Kind: "reclaiming"}))
	h.wantEvents(catalog.Stretch{}, "9 pause reclaiming", "10 pause reclaiming", "11 resume reclaiming")
	if n := h.count(keys.AuditBounds(0)); n != 3 {
		t.Errorf("%d events on disk", n)
	}
}

// The trail is bounded in bytes too, also by events that came before a restart. The newest event stays, whatever its
// size.
func TestBytesOfTheTrailAreBounded(t *testing.T) {
	const most = 4000
	h := newHouse(t, false).audited()
	h.SetMaxTrail(most)
	long := strings.Repeat("x", 900)
	note := func(n int) { h.ok(h.Audit(ctx, audit.Event{Action: "note", Target: fmt.Sprint(n, long)})) }
	size := func() (bytes, events int) {
		for e, err := range h.Events(ctx, catalog.Stretch{}) {
			h.ok(err)
			bytes, events = bytes+len(e.Encode()), events+1
		}
		if onDisk := h.count(keys.AuditBounds(0)); onDisk != events {
			t.Errorf("%d events on disk, %d shown", onDisk, events)
		}
		return bytes, events
	}
	for n := range 10 {
		note(n)
		if bytes, _ := size(); bytes > most {
			t.Fatalf("%d bytes after %d events", bytes, n+1)
		}
	}
	if bytes, events := size(); events != 4 || bytes < most*2/3 {
		t.Errorf("%d events with %d bytes", events, bytes)
	}
	h.reopen()
	h.audited().SetMaxTrail(most)
	note(10)
	if bytes, events := size(); events != 4 || bytes > most || !strings.Contains(h.last(), `"number":11`) {
		t.Errorf("after a restart: %d events with %d bytes, the last %.20s", events, bytes, h.last())
	}
	h.SetMaxTrail(1)
	note(11)
	if _, events := size(); events != 1 || !strings.Contains(h.last(), `"number":12`) {
		t.Errorf("%d events, the last %.20s", events, h.last())
	}
}

// fullEngine is an engine whose batches fail.
type fullEngine struct{ kv.Engine }

func (fullEngine) Apply(context.Context, *kv.Batch) error { return fault.New(fault.OutOfSpace, "full") }

// A change and its event are one batch: neither is there without the other.
func TestEventComesWithItsChange(t *testing.T) {
	h := newHouse(t, false)
	h.database("shop")
	c, err := catalog.Open(ctx, fullEngine{h.engine}, nil)
	h.ok(err)
	c.SetClock(func() time.Time { return noon })
	if _, err := c.CreateDatabase(ctx, 100, "more", nil); err == nil {
		t.Fatal("no error")
	}
	for e := range c.Events(ctx, catalog.Stretch{}) {
		t.Errorf("event %+v", e)
	}
}
