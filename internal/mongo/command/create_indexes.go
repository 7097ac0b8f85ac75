package command

import (
	"errors"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
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
		x.settle()
	}
	if r.Transaction != nil {
		if err := mayShapeContainers(r); err != nil {
			return err
		}
	}
	c, err := r.Find(r.db, name)
	if err != nil {
		return err
	}
	created := c == nil || r.Transaction != nil && r.Transaction.Makes(c)
	if c, err = write.FindOrCreate(&r.Operation, r.db, name); err != nil {
		return err
	}
	if query.ViewOf(c) != nil {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.db, name)
	}
	lock := indexing(r.s.Node, c)
	lock.Lock()
	defer lock.Unlock()
	before := indexSpecs(c)
	built, err := makeIndexes(r, c, specs)
	if err != nil {
		if created && built == 0 && len(indexSpecs(c)) == 1 && r.Transaction == nil {
			dropIfEmpty(r, c)
		}
		return err
	}
	answerIndexes(r, a, c, specs, len(before), built, created)
	return write.NoteIndexes(&r.Operation, c, before, indexSpecs(c))
}

// dropIfEmpty takes back a container that was made for indexes which cannot be.
func dropIfEmpty(r *request, c *catalog.Container) {
	if n, err := query.Count(&r.Operation, &query.Selection{Container: c}); err == nil && n == 0 {
		_ = r.s.o.Catalog.DeleteContainer(r.Context, c)
	}
}

// answerIndexes has the members of Cosmos DB's answer too where its index is meant (T-76).
func answerIndexes(r *request, a *answer, c *catalog.Container, specs []*indexSpec, before, built int, created bool) {
	if r.s.o.CosmosTTL || slices.ContainsFunc(specs, func(x *indexSpec) bool { return x.stamp }) {
		a.String("_t", "CreateIndexesResponse")
	}
	a.Int32("numIndexesBefore", before)
	a.Int32("numIndexesAfter", len(indexSpecs(c)))
	if built > 0 || created {
		a.Bool("createdCollectionAutomatically", created)
	}
	switch {
	case built == 0:
		a.String("note", "all indexes already exist")
	case built < len(specs):
		a.String("note", "index already exists")
	default:
		writeEffect(r, a)
	}
}

// makeIndexes makes those that are not there yet, all or none, and tells how many that are.
func makeIndexes(r *request, c *catalog.Container, specs []*indexSpec) (built int, err error) {
	if c.State().Dialect != catalog.Mongo && slices.ContainsFunc(specs, func(x *indexSpec) bool { return !x.stamp }) {
		return 0, write.Writable(c)
	}
	var ttl *indexSpec
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
	if n := len(indexSpecs(c)) + len(missing); n > catalog.MaxNamedIndexes {
		return 0, code.New(code.CannotCreateIndex, "add index fails, too many indexes for %s.%s", r.db, st.Name)
	}
	if r.Transaction != nil && (len(missing) > 0 || ttl != nil) {
		if err := mayIndexContainer(r, c); err != nil {
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
func buildIndexes(r *request, c *catalog.Container, missing []catalog.NamedIndex) error {
	_, err := r.s.o.Catalog.ReplaceIndexes(r.Context, r.Now, c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
		return append(slices.Clone(st.Named), missing...), nil
	})
	if err == nil && r.Transaction == nil {
		var effect *store.Effect
		effect, err = r.s.o.Store.BuildNamed(r.s.Running, c, r.Now)
		lifetimeChanged(r, c, effect)
	}
	if d := (*store.Duplicate)(nil); errors.As(err, &d) {
		e := code.Of(write.Duplicate(c, doc.Empty, err))
		e.Message = "Index build failed: Collection " + r.db + "." + c.State().Name + " :: caused by :: " + e.Message
		return e
	}
	return err
}

// alone refuses an index on _ts that others of the same command are in the way of: another one, or one of its name.
func (x *indexSpec) alone(ttl *indexSpec, missing []catalog.NamedIndex) error {
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
func (x *indexSpec) twice() error {
	return code.New(code.IndexAlreadyExists, "Identical index already exists: %s", x.Name)
}

func conflicting(requested, existing doc.Doc) error {
	return code.New(code.IndexOptionsConflict, "An equivalent index already exists with the same name but different options. Requested index: %s, existing index: %s",
		code.Show(doc.Object(requested)), code.Show(doc.Object(existing)))
}

// hasStampIndex reports whether the container has that lifetime already; another one is an error.
func hasStampIndex(r *request, c *catalog.Container, x *indexSpec) (bool, error) {
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

// setLifetime sets the lifetime that counts from the stamp: the field that the NoSQL door calls defaultTtl.
func setLifetime(r *request, c *catalog.Container, ttl expiry.TTL, index doc.Doc) error {
	_, effect, err := r.s.o.Store.ReplaceContainer(r.Context, r.Now, c, func(st *catalog.State) (catalog.Definition, error) {
		if ttl != expiry.Unset && st.Dialect != catalog.Mongo && st.Indexing.None { // T-66
			return catalog.Definition{}, code.New(code.BadValue, "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection")
		}
		def := st.Definition
		def.TTL, def.TTLIndex = ttl, index
		if ttl == expiry.Unset {
			def.TTLProperty = ""
		}
		return def, nil
	})
	lifetimeChanged(r, c, effect)
	return err
}
