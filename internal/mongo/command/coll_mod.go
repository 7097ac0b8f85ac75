package command

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

var collModFields = fieldSet(`index validator validationLevel validationAction viewOn pipeline
	changeStreamPreAndPostImages expireAfterSeconds cappedSize cappedMax dryRun`)

// collMod changes an index and the options of a container; all is checked before anything is changed.
// https://www.mongodb.com/docs/v7.0/reference/command/collMod/
func collMod(r *request, a *answer) error {
	name := r.collection()
	index := r.document("index")
	dry := r.bool("dryRun", false)
	if r.err != nil {
		return r.err
	}
	c, err := r.Find(r.db, name)
	switch {
	case err != nil:
		return err
	case c == nil:
		return code.New(code.NamespaceNotFound, "ns does not exist")
	}
	options, err := readChangedOptions(r, c)
	if err != nil {
		return err
	}
	lock := indexing(r.s.Node, c)
	lock.Lock()
	defer lock.Unlock()
	var x *indexChange
	if index != nil {
		if x, err = readIndexChange(r, c, index); err != nil {
			return err
		}
	}
	if dry {
		return nil
	}
	if x != nil {
		if err := x.apply(r, c); err != nil {
			return err
		}
		x.answer(a)
		writeEffect(r, a)
	}
	if len(options) == 0 {
		if query.ViewOf(c) != nil {
			return nil
		}
		return noteModified(r, c)
	}
	_, err = r.s.o.Catalog.ReplaceContainer(r.Context, r.Now, c, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		def.Echo = merged(def.Echo, options)
		return def, nil
	})
	if err != nil {
		return err
	}
	return noteModified(r, c)
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
var viewOptions = fieldSet("viewOn pipeline")

