package command

import (
	"errors"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/store"
)

func createIndexes(r *request, a *answer) error {
	name := r.collection()
	documents := r.documents("indexes")
	ignoreUnknown := r.bool("ignoreUnknownIndexOptions", false)
	if r.err != nil {
		return r.err
	}
	if len(documents) == 0 {
		return code.New(code.BadValue, "Must specify at least one index to create")
	}
	specs := make([]*indexSpec, len(documents))
	for i, d := range documents {
		x, err := parseIndex(d, ignoreUnknown)
		if err != nil {
			return err
		}
		specs[i] = x
	}
	for _, x := range specs {
		if err := x.checkLifetime(r.s.o.CosmosTTL); err != nil {
			return err
		}
		x.setSpec()
	}
	if r.tx != nil {
		if err := r.tx.mayShape(r); err != nil {
			return err
		}
	}
	c, err := r.find(r.db, name)
	if err != nil {
		return err
	}
	created := c == nil || r.tx != nil && r.tx.makes(c)
	if c, err = r.findOrCreate(r.db, name); err != nil {
		return err
	}
	if viewOf(c) != nil {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.db, name)
	}
	lock := r.s.indexing(c)
	lock.Lock()
	defer lock.Unlock()
	before := indexSpecs(c)
	built, err := r.makeIndexes(c, specs)
	if err != nil {
		if created && built == 0 && len(indexSpecs(c)) == 1 && r.tx == nil {
			r.dropIfEmpty(c)
		}
		return err
	}
	r.answerIndexes(a, c, specs, len(before), built, created)
	return r.indexed(c, before)
}

// dropIfEmpty drops a container that was created for indexes which then could not be built.
func (r *request) dropIfEmpty(c *catalog.Container) {
	if n, err := r.countSelected(&selection{container: c}); err == nil && n == 0 {
		_ = r.s.o.Catalog.DeleteContainer(r.ctx, c)
	}
}

// answerIndexes writes the answer of MongoDB, and for an index on _ts also the members of Cosmos DB's answer (T-76).
func (r *request) answerIndexes(a *answer, c *catalog.Container, specs []*indexSpec, before, built int, created bool) {
	if r.s.o.CosmosTTL || slices.ContainsFunc(specs, func(x *indexSpec) bool { return x.stamp }) {
		a.string("_t", "CreateIndexesResponse")
	}
	a.int32("numIndexesBefore", before)
	a.int32("numIndexesAfter", len(indexSpecs(c)))
	if built > 0 || created {
		a.bool("createdCollectionAutomatically", created)
	}
	switch {
	case built == 0:
		a.string("note", "all indexes already exist")
	case built < len(specs):
		a.string("note", "index already exists")
	default:
		r.noteEffect(a)
	}
}

// makeIndexes creates the indexes that do not exist yet, all or none. built is how many these are.
func (r *request) makeIndexes(c *catalog.Container, specs []*indexSpec) (built int, err error) {
	if c.State().Dialect != catalog.Mongo && slices.ContainsFunc(specs, func(x *indexSpec) bool { return !x.stamp }) {
		return 0, writable(c)
	}
	missing, stamp, err := r.missingIndexes(c, specs)
	if err != nil {
		return 0, err
	}
	if n := len(indexSpecs(c)) + len(missing); n > catalog.MaxNamedIndexes {
		return 0, code.New(code.CannotCreateIndex, "add index fails, too many indexes for %s.%s", r.db, c.State().Name)
	}
	if r.tx != nil && (len(missing) > 0 || stamp != nil) {
		if err := r.tx.mayIndex(r, c); err != nil {
			return 0, err
		}
	}
	for _, x := range missing {
		if x.Expires {
			r.hintSeconds(c, int64(x.Seconds))
		}
	}
	if stamp != nil {
		r.hintSeconds(c, stamp.ttl)
	}
	if len(missing) > 0 {
		if err := r.build(c, missing); err != nil {
			return 0, err
		}
		built = len(missing)
	}
	if stamp != nil {
		if err := r.setLifetime(c, expiry.TTL(stamp.ttl), stamp.Spec); err != nil {
			return built, err
		}
		built++
	}
	if r.tx != nil && built > 0 {
		return built, r.tx.reenter(c)
	}
	return built, nil
}

