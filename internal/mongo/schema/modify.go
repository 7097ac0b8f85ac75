package schema

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// Modify changes an index and the options of a container; all is checked before anything is changed. It gives what has
// changed about the index, nil for nothing.
// https://www.mongodb.com/docs/v7.0/reference/command/collMod/
func (r *Request) Modify(name string, index doc.Doc, dry bool) (x *IndexChange, err error) {
	c, err := r.Find(r.DB, name)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, code.New(code.NamespaceNotFound, "ns does not exist")
	}
	options, err := readChangedOptions(r, c)
	if err != nil {
		return nil, err
	}
	defer lockIndexes(r.Node, c)()
	if index != nil {
		if x, err = readIndexChange(r, c, index); err != nil {
			return nil, err
		}
	}
	if dry {
		return nil, nil
	}
	if x != nil {
		if err := x.apply(r, c); err != nil {
			return nil, err
		}
	}
	if len(options) == 0 {
		if query.ViewOf(c) != nil {
			return x, nil
		}
		return x, noteModified(r, c)
	}
	_, err = r.Node.Catalog.ReplaceContainer(r.Context, r.Now, c, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		def.Echo = merged(def.Echo, options)
		return def, nil
	})
	if err != nil {
		return x, err
	}
	return x, noteModified(r, c)
}

// An option is a member of what a container shows of itself; one without a value goes.
type option struct {
	name  string
	value doc.Value
}

// merged is a document with some members replaced, taken away and added.
func merged(d doc.Doc, change []option) doc.Doc {
	a := doc.NewWriter(nil)
	for name, v := range doc.Members(d) {
		if i := slices.IndexFunc(change, func(o option) bool { return o.name == name }); i >= 0 {
			v = change[i].value
			change = slices.Delete(slices.Clone(change), i, i+1)
		}
		a.Value(name, v)
	}
	for _, o := range change {
		a.Value(o.name, o.value)
	}
	return a.End()
}

// viewOptions are those that only views have.
var viewOptions = call.FieldSet("viewOn pipeline")

// readChangedOptions reads what changes of the container's options.
func readChangedOptions(r *Request, c *catalog.Container) ([]option, error) {
	isView := query.ViewOf(c) != nil
	first, some := true, false
	for name := range doc.Members(r.Body) {
		if first || call.GenericFields[name] || name == "dryRun" || name == "index" && !isView {
			first = false
			continue
		}
		some = true
		switch {
		case isView && !viewOptions[name]:
			return nil, code.New(code.InvalidOptions, "option not supported on a view: %s", name)
		case !isView && viewOptions[name]:
			return nil, code.New(code.InvalidOptions, "option only supported on a view: %s", name)
		case name == "expireAfterSeconds":
			return nil, code.New(code.InvalidOptions,
				"'expireAfterSeconds' is only supported on time-series collections "+
					"or when the 'clusteredIndex' option is specified")
		case name == "cappedSize", name == "cappedMax":
			return nil, code.New(code.InvalidOptions, "Collection must be capped.")
		}
	}
	if !some {
		return nil, nil
	}
	if isView {
		return readChangedView(r, c)
	}
	if call.IsTrue(doc.Lookup(r.Document("changeStreamPreAndPostImages"), "enabled")) {
		return nil, code.Unsupported("a collection with changeStreamPreAndPostImages")
	}
	a := doc.NewWriter(nil)
	if err := readValidationOptions(r, a, ""); err != nil {
		return nil, err
	}
	return optionsOf(a.End()), write.Writable(c)
}

// readChangedView reads what a view shows from now on.
func readChangedView(r *Request, c *catalog.Container) ([]option, error) {
	on, stages := r.String("viewOn"), r.List("pipeline")
	switch {
	case r.Err != nil:
		return nil, r.Err
	case r.Get("viewOn").Type == 0 || r.Get("pipeline").Type == 0:
		return nil, code.New(code.InvalidOptions, "Must specify both 'viewOn' and 'pipeline' when modifying a view")
	}
	if err := checkView(r.Node, r.NewNames(), r.DB, c.State().Name, on, stages); err != nil {
		return nil, err
	}
	a := doc.NewWriter(nil)
	writeViewOptions(a, on, stages)
	return optionsOf(a.End()), nil
}

// optionsOf lists the members of a document. A validator that is empty is none.
func optionsOf(d doc.Doc) (list []option) {
	for name, v := range doc.Members(d) {
		if name == "validator" && doc.IsEmpty(v.Data) {
			v = doc.Value{}
		}
		list = append(list, option{name, v})
	}
	return list
}
