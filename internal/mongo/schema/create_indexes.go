package schema

import (
	"errors"
	"slices"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
	"github.com/mayflydb/mayfly/internal/store"
)

// ReadIndexes reads the specifications of a createIndexes.
func (r *Request) ReadIndexes(documents []doc.Doc, ignoreUnknown bool) ([]*Index, error) {
	specs := make([]*Index, len(documents))
	for i, d := range documents {
		x, err := parseIndex(d, ignoreUnknown)
		if err != nil {
			return nil, err
		}
		specs[i] = x
	}
	for _, x := range specs {
		if err := x.checkLifetime(r.CosmosTTL); err != nil {
			return nil, err
		}
		x.settle()
	}
	return specs, nil
}

// A Creation is what a createIndexes has done.
type Creation struct {
	Before, After int  // how many indexes the container had, and has
	Built         int  // how many have been made
	Created       bool // the container too
}

// CreateIndexes makes the indexes that are not there yet, all or none, and the container if need be.
func (r *Request) CreateIndexes(name string, specs []*Index) (x Creation, err error) {
	if r.Transaction != nil {
		if err := mayDefine(r); err != nil {
			return x, err
		}
	}
	c, err := r.Find(r.DB, name)
	if err != nil {
		return x, err
	}
	x.Created = c == nil || r.Transaction != nil && r.Transaction.Makes(c)
	if c, err = write.FindOrCreate(&r.Operation, r.DB, name); err != nil {
		return x, err
	}
	if query.ViewOf(c) != nil {
		return x, code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.DB, name)
	}
	defer lockIndexes(r.Node, c)()
	before := Specs(c)
	if x.Built, err = makeIndexes(r, c, specs); err != nil {
		if x.Created && x.Built == 0 && len(Specs(c)) == 1 && r.Transaction == nil {
			dropIfEmpty(r, c)
		}
		return x, err
	}
	after := Specs(c)
	x.Before, x.After = len(before), len(after)
	return x, write.NoteIndexes(&r.Operation, c, before, after)
}

// dropIfEmpty takes back a container that was made for indexes which cannot be.
func dropIfEmpty(r *Request, c *catalog.Container) {
	if n, err := query.Count(&r.Operation, &query.Selection{Container: c}); err == nil && n == 0 {
		_ = r.Node.Catalog.DeleteContainer(r.Context, c)
	}
}

// makeIndexes makes those that are not there yet, all or none, and tells how many that are.
func makeIndexes(r *Request, c *catalog.Container, specs []*Index) (built int, err error) {
	if c.State().Dialect != catalog.Mongo && slices.ContainsFunc(specs, func(x *Index) bool { return !x.stamp }) {
		return 0, write.Writable(c)
	}
	var ttl *Index
	var missing []catalog.NamedIndex
	st := c.State()
	there := st.Named
	if st.Policy.On() {
		there = append(slices.Clone(there), stampIndex(st))
	}
	for _, x := range specs {
		if x.Name == "_id_" || len(x.Columns) == 1 && x.Columns[0].Path == "_id" && !x.Wildcard {
			if x.Name != "_id_" && x.Name != defaultName(x.key) {
				continue // MongoDB calls it _id_ whatever is asked
			}
			continue
		}
		if x.stamp {
			there, err := hasStampIndex(r, c, x)
			if err != nil {
				return 0, err
			}
			if there {
				continue
			}
			if err := x.alone(ttl, missing); err != nil {
				return 0, err
			}
			ttl = x
			continue
		}
		found := false
		if ttl != nil {
			there = append(slices.Clone(there), ttl.NamedIndex)
		}
		for i, y := range slices.Concat(there, missing) {
			same, err := x.compare(y)
			if err == nil && same && i >= len(there) {
				err = x.twice()
			}
			if err != nil {
				return 0, err
			}
			found = found || same
		}
		if !found {
			index := x.NamedIndex
			index.Building = r.Transaction == nil // there it has nothing to build from
			missing = append(missing, index)
		}
	}
	if n := len(Specs(c)) + len(missing); n > catalog.MaxNamedIndexes {
		return 0, code.New(code.CannotCreateIndex, "add index fails, too many indexes for %s.%s", r.DB, st.Name)
	}
	if r.Transaction != nil && (len(missing) > 0 || ttl != nil) {
		if err := mayIndex(r, c); err != nil {
			return 0, err
		}
	}
	for _, x := range missing {
		if x.Expires {
			hintLifetime(r, c, int64(x.Seconds))
		}
	}
	if ttl != nil {
		hintLifetime(r, c, ttl.ttl)
	}
	if len(missing) > 0 {
		if err := buildIndexes(r, c, missing); err != nil {
			return 0, err
		}
		built = len(missing)
	}
	if ttl != nil {
		if err := setLifetime(r, c, expiry.TTL(ttl.ttl), ttl.Spec); err != nil {
			return built, err
		}
		built++
	}
	if r.Transaction != nil && built > 0 {
		return built, r.Transaction.Reenter(c)
	}
	return built, nil
}

// buildIndexes makes indexes and returns when they are complete.
func buildIndexes(r *Request, c *catalog.Container, missing []catalog.NamedIndex) error {
	_, err := r.Node.Catalog.ReplaceIndexes(r.Context, r.Now, c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
		return append(slices.Clone(st.Named), missing...), nil
	})
	if err == nil && r.Transaction == nil {
		var effect *store.Effect
		effect, err = r.Node.Store.BuildNamed(audit.Same(r.Node.Running, r.Context), c, r.Now)
		lifetimeChanged(r, c, effect)
	}
	if d := (*store.Duplicate)(nil); errors.As(err, &d) {
		e := code.Of(write.Duplicate(c, doc.Empty, err))
		e.Message = "Index build failed: Collection " + r.DB + "." + c.State().Name + " :: caused by :: " + e.Message
		return e
	}
	return err
}

// alone refuses an index on _ts that others of the same command are in the way of: another one, or one of its name.
func (x *Index) alone(ttl *Index, missing []catalog.NamedIndex) error {
	switch {
	case ttl != nil && ttl.ttl == x.ttl:
		return x.twice()
	case ttl != nil:
		return conflicting(x.Spec, ttl.Spec)
	}
	for _, y := range missing {
		if y.Name == x.Name {
			_, err := x.compare(y)
			return err
		}
	}
	return nil
}

// twice refuses an index that the same command has asked for before.
func (x *Index) twice() error {
	return code.New(code.IndexAlreadyExists, "Identical index already exists: %s", x.Name)
}

func conflicting(requested, existing doc.Doc) error {
	return code.New(code.IndexOptionsConflict,
		"An equivalent index already exists with the same name but different options. Requested index: %s, existing "+
			"index: %s",
		code.Show(doc.Object(requested)), code.Show(doc.Object(existing)))
}

// hasStampIndex reports whether the container has that lifetime already; another one is an error.
func hasStampIndex(r *Request, c *catalog.Container, x *Index) (bool, error) {
	st := c.State()
	for _, y := range st.Named {
		if y.Name == x.Name {
			_, err := x.compare(y)
			return false, err
		}
	}
	if !st.Policy.On() {
		return false, nil
	}
	there := stampSpec(st)
	if int64(st.Policy.Default) == x.ttl {
		return true, nil
	}
	return false, conflicting(x.Spec, there)
}
