package foresight_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
)

// TestForecastScopes adds containers and databases up.
func TestForecastScopes(t *testing.T) {
	w := newWorld(t, noSQL(3600))
	first, db := w.c, w.c.Database
	w.item("p", "a")
	w.item("p", "b", bson.E{Key: "ttl", Value: int64(-1)})
	var err error
	other := noSQL(expiry.Unset)
	other.Name = "other"
	w.c, err = w.catalog.CreateContainer(ctx, w.now, db, other, nil)
	w.ok(err)
	w.item("p", "a")
	second, err := w.catalog.CreateDatabase(ctx, w.now, "second", nil)
	w.ok(err)
	w.c, err = w.catalog.CreateContainer(ctx, w.now, second, mongo(expiry.Never), nil)
	w.ok(err)
	w.document(1, bson.E{Key: "ttl", Value: int64(7200)})
	w.document(2, bson.E{Key: "ttl", Value: int64(72 * 3600)})
	for _, c := range []struct {
		scope  foresight.Scope
		want   string // by hour: the documents of three buckets, beyond, no end, living, containers
		policy string
	}{
		{foresight.Scope{Database: "d", Container: "c"}, "[0 1 0] 0 1 2 1", "Items expire 1 hour after"},
		{foresight.Scope{Database: "d", Container: "other"}, "[0 0 0] 0 1 1 1", "TTL is off"},
		{foresight.Scope{Database: "d"}, "[0 1 0] 0 2 3 2", ""},
		{foresight.Scope{Database: "second", Container: "c"}, "[0 0 1] 1 0 2 1", "Documents expire only by a ttl"},
		{foresight.Scope{}, "[0 1 1] 1 2 5 3", ""},
	} {
		f, err := w.f.Forecast(ctx, c.scope, w.now, foresight.ByHour, 3, 0)
		w.ok(err)
		var buckets []uint64
		for _, b := range f.Buckets {
			buckets = append(buckets, b.Documents)
		}
		got := fmt.Sprint(buckets, f.Beyond.Documents, f.NoEnd.Documents, f.Living.Documents, f.Containers)
		if got != c.want || !f.Exact || f.Estimated != 0 || !strings.HasPrefix(f.Policy, c.policy) ||
			(f.Policy == "") != (c.policy == "") {
			t.Errorf("%+v: %s, want %s: %s", c.scope, got, c.want, show(f))
		}
	}
	for _, c := range []struct {
		scope foresight.Scope
		kind  fault.Kind
	}{
		{foresight.Scope{Database: "nobody"}, fault.NotFound},
		{foresight.Scope{Database: "nobody", Container: "c"}, fault.OwnerNotFound},
		{foresight.Scope{Database: "d", Container: "nobody"}, fault.NotFound},
	} {
		if _, err := w.f.Forecast(ctx, c.scope, w.now, foresight.ByDay, 0, 0); fault.KindOf(err) != c.kind {
			t.Errorf("%+v: %v", c.scope, err)
		}
	}
	w.ok(w.catalog.DeleteContainer(ctx, first))
	if f, err := w.f.Forecast(ctx, foresight.Scope{}, w.now, foresight.ByDay, 0, 0); err != nil || f.Containers != 2 {
		t.Errorf("after a deletion: %v %s", err, show(f))
	}
}

// TestForecastSharesItsLimit: small containers leave what they do not need to the large one.
func TestForecastSharesItsLimit(t *testing.T) {
	w := newWorld(t, noSQL(3600))
	for i := range 500 {
		w.item("p", fmt.Sprint(i))
	}
	for i := range 9 {
		small := noSQL(3600)
		small.Name = fmt.Sprint("small", i)
		var err error
		w.c, err = w.catalog.CreateContainer(ctx, w.now, w.c.Database, small, nil)
		w.ok(err)
		w.item("p", "a")
	}
	f, err := w.f.Forecast(ctx, foresight.Scope{}, w.now, foresight.ByDay, 2, 560)
	w.ok(err)
	if !f.Exact || f.Living.Documents != 509 || f.Look.Entries > 560 || f.Look.Share != 1 {
		t.Errorf("enough for all: %s", show(f))
	}
	f, err = w.f.Forecast(ctx, foresight.Scope{}, w.now, foresight.ByDay, 2, 300)
	w.ok(err)
	if f.Exact || f.Estimated != 1 || f.Living.Documents != 509 || f.Look.Share >= 1 ||
		f.Look.Method != foresight.BySample {
		t.Errorf("too little for the large one: %s", show(f))
	}
}
