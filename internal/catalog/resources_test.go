package catalog_test

import (
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

func TestResources(t *testing.T) {
	h := newHouse(t, false)
	db := h.database("d")
	ct := h.container(db, "c")
	owner := catalog.Owner{Database: db.ID, Container: ct.ID}
	create := func(kind catalog.ResourceKind, name string) *catalog.Resource {
		t.Helper()
		r, err := h.CreateResource(ctx, 100, kind, owner, name, body(`{"v":1}`))
		h.ok(err)
		return r
	}
	a, b := create(catalog.Procedure, "a"), create(catalog.Procedure, "b")
	trigger := create(catalog.Trigger, "a") // another kind, another name space
	_, err := h.CreateResource(ctx, 100, catalog.Procedure, owner, "a", nil)
	h.fails(err, fault.Exists)
	_, err = h.CreateResource(ctx, 100, catalog.Procedure, catalog.Owner{Database: db.ID, Container: 99}, "a", nil)
	h.fails(err, fault.OwnerNotFound)
	_, err = h.CreateResource(ctx, 100, catalog.Permission, catalog.Owner{Database: db.ID, User: a.Number}, "p", nil)
	h.fails(err, fault.OwnerNotFound)
	if list := h.Resources(catalog.Procedure, owner); len(list) != 2 || list[0] != a || list[1] != b {
		t.Errorf("listed %v", list)
	}
	if got, err := h.ResourceByNumber(catalog.Procedure, b.Number); err != nil || got != b {
		t.Errorf("found %v, %v", got, err)
	}
	_, err = h.ResourceByNumber(catalog.Trigger, b.Number)
	h.fails(err, fault.NotFound)
	_, err = h.Resource(catalog.Function, owner, "a")
	h.fails(err, fault.NotFound)

	newer, err := h.ReplaceResource(ctx, 90, a, "a", body(`{"v":2}`))
	h.ok(err)
	if newer.Number != a.Number || newer.Stamp != 100 || newer.Sequence <= a.Sequence {
		t.Errorf("replaced %+v by %+v", *a, *newer)
	}
	_, err = h.ReplaceResource(ctx, 110, a, "a", nil)
	h.fails(err, fault.Precondition)
	h.fails(h.DeleteResource(ctx, a), fault.Precondition)
	h.ok(h.DeleteResource(ctx, newer))
	h.fails(h.DeleteResource(ctx, newer), fault.NotFound)
	_, err = h.ReplaceResource(ctx, 110, newer, "a", nil)
	h.fails(err, fault.NotFound)
	if got, err := h.Resource(catalog.Trigger, owner, "a"); err != nil || got != trigger {
		t.Errorf("the trigger of that name: %v, %v", got, err)
	}
	if again := create(catalog.Procedure, "a"); again.Number <= trigger.Number {
		t.Errorf("number %d was given out again", again.Number)
	}
}

func TestRename(t *testing.T) {
	h := newHouse(t, false)
	owner := catalog.Owner{Database: h.database("d").ID}
	u, err := h.CreateResource(ctx, 100, catalog.User, owner, "old", nil)
	h.ok(err)
	_, err = h.CreateResource(ctx, 100, catalog.User, owner, "taken", nil)
	h.ok(err)
	mine := catalog.Owner{Database: owner.Database, User: u.Number}
	p, err := h.CreateResource(ctx, 100, catalog.Permission, mine, "p", nil)
	h.ok(err)
	_, err = h.ReplaceResource(ctx, 100, u, "taken", nil)
	h.fails(err, fault.Exists)
	renamed, err := h.ReplaceResource(ctx, 100, u, "new", nil)
	h.ok(err)
	check := func() {
		t.Helper()
		_, err := h.Resource(catalog.User, owner, "old")
		h.fails(err, fault.NotFound)
		got, err := h.Resource(catalog.User, owner, "new")
		h.ok(err)
		if got.Number != renamed.Number || len(h.Resources(catalog.User, owner)) != 2 ||
			h.Resources(catalog.User, owner)[0].Name != "new" {
			t.Errorf("renamed to %+v among %v", *got, h.Resources(catalog.User, owner))
		}
		if list := h.Resources(catalog.Permission, mine); len(list) != 1 || list[0].Number != p.Number {
			t.Errorf("its permissions: %v", list)
		}
	}
	check()
	h.reopen()
	check()
	_, err = h.CreateResource(ctx, 100, catalog.User, owner, "old", nil)
	h.ok(err)
}

func TestDeletesCascade(t *testing.T) {
	h := newHouse(t, false)
	make := func(name string) (*catalog.Database, *catalog.Container, *catalog.Resource) {
		db, err := h.CreateDatabase(ctx, 100, name, body(`{"t":1}`))
		h.ok(err)
		ct, err := h.CreateContainer(ctx, 100, db, definition("c"), body(`{"t":2}`))
		h.ok(err)
		_, err = h.CreateResource(ctx, 100, catalog.Trigger, catalog.Owner{Database: db.ID, Container: ct.ID}, "tr",
			nil)
		h.ok(err)
		u, err := h.CreateResource(ctx, 100, catalog.User, catalog.Owner{Database: db.ID}, "u", nil)
		h.ok(err)
		for n := range 3 {
			_, err = h.CreateResource(ctx, 100, catalog.Permission, catalog.Owner{Database: db.ID, User: u.Number},
				fmt.Sprint(n), nil)
			h.ok(err)
		}
		return db, ct, u
	}
	db, ct, user := make("d")
	other, otherContainer, otherUser := make("e")
	owner := catalog.Owner{Database: db.ID, Container: ct.ID}
	permissions := catalog.Owner{Database: db.ID, User: user.Number}

	h.ok(h.DeleteResource(ctx, user))
	if n := len(h.Resources(catalog.Permission, permissions)); n != 0 {
		t.Errorf("%d permissions have outlived their user", n)
	}
	h.ok(h.DeleteContainer(ctx, ct))
	if n := len(h.Resources(catalog.Trigger, owner)); n != 0 {
		t.Errorf("%d triggers have outlived their container", n)
	}
	_, err := h.OfferOf(owner)
	h.fails(err, fault.NotFound)
	if _, err = h.OfferOf(catalog.Owner{Database: db.ID}); err != nil {
		t.Errorf("the database's throughput went too: %v", err)
	}

	h.ok(h.DeleteDatabase(ctx, other))
	for _, target := range []catalog.Owner{{Database: other.ID}, {Database: other.ID, Container: otherContainer.ID}} {
		_, err = h.OfferOf(target)
		h.fails(err, fault.NotFound)
	}
	_, err = h.ResourceByNumber(catalog.User, otherUser.Number)
	h.fails(err, fault.NotFound)
	if n := len(h.Resources(catalog.Permission, catalog.Owner{Database: other.ID, User: otherUser.Number})); n != 0 {
		t.Errorf("%d permissions have outlived their database", n)
	}
	before := picture(h.Catalog)
	h.reopen()
	if after := picture(h.Catalog); after != before {
		t.Errorf("after a restart\n%s\nbefore it\n%s", after, before)
	}
	if n := len(h.Resources(catalog.Offer, catalog.Owner{})); n != 1 {
		t.Errorf("%d offers are left, want the one of the database that is", n)
	}
}

func TestOffers(t *testing.T) {
	h := newHouse(t, false)
	db, err := h.CreateDatabase(ctx, 100, "d", body(`{"n":400}`))
	h.ok(err)
	offer, err := h.OfferOf(catalog.Owner{Database: db.ID})
	h.ok(err)
	newer, err := h.ReplaceResource(ctx, 101, offer, offer.Name, body(`{"n":500}`))
	h.ok(err)
	for range 2 {
		got, err := h.OfferOf(catalog.Owner{Database: db.ID})
		h.ok(err)
		if string(got.Body) != string(newer.Body) || got.Number != offer.Number {
			t.Errorf("the throughput is %+v", *got)
		}
		h.reopen()
	}
	_, err = h.OfferOf(catalog.Owner{Database: 99})
	h.fails(err, fault.NotFound)
}