// readChangedOptions reads what changes of the container's options.
func readChangedOptions(r *request, c *catalog.Container) ([]option, error) {
	isView := query.ViewOf(c) != nil
	first, some := true, false
	for name := range doc.Members(r.body) {
		if first || genericFields[name] || name == "dryRun" || name == "index" && !isView {
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
			return nil, code.New(code.InvalidOptions, "'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified")
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
	if isTrue(doc.Lookup(r.document("changeStreamPreAndPostImages"), "enabled")) {
		return nil, code.Unsupported("a collection with changeStreamPreAndPostImages")
	}
	a := doc.NewWriter(nil)
	if err := readValidationOptions(r, a, ""); err != nil {
		return nil, err
	}
	return optionsOf(a.End()), write.Writable(c)
}

// readChangedView reads what a view shows from now on.
func readChangedView(r *request, c *catalog.Container) ([]option, error) {
	on, stages := r.string("viewOn"), r.list("pipeline")
	switch {
	case r.err != nil:
		return nil, r.err
	case r.get("viewOn").Type == 0 || r.get("pipeline").Type == 0:
		return nil, code.New(code.InvalidOptions, "Must specify both 'viewOn' and 'pipeline' when modifying a view")
	}
	if err := r.s.checkView(r.NewNames(), r.db, c.State().Name, on, stages); err != nil {
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

// An indexChange is what collMod does to one index.
type indexChange struct {
	name    string
	stamp   bool // the index that shows the lifetime by the stamp
	seconds doc.Value
	hidden  doc.Value

	old, new             int64 // seconds
	wasOn, renewed       bool  // it ended documents before; its seconds change
	wasHidden, nowHidden bool
}

// indexFields are the members of collMod's index.
var indexFields = fieldSet("name keyPattern expireAfterSeconds hidden unique prepareUnique")

// readIndexChange reads and checks a change of an index.
func readIndexChange(r *request, c *catalog.Container, d doc.Doc) (*indexChange, error) {
	name, pattern, e := readIndexChoice(d)
	if e != nil {
		return nil, e
	}
	x := &indexChange{seconds: doc.Lookup(d, "expireAfterSeconds"), hidden: doc.Lookup(d, "hidden")}
	switch {
	case isTrue(doc.Lookup(d, "unique")) || isTrue(doc.Lookup(d, "prepareUnique")):
		return nil, code.Unsupported("making an index unique by collMod")
	case x.seconds.Type == 0 && x.hidden.Type == 0 && doc.Lookup(d, "unique").Type == 0 && doc.Lookup(d, "prepareUnique").Type == 0:
		return nil, code.New(code.InvalidOptions, "no expireAfterSeconds, hidden, unique, or prepareUnique field")
	}
	if x.seconds.Type != 0 {
		if _, ok := wholeOf(x.seconds); !ok && !isDecimal(x.seconds) {
			return nil, code.WrongType("collMod.index.expireAfterSeconds", x.seconds, "[long, int, decimal, double]")
		}
	}
	if x.hidden.Type != 0 {
		var ok bool
		if x.nowHidden, ok = truth(x.hidden); !ok {
			return nil, code.WrongType("collMod.index.hidden", x.hidden, "[bool, long, int, decimal, double]")
		}
	}
	spec, err := chooseIndex(r, c, name, pattern)
	if err != nil {
		return nil, err
	}
	return x, x.check(r, c, spec)
}

func isDecimal(v doc.Value) bool { return v.Type == bsoncore.TypeDecimal128 }

// readIndexChoice reads which index is meant.
func readIndexChoice(d doc.Doc) (name string, pattern doc.Doc, e *code.Error) {
	for field := range doc.Members(d) {
		if !indexFields[field] {
			return "", nil, code.New(code.UnknownFieldOfCommand, "BSON field 'collMod.index.%s' is an unknown field.", field)
		}
	}
	byName, byPattern := doc.Lookup(d, "name"), doc.Lookup(d, "keyPattern")
	switch {
	case byName.Type == 0 && byPattern.Type == 0:
		return "", nil, code.New(code.InvalidOptions, "Must specify either index name or key pattern.")
	case byName.Type != 0 && byPattern.Type != 0:
		return "", nil, code.New(code.InvalidOptions, "Cannot specify both key pattern and name.")
	case byName.Type != 0:
		name, ok := doc.AsString(byName)
		if !ok {
			return "", nil, code.New(code.TypeMismatch, "BSON field 'collMod.index.name' is the wrong type '%s', expected type 'string'", code.TypeName(byName))
		}
		return name, nil, nil
	}
	pattern, ok := doc.AsDoc(byPattern)
	if !ok {
		return "", nil, code.New(code.TypeMismatch, "BSON field 'collMod.index.keyPattern' is the wrong type '%s', expected type 'object'", code.TypeName(byPattern))
	}
	return "", pattern, nil
}

// chooseIndex finds the index as it is shown.
func chooseIndex(r *request, c *catalog.Container, name string, pattern doc.Doc) (doc.Doc, error) {
	var found []doc.Doc
	shown := name
	if pattern != nil {
		shown = code.Show(doc.Object(pattern))
	}
	for _, spec := range indexSpecs(c) {
		s, _ := doc.AsString(doc.Lookup(spec, "name"))
		if pattern == nil && s == name || pattern != nil && samePattern(docMember(spec, "key"), pattern) {
			found = append(found, spec)
		}
	}
	switch len(found) {
	case 0:
		return nil, code.New(code.IndexNotFound, "cannot find index %s for ns %s.%s", shown, r.db, c.State().Name)
	case 1:
		return found[0], nil
	}
	return nil, code.New(code.AmbiguousIndexKeyPattern, "index keyPattern %s matches %d indexes, must use index name. Conflicting indexes: %s, %s",
		shown, len(found), code.Show(doc.Object(found[0])), code.Show(doc.Object(found[1])))
}

// check holds the change against the index.
func (x *indexChange) check(r *request, c *catalog.Container, spec doc.Doc) error {
	x.name, _ = doc.AsString(doc.Lookup(spec, "name"))
	key, _ := bsoncore.Document(docMember(spec, "key")).Elements()
	seconds := doc.Lookup(spec, "expireAfterSeconds")
	x.wasOn = seconds.Type != 0
	x.old, _ = wholeOf(seconds)
	x.wasHidden, _ = doc.AsBool(doc.Lookup(spec, "hidden"))
	x.stamp = len(key) == 1 && key[0].Key() == stampField
	if x.hidden.Type == 0 {
		x.nowHidden = x.wasHidden
	}
	switch {
	case x.name == "_id_" && x.nowHidden:
		return code.New(code.BadValue, "can't hide _id index")
	case !x.stamp || !x.wasOn && x.seconds.Type == 0:
		if err := write.Writable(c); err != nil {
			return err
		}
	}
	if x.seconds.Type == 0 {
		return nil
	}
	var err error
	switch {
	case x.name == "_id_":
		err = code.New(code.InvalidOptions, "the _id field does not support TTL indexes")
	case len(key) > 1:
		err = code.New(code.InvalidOptions, "TTL indexes are single-field indexes, compound indexes do not support TTL")
	case slices.ContainsFunc(c.State().Named, func(n catalog.NamedIndex) bool { return n.Name == x.name && n.Wildcard }):
		err = code.New(code.InvalidOptions, "wildcard indexes do not support TTL")
	case x.stamp:
		at := indexSpec{}
		err = at.checkStampLifetime(x.seconds)
		x.new = at.ttl
	case r.s.o.CosmosTTL:
		err = code.New(code.BadValue, "The 'expireAfterSeconds' option is supported on '_ts' field only.")
	default:
		x.new, err = clamped(x.seconds)
	}
	x.renewed = !x.wasOn || x.new != x.old
	return err
}

// clamped reads the seconds of an index on dates as collMod takes them: what is too large becomes
// the greatest int32, which createIndexes refuses.
func clamped(v doc.Value) (int64, error) {
	f, nan := number(v)
	switch {
	case nan:
		return 0, code.New(code.InvalidOptions, "TTL index 'expireAfterSeconds' option must not be NaN")
	case f <= -1:
		return 0, code.New(code.InvalidOptions, "TTL index 'expireAfterSeconds' option cannot be less than 0")
	}
	return int64(min(f, math.MaxInt32)), nil
}

func (x *indexChange) apply(r *request, c *catalog.Container) error {
	if !x.renewed && x.nowHidden == x.wasHidden {
		return nil
	}
	st := c.State()
	if x.stamp && (x.wasOn || x.renewed) {
		return x.applyStamp(r, c, st)
	}
	if x.renewed {
		hintLifetime(r, c, x.new)
	}
	_, effect, err := r.s.o.Store.ReplaceIndexes(r.Context, r.Now, c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
		list := slices.Clone(st.Named)
		for i := range list {
			if list[i].Name != x.name {
				continue
			}
			next := indexSpec{NamedIndex: list[i], key: docMember(list[i].Spec, "key")}
			next.Hidden = x.nowHidden
			if x.renewed {
				next.Expires, next.Seconds = true, int32(x.new)
			}
			next.settle()
			list[i] = next.NamedIndex
		}
		return list, nil
	})
	lifetimeChanged(r, c, effect)
	return err
}

// applyStamp changes the lifetime by the stamp, or makes one of a plain index on it.
func (x *indexChange) applyStamp(r *request, c *catalog.Container, st *catalog.State) error {
	ttl := st.Policy.Default
	if x.renewed {
		ttl = expiry.TTL(x.new)
		hintLifetime(r, c, x.new)
	}
	next := indexSpec{stamp: true, ttl: int64(ttl)}
	next.Expires, next.Name, next.Hidden = true, x.name, x.nowHidden
	next.key = docMember(stampSpec(st), "key")
	plain := func(n catalog.NamedIndex) bool { return n.Name == x.name }
	if i := slices.IndexFunc(st.Named, plain); i >= 0 {
		next.key = docMember(st.Named[i].Spec, "key")
		_, err := r.s.o.Catalog.ReplaceIndexes(r.Context, r.Now, c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
			return slices.DeleteFunc(slices.Clone(st.Named), plain), nil
		})
		if err != nil {
			return err
		}
	}
	next.settle()
	return setLifetime(r, c, ttl, next.Spec)
}

// answer tells what has changed.
func (x *indexChange) answer(a *answer) {
	if x.seconds.Type != 0 && x.renewed {
		if x.wasOn {
			a.Int64("expireAfterSeconds_old", x.old)
		}
		a.Int64("expireAfterSeconds_new", x.new)
	}
	if x.nowHidden != x.wasHidden {
		a.Bool("hidden_old", x.wasHidden)
		a.Bool("hidden_new", x.nowHidden)
	}
}
