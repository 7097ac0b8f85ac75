package catalog

import (
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

func resourceName(kind ResourceKind, owner Owner, text string) name {
	return name{kind: byte(kind), owner: owner, text: text}
}

func resourceKey(r *Resource) []byte { return numberKey(resourceKind, r.Number) }

func (c *Catalog) loadResources(ctx context.Context) error {
	return each(ctx, c.engine, resourceKind, func(r *Resource) error {
		c.addResource(r)
		return nil
	})
}

// addResource makes r visible. It does nothing for nil.
func (c *Catalog) addResource(r *Resource) {
	if r == nil {
		return
	}
	c.resources.set(r.Number, r)
	if r.Kind == Offer {
		c.offers[r.Target] = r
	}
	c.byName[resourceName(r.Kind, r.Owner, r.Name)] = r
	g := group{r.Kind, r.Owner}
	c.children[g] = append(c.children[g], r)
}

func (c *Catalog) forgetResources(gone []*Resource) {
	for _, r := range gone {
		c.resources.delete(r.Number)
		if r.Kind == Offer {
			delete(c.offers, r.Target)
		}
		delete(c.byName, resourceName(r.Kind, r.Owner, r.Name))
		g := group{r.Kind, r.Owner}
		c.children[g] = slices.DeleteFunc(c.children[g], func(x *Resource) bool { return x.Number == r.Number })
		if len(c.children[g]) == 0 {
			delete(c.children, g)
		}
	}
}

// resourcesOf lists the resources that belong, by owner or target, to
// something that match accepts.
func (c *Catalog) resourcesOf(match func(Owner) bool) []*Resource {
	return c.resources.list(func(r *Resource) bool {
		if r.Kind == Offer {
			return match(r.Target)
		}
		return match(r.Owner)
	})
}

func deleteResources(b *kv.Batch, gone []*Resource) {
	for _, r := range gone {
		b.Delete(resourceKey(r))
	}
}

// Resources lists resources of a kind under an owner in order of creation.
func (c *Catalog) Resources(kind ResourceKind, owner Owner) []*Resource {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.children[group{kind, owner}])
}

// Resource finds by name; fault.NotFound.
func (c *Catalog) Resource(kind ResourceKind, owner Owner, text string) (*Resource, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.byName[resourceName(kind, owner, text)].(*Resource)
	if !ok {
		return nil, ErrNotFound
	}
	return r, nil
}

// ResourceByNumber finds by number; fault.NotFound.
func (c *Catalog) ResourceByNumber(kind ResourceKind, number uint64) (*Resource, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.resources.get(number)
	if !ok || r.Kind != kind {
		return nil, ErrNotFound
	}
	return r, nil
}

// OfferOf finds the throughput of a database (Container 0) or container;
// fault.NotFound.
func (c *Catalog) OfferOf(target Owner) (*Resource, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.offers[target]
	if !ok {
		return nil, ErrNotFound
	}
	return r, nil
}

// newOffer makes the throughput resource of target, nil without a body.
func newOffer(n *revision, b *kv.Batch, now expiry.Stamp, target Owner, body doc.Doc) *Resource {
	if body == nil {
		return nil
	}
	n.Resource++
	r := &Resource{Kind: Offer, Target: target, Number: n.Resource, Stamp: now, Sequence: n.Sequence, Body: body}
	b.Set(resourceKey(r), encode(r))
	return r
}

// CreateResource fails with fault.Exists when the name is taken, fault.OwnerNotFound
// when the owner is gone.
func (c *Catalog) CreateResource(
	ctx context.Context, now expiry.Stamp, kind ResourceKind, owner Owner, text string, body doc.Doc,
) (*Resource, error) {
	return exclusively(ctx, c, func() (*Resource, error) { return c.createResource(ctx, now, kind, owner, text, body) })
}

