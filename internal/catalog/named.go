package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A NamedIndex is an index that has a name and is created and dropped by itself, apart from the indexing policy: what
// MongoDB calls an index. Its values are in the order of doc.CompareBSON.
type NamedIndex struct {
	ID      uint32        `json:"id"` // above 0, never reused in the container
	Name    string        `json:"name"`
	Columns []NamedColumn `json:"columns"`

	Unique bool `json:"unique,omitempty"`
	Sparse bool `json:"sparse,omitempty"` // documents without any of the columns have no entry
	Hidden bool `json:"hidden,omitempty"` // no plan uses it; otherwise it works as before

	// Wildcard indexes every path below that of its one column, "" for the root, which
	// Projection, MongoDB's wildcardProjection, narrows down.
	Wildcard   bool    `json:"wildcard,omitempty"`
	Projection doc.Doc `json:"projection,omitempty"`

	// Partial is the filter that documents of the index satisfy, nil for all.
	Partial doc.Doc `json:"partial,omitempty"`

	// Expires says that documents end Seconds after the earliest date in the column, see expiry.DateRule.
	Expires bool  `json:"expires,omitempty"`
	Seconds int32 `json:"seconds,omitempty"`

	// Spec is the index as the API shows it.
	Spec doc.Doc `json:"spec"`

	// Building is set until every document has its entries.
	Building bool `json:"building,omitempty"`
}

// A NamedColumn is one dotted path of a NamedIndex.
type NamedColumn struct {
	Path       string `json:"path"`
	Descending bool   `json:"descending,omitempty"`
}

// MaxNamedIndexes is how many named indexes a container has at most, including the one on its _id: MongoDB's limit.
// https://www.mongodb.com/docs/manual/reference/limits/
const MaxNamedIndexes = 64

// A Condition compiles the filter of a partial index. What it returns is safe for
// concurrent use.
type Condition func(filter doc.Doc) (func(doc.Doc) bool, error)

// Partials are the compiled filters of Named, in its order; nil where there is none.
func (s *State) Partials() []func(doc.Doc) bool { return s.compiled.partials }

// noCondition stands for a Condition where there is none.
func noCondition(doc.Doc) (func(doc.Doc) bool, error) {
	return nil, fault.New(fault.Invalid, "Partial indexes need a query language.")
}

// compilePartials compiles the filters of the named indexes.
func (s *State) compilePartials(condition Condition) (list []func(doc.Doc) bool, err error) {
	for _, x := range s.Named {
		var matches func(doc.Doc) bool
		if x.Partial != nil {
			if matches, err = condition(x.Partial); err != nil {
				return nil, err
			}
		}
		list = append(list, matches)
	}
	return list, nil
}

// dateRules are the rules of dates that the named indexes put in force.
func (s *State) dateRules() (rules []expiry.DateRule) {
	if s.datesOff {
		return nil
	}
	for _, x := range s.Named {
		if x.rules() {
			rules = append(rules,
				expiry.DateRule{Index: x.ID, Path: x.Columns[0].Path, Seconds: x.Seconds, Partial: x.Partial})
		}
	}
	return rules
}

// rules reports whether the index ends documents. One that is not complete does not.
func (x *NamedIndex) rules() bool { return x.Expires && !x.Building }

// ReplaceIndexes changes the named indexes of a container to what define returns for its present state: those with ID 0
// are new and get an ID; those that are missing are dropped with their entries. When an index that ends documents goes
// or changes, what it has ended stays dead.
func (c *Catalog) ReplaceIndexes(
	ctx context.Context, now expiry.Stamp, ct *Container, define func(*State) ([]NamedIndex, error),
) (*State, error) {
	st, err := c.alter(ctx, ct, func(st *State, n *revision, b *kv.Batch) error {
		list, err := define(st)
		if err != nil {
			return err
		}
		list = slices.Clone(list)
		b.Frees = true
		for i := range list {
			if list[i].ID == 0 {
				b.Frees = false
				st.LastNamed++
				list[i].ID = st.LastNamed
			}
		}
		if err := c.closeDates(ctx, n, ct, st, now, list); err != nil {
			return err
		}
		for _, x := range st.Named {
			if !slices.ContainsFunc(list, func(y NamedIndex) bool { return y.ID == x.ID }) {
				c.dropNamed(n, b, ct, x.ID)
			}
		}
		n.noteIndexes(ct, st.Named, list)
		st.Named = list
		return st.compile(c.condition)
	})
	if err != nil {
		return nil, err
	}
	return st, c.purge(ctx)
}

// dropNamed adds to b the deletion of the entries of a named index.
func (c *Catalog) dropNamed(n *revision, b *kv.Batch, ct *Container, id uint32) {
	for _, rng := range ct.State().Ranges() {
		rng := ct.KeysOf(rng.Number)
		lower, upper := rng.NamedBounds(id)
		c.dropRange(n, b, lower, upper)
		lower, upper = rng.NamedUniqueBounds(id)
		c.dropRange(n, b, lower, upper)
		b.Delete(rng.Multikey(nil, id))
	}
}