// missingIndexes gives the indexes that do not exist yet, and separately the one on _ts, which has no entries: it only
// sets the time to live.
func (r *request) missingIndexes(c *catalog.Container, specs []*indexSpec) (
	missing []catalog.NamedIndex, stamp *indexSpec, err error,
) {
	st := c.State()
	existing := st.Named
	if st.Policy.On() {
		existing = append(slices.Clone(existing), stampIndex(st))
	}
	for _, x := range specs {
		if x.Name == "_id_" || len(x.Columns) == 1 && x.Columns[0].Path == "_id" && !x.Wildcard {
			continue // it exists, and MongoDB names it _id_ whatever name is asked for
		}
		if x.stamp {
			exists, err := r.hasStampIndex(c, x)
			if err == nil && !exists {
				err = x.checkOthers(stamp, missing)
			}
			if err != nil {
				return nil, nil, err
			}
			if !exists {
				stamp = x
			}
			continue
		}
		others := existing
		if stamp != nil {
			others = append(slices.Clone(existing), stamp.NamedIndex)
		}
		exists, err := x.exists(others, missing)
		if err != nil {
			return nil, nil, err
		}
		if !exists {
			index := x.NamedIndex
			index.Building = r.tx == nil // in a transaction the collection is empty, so there is nothing to build
			missing = append(missing, index)
		}
	}
	return missing, stamp, nil
}

// exists reports whether the container has the same index already. It fails if an index conflicts, or if the same
// command creates the same one.
func (x *indexSpec) exists(existing, sameCommand []catalog.NamedIndex) (found bool, err error) {
	for i, y := range slices.Concat(existing, sameCommand) {
		same, err := x.compare(y)
		if err == nil && same && i >= len(existing) {
			err = x.duplicate()
		}
		if err != nil {
			return false, err
		}
		found = found || same
	}
	return found, nil
}

// build creates indexes, and returns when they are complete.
func (r *request) build(c *catalog.Container, missing []catalog.NamedIndex) error {
	_, err := r.s.o.Catalog.ReplaceIndexes(r.ctx, r.now, c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
		return append(slices.Clone(st.Named), missing...), nil
	})
	if err == nil && r.tx == nil {
		var effect *store.Effect
		effect, err = r.s.o.Store.BuildNamed(r.s.running, c, r.now)
		r.lifetimeChanged(c, effect)
	}
	if d := (*store.Duplicate)(nil); errors.As(err, &d) {
		e := code.Of(duplicate(c, doc.Empty, err))
		e.Message = "Index build failed: Collection " + r.db + "." + c.State().Name + " :: caused by :: " + e.Message
		return e
	}
	return err
}

// checkOthers refuses an index on _ts that conflicts with others of the same command: with another one on _ts, or with
// one of the same name.
func (x *indexSpec) checkOthers(stamp *indexSpec, sameCommand []catalog.NamedIndex) error {
	switch {
	case stamp != nil && stamp.ttl == x.ttl:
		return x.duplicate()
	case stamp != nil:
		return conflicting(x.Spec, stamp.Spec)
	}
	for _, y := range sameCommand {
		if y.Name == x.Name {
			_, err := x.compare(y)
			return err
		}
	}
	return nil
}

// duplicate is the error for an index that the same command contains twice.
func (x *indexSpec) duplicate() error {
	return code.New(code.IndexAlreadyExists, "Identical index already exists: %s", x.Name)
}

// conflicting is the error for an index that exists with other options.
func conflicting(requested, existing doc.Doc) error {
	return code.New(code.IndexOptionsConflict,
		"An equivalent index already exists with the same name but different options. Requested index: %s, existing index: %s",
		code.Show(doc.Object(requested)), code.Show(doc.Object(existing)))
}

// hasStampIndex reports whether the container has the same index on _ts already. One with other seconds is an error
//
func (r *request) hasStampIndex(c *catalog.Container, x *indexSpec) (bool, error) {
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

// setLifetime sets the container's time to live that counts from _ts: the API for NoSQL calls it defaultTtl.
func (r *request) setLifetime(c *catalog.Container, ttl expiry.TTL, index doc.Doc) error {
	_, effect, err := r.s.o.Store.ReplaceContainer(r.ctx, r.now, c,
		func(st *catalog.State) (catalog.Definition, error) {
			if ttl != expiry.Unset && st.Dialect != catalog.Mongo && st.Indexing.None { // T-66
				return catalog.Definition{}, code.New(code.BadValue,
					"Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection")
			}
			def := st.Definition
			def.TTL, def.TTLIndex = ttl, index
			if ttl == expiry.Unset {
				def.TTLProperty = ""
			}
			return def, nil
		})
	r.lifetimeChanged(c, effect)
	return err
}
