package schema

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// DropIndexes drops the indexes that a name, a list of names or a key pattern stands for. It gives how many there were,
// and whether all of them are meant.
func (r *Request) DropIndexes(name string, which doc.Value) (was int, all bool, err error) {
	c, err := r.Find(r.DB, name)
	switch {
	case err != nil:
		return 0, false, err
	case c == nil:
		return 0, false, code.New(code.NamespaceNotFound, "ns not found %s.%s", r.DB, name)
	case query.ViewOf(c) != nil:
		return 0, false, code.New(code.CommandNotSupportedOnView, "Cannot drop indexes on view %s.%s", r.DB, name)
	}
	defer lockIndexes(r.Node, c)()
	before := Specs(c)
	names, all, err := namedIndexes(c, which)
	if err != nil {
		return 0, false, err
	}
	if err := r.dropNamed(c, names); err != nil {
		return 0, false, err
	}
	return len(before), all, write.NoteIndexes(&r.Operation, c, before, Specs(c))
}

// namedIndexes finds the names of the indexes to drop. all is true for "*".
func namedIndexes(c *catalog.Container, which doc.Value) (names []string, all bool, err error) {
	specs := Specs(c)
	switch which.Type {
	case bsoncore.TypeString:
		name, _ := doc.AsString(which)
		if name == "*" {
			for _, spec := range specs[1:] {
				s, _ := doc.AsString(doc.Lookup(spec, "name"))
				names = append(names, s)
			}
			return names, true, nil
		}
		return []string{name}, false, checkNamed(specs, name)
	case bsoncore.TypeArray:
		for v := range doc.Elements(which) {
			name, _ := doc.AsString(v)
			if err := checkNamed(specs, name); err != nil {
				return nil, false, err
			}
			names = append(names, name)
		}
		return names, false, nil
	}
	name, err := byKey(specs, doc.Doc(which.Data))
	if err != nil {
		return nil, false, err
	}
	return []string{name}, false, checkNamed(specs, name)
}

// checkNamed refuses an index that does not exist or cannot be dropped.
func checkNamed(specs []doc.Doc, name string) error {
	if name == "_id_" {
		return code.New(code.InvalidOptions, "cannot drop _id index")
	}
	for _, spec := range specs {
		if s, _ := doc.AsString(doc.Lookup(spec, "name")); s == name {
			return nil
		}
	}
	return code.New(code.IndexNotFound, "index not found with name [%s]", name)
}

// byKey finds the name of the only index with a key pattern.
func byKey(specs []doc.Doc, key doc.Doc) (string, error) {
	var found []doc.Doc
	for _, spec := range specs {
		if samePattern(call.Member(spec, "key"), key) {
			found = append(found, spec)
		}
	}
	switch len(found) {
	case 0:
		return "", code.New(code.IndexNotFound, "can't find index with key: %s", code.Show(doc.Object(key)))
	case 1:
		s, _ := doc.AsString(doc.Lookup(found[0], "name"))
		return s, nil
	}
	return "", code.New(code.AmbiguousIndexKeyPattern,
		"%d indexes found for key: %s, identify by name instead. Conflicting indexes: %s, %s",
		len(found), code.Show(doc.Object(key)), code.Show(doc.Object(found[0])), code.Show(doc.Object(found[1])))
}

// samePattern compares key patterns: 1 and 1.0 are the same direction.
func samePattern(a, b doc.Doc) bool { return doc.EqualBSON(doc.Object(a), doc.Object(b)) }

// dropNamed drops indexes by name. Dropping the one on _ts turns off the time to live of the container.
func (r *Request) dropNamed(c *catalog.Container, names []string) error {
	st := c.State()
	gone := func(x catalog.NamedIndex) bool { return slices.Contains(names, x.Name) }
	if slices.ContainsFunc(st.Named, gone) {
		_, effect, err := r.Node.Store.ReplaceIndexes(r.Context, r.Now, c,
			func(st *catalog.State) ([]catalog.NamedIndex, error) {
				return slices.DeleteFunc(slices.Clone(st.Named), gone), nil
			})
		if err != nil {
			return err
		}
		lifetimeChanged(r, c, effect)
	}
	if st.Policy.On() {
		if name, _ := doc.AsString(doc.Lookup(stampSpec(st), "name")); slices.Contains(names, name) {
			return setLifetime(r, c, expiry.Unset, nil)
		}
	}
	return nil
}