func (c *Catalog) createResource(
	ctx context.Context, now expiry.Stamp, kind ResourceKind, owner Owner, text string, body doc.Doc,
) (*Resource, error) {
	if err := c.mayOwn(kind, owner, text); err != nil {
		return nil, err
	}
	r := &Resource{
		Kind: kind, Owner: owner, Name: text, Stamp: c.authority.instant(c, now), Body: slices.Clone(body),
	}
	err := c.change(ctx, func(n *revision, b *kv.Batch) error {
		n.Resource++
		r.Number, r.Sequence = n.Resource, n.Sequence
		b.Set(resourceKey(r), encode(r))
		c.noteResource(n, nil, r)
		return nil
	}, func() { c.addResource(r) })
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (c *Catalog) mayOwn(kind ResourceKind, owner Owner, text string) error {
	if err := c.ownerExists(kind, owner); err != nil {
		return ErrNoOwner
	}
	if _, err := c.Resource(kind, owner, text); err == nil {
		return ErrExists
	}
	if len(c.Resources(kind, owner)) >= MaxResources {
		return fault.New(fault.Forbidden, "Too many resources of this kind (limit %d). Delete one first.", MaxResources)
	}
	return nil
}

func (c *Catalog) ownerExists(kind ResourceKind, owner Owner) (err error) {
	switch {
	case kind == MongoUser && owner == (Owner{}): // the account is always there
	case owner.User != 0:
		_, err = c.ResourceByNumber(User, owner.User)
	case owner.Container != 0:
		_, err = c.ContainerByID(owner.Container)
	default:
		_, err = c.DatabaseByID(owner.Database)
	}
	return err
}

// ReplaceResource changes body and (under the same owner) name of old.
// fault.Precondition when old is no longer the newest, fault.NotFound when it is gone,
// fault.Exists when the new name is taken.
func (c *Catalog) ReplaceResource(
	ctx context.Context, now expiry.Stamp, old *Resource, text string, body doc.Doc,
) (*Resource, error) {
	return exclusively(ctx, c, func() (*Resource, error) { return c.replaceResource(ctx, now, old, text, body) })
}

func (c *Catalog) replaceResource(
	ctx context.Context, now expiry.Stamp, old *Resource, text string, body doc.Doc,
) (*Resource, error) {
	if err := c.isNewest(old); err != nil {
		return nil, err
	}
	if text != old.Name {
		if _, err := c.Resource(old.Kind, old.Owner, text); err == nil {
			return nil, ErrExists
		}
	}
	r := *old
	r.Name, r.Body, r.Stamp = text, slices.Clone(body), max(c.authority.instant(c, now), old.Stamp)
	err := c.change(ctx, func(n *revision, b *kv.Batch) error {
		r.Sequence = n.Sequence
		b.Set(resourceKey(&r), encode(&r))
		c.noteResource(n, old, &r)
		return nil
	}, func() { c.exchangeResource(old, &r) })
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// exchangeResource puts r in the place of old.
func (c *Catalog) exchangeResource(old, r *Resource) {
	c.resources.set(r.Number, r)
	if r.Kind == Offer {
		c.offers[r.Target] = r
	}
	if was := resourceName(old.Kind, old.Owner, old.Name); c.byName[was] == old {
		delete(c.byName, was)
	}
	c.byName[resourceName(r.Kind, r.Owner, r.Name)] = r
	siblings := c.children[group{r.Kind, r.Owner}]
	siblings[slices.Index(siblings, old)] = r
}

func (c *Catalog) isNewest(old *Resource) error {
	present, err := c.ResourceByNumber(old.Kind, old.Number)
	if err != nil {
		return err
	}
	if present != old {
		return ErrStale
	}
	return nil
}

// DeleteResource removes old and, of a user, its permissions;
// fault.Precondition and fault.NotFound as ReplaceResource.
func (c *Catalog) DeleteResource(ctx context.Context, old *Resource) error {
	return c.exclusively(ctx, func() error { return c.deleteResource(ctx, old) })
}

func (c *Catalog) deleteResource(ctx context.Context, old *Resource) error {
	if err := c.isNewest(old); err != nil {
		return err
	}
	gone := []*Resource{old}
	if old.Kind == User {
		gone = append(gone, c.resourcesOf(func(o Owner) bool { return o.User == old.Number })...)
	}
	return c.change(ctx, func(n *revision, b *kv.Batch) error {
		b.Frees = true
		c.noteResource(n, old, nil)
		deleteResources(b, gone)
		return nil
	}, func() { c.forgetResources(gone) })
}
