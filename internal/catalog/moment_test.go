package catalog_test

import (
	"context"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A counted engine counts the views that are opened.
type counted struct {
	kv.Engine
	views *int
}

func (e counted) Shared() bool { return true }

func (e counted) View(ctx context.Context) (kv.View, error) {
	*e.views++
	return e.Engine.View(ctx)
}

// TestMomentServesTheFirstUse begins requests with a moment. The first use of documents needs no other view; later ones
// have a view of their own.
func TestMomentServesTheFirstUse(t *testing.T) {
	s := newStreet(t, 1)
	a := s.houses[0]
	ct := a.container(a.database("d"), "c")
	views := 0
	b, err := catalog.Open(ctx, counted{s.cluster.Process(), &views}, nil)
	a.ok(err)
	known, err := b.ContainerByID(ct.ID)
	a.ok(err)
	for _, guess := range []*catalog.Container{nil, known} {
		views = 0
		m, err := b.Begin(ctx, time.Time{}, guess)
		a.ok(err)
		for use := range 3 {
			v, err := known.EnterAt(ctx, 0, &m)
			a.ok(err)
			if views != 1+use {
				t.Errorf("use %d: %d views", use, views)
			}
			if first := v.Read.Time.Equal(m.Time); first != (use == 0) {
				t.Errorf("use %d is at %v, the request at %v", use, v.Read.Time, m.Time)
			}
		}
	}
}

// TestMomentIsNoOldState changes a container between the moment of a request and its first use of documents, in each
// way that the request itself may have done. The request sees the change.
func TestMomentIsNoOldState(t *testing.T) {
	s := newStreet(t, 2)
	a, b := s.houses[0], s.houses[1]
	db := a.database("d")
	old := a.container(db, "old")
	for _, guess := range []*catalog.Container{nil, old} {
		m, err := a.Begin(ctx, time.Time{}, guess)
		a.ok(err)
		name := "made"
		if guess != nil {
			name = "made too"
		}
		made := a.container(db, name)
		v, err := made.EnterAt(ctx, 0, &m)
		a.ok(err)
		if v.Container != made {
			t.Error("the request enters another container")
		}
		m, err = a.Begin(ctx, time.Time{}, guess)
		a.ok(err)
		ttl := expiry.TTL(10 + len(made.State().Name))
		if guess != nil {
			ttl++
		}
		a.replace(100, old, func(d *catalog.Definition) { d.TTL = ttl })
		v, err = old.EnterAt(ctx, 0, &m)
		a.ok(err)
		if v.Policy.Default != ttl {
			t.Errorf("the lifetime is %v, want %v", v.Policy.Default, ttl)
		}
	}
	// What another process has changed before the moment is seen in any case.
	there, err := b.find("d", "old")
	b.ok(err)
	a.replace(100, old, func(d *catalog.Definition) { d.TTL = 77 })
	m, err := b.Begin(ctx, time.Time{}, there)
	b.ok(err)
	v, err := there.EnterAt(ctx, 0, &m)
	b.ok(err)
	if v.Policy.Default != 77 {
		t.Errorf("the lifetime is %v through the other process", v.Policy.Default)
	}
	a.ok(a.DeleteContainer(ctx, old))
	m, err = b.Begin(ctx, time.Time{}, there)
	b.ok(err)
	if _, err := there.EnterAt(ctx, 0, &m); fault.KindOf(err) != fault.OwnerNotFound {
		t.Errorf("a container that was deleted: %v", err)
	}
}