// closeDates closes the rules of dates that are in force now and that list does not go on with unchanged.
func (c *Catalog) closeDates(
	ctx context.Context, n *revision, ct *Container, st *State, now expiry.Stamp, list []NamedIndex,
) error {
	ends := func(r expiry.DateRule) bool {
		return !slices.ContainsFunc(list, func(x NamedIndex) bool {
			return x.ID == r.Index && x.rules() && x.Seconds == r.Seconds
		})
	}
	if !slices.ContainsFunc(st.Policy.Dates, ends) {
		return nil
	}
	newest, err := c.newestSequence(ctx, n, ct)
	if err != nil {
		return err
	}
	closed, err := st.Policy.CloseDates(ends, c.authority.closing(ct, now, n.batch), newest)
	if err != nil {
		return err
	}
	st.Policy = closed
	return nil
}

// ForgetDates drops closed rules of dates. It is called when every document that they ended is reclaimed. Rules are
// compared by value, since the list may have changed in between.
func (c *Catalog) ForgetDates(ctx context.Context, ct *Container, over []expiry.PastDates) error {
	_, err := c.alter(ctx, ct, func(st *State, _ *revision, b *kv.Batch) error {
		b.Frees = true
		st.Policy.PastDates = slices.DeleteFunc(slices.Clone(st.Policy.PastDates), func(p expiry.PastDates) bool {
			return slices.ContainsFunc(over, p.Equal)
		})
		return st.compile(c.condition)
	})
	return err
}

// DatesOn reports whether rules of dates are in force, as they are when a catalog opens.
func (c *Catalog) DatesOn() bool { return !c.datesOff.Load() }

// SetDates switches all rules of dates off, or on again: MongoDB's ttlMonitorEnabled. What they have ended before stays
// dead.
func (c *Catalog) SetDates(ctx context.Context, now expiry.Stamp, on bool) error {
	if c.datesOff.Load() == !on {
		return nil
	}
	if c.shared {
		return errOneProcess
	}
	err := c.Audit(ctx, audit.Event{
		Action: "set", Kind: "lifetime", Target: "rules of dates",
		Changes: []audit.Change{{Name: "inForce", Before: !on, After: on}},
	})
	if err != nil {
		return err
	}
	if c.datesOff.Swap(!on) == !on {
		return nil
	}
	for _, ct := range c.AllContainers() {
		_, err := c.alter(ctx, ct, func(st *State, n *revision, b *kv.Batch) error {
			b.Frees = true
			if !on {
				if err := c.closeDates(ctx, n, ct, st, now, nil); err != nil {
					return err
				}
			}
			st.datesOff = !on
			return st.compile(c.condition)
		})
		if err != nil && err != ErrNoOwner {
			if !on { // all containers or none
				return errors.Join(err, c.SetDates(context.WithoutCancel(ctx), now, true))
			}
			return err
		}
	}
	return nil
}

// errOneProcess refuses what a process would have to tell all others.
var errOneProcess = fault.New(fault.Forbidden, "Rules of dates cannot be switched off where several processes share "+
	"the data.")

// RenameContainer gives a container another name in its database; fault.Exists when that is taken. With over, the
// container that has the name is deleted in the same batch.
func (c *Catalog) RenameContainer(ctx context.Context, ct *Container, text string, over bool) error {
	return c.exclusively(ctx, func() error { return c.renameContainer(ctx, ct, text, over) })
}

func (c *Catalog) renameContainer(ctx context.Context, ct *Container, text string, over bool) error {
	old, err := c.authority.present(ctx, c, ct)
	if err != nil {
		return err
	}
	target, _ := c.Container(ct.Database, text)
	if target == ct || target != nil && !over {
		return ErrExists
	}
	var next State
	restore, touched := func() {}, []touch{{Container: ct}}
	if target != nil {
		touched = append(touched, touch{Container: target, deletes: true})
		restore = c.authority.refuse([]*Container{target})
	}
	var gone []*Resource
	err = c.change(ctx, func(n *revision, b *kv.Batch) error {
		next = *old
		next.Name = text
		n.note("rename", "container", ct.path(), audit.Change{Name: "id", Before: old.Name, After: text})
		if target != nil {
			n.note("delete", "container", target.path())
			c.dropContainer(n, b, target)
			gone = c.resourcesOf(func(o Owner) bool { return o.Container == target.ID })
			deleteResources(b, gone)
		}
		c.saveChanged(n, b, ct, &next)
		return nil
	}, func() {
		if target != nil {
			c.forgetContainer(target)
			c.forgetResources(gone)
		}
		delete(c.byName, containerName(ct.Database, old.Name))
		ct.replace(&next)
		c.byName[containerName(ct.Database, text)] = ct
	}, touched...)
	if err != nil {
		restore()
		return err
	}
	if target != nil {
		c.dropped(target)
	}
	return c.purge(ctx)
}
