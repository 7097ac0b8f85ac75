package command

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

var collModFields = fieldSet(`index validator validationLevel validationAction viewOn pipeline
	changeStreamPreAndPostImages expireAfterSeconds cappedSize cappedMax dryRun`)

// collMod changes an index and the options of a container. It checks everything before it changes anything.
// https://www.mongodb.com/docs/v7.0/reference/command/collMod/
func collMod(r *request, a *answer) error {
	name := r.collection()
	index := r.document("index")
	dry := r.bool("dryRun", false)
	if r.err != nil {
		return r.err
	}
	c, err := r.find(r.db, name)
	switch {
	case err != nil:
		return err
	case c == nil:
		return code.New(code.NamespaceNotFound, "ns does not exist")
	}
	options, err := r.changedOptions(c)
	if err != nil {
		return err
	}
	lock := r.s.indexing(c)
	lock.Lock()
	defer lock.Unlock()
	var x *indexChange
	if index != nil {
		if x, err = r.readIndexChange(c, index); err != nil {
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
		r.noteEffect(a)
	}
	if len(options) == 0 {
		if viewOf(c) != nil {
			return nil
		}
		return r.modified(c)
	}
	_, err = r.s.o.Catalog.ReplaceContainer(r.ctx, r.now, c, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		def.Echo = merged(def.Echo, options)
		return def, nil
	})
	if err != nil {
		return err
	}
	return r.modified(c)
}

// An option is a new value for one of the options that listCollections shows; one without a value is removed.
type option struct {
	name  string
	value doc.Value
}

// merged gives a document with some members replaced, removed and added.
func merged(d doc.Doc, change []option) doc.Doc {
	a := newAnswer(nil)
	for name, v := range doc.Members(d) {
		if i := slices.IndexFunc(change, func(o option) bool { return o.name == name }); i >= 0 {
			v = change[i].value
			change = slices.Delete(slices.Clone(change), i, i+1)
		}
		a.value(name, v)
	}
	for _, o := range change {
		a.value(o.name, o.value)
	}
	return a.end()
}

// viewOptions are the options that only views have.
var viewOptions = fieldSet("viewOn pipeline")

// changedOptions reads how the options of the container change.
func (r *request) changedOptions(c *catalog.Container) ([]option, error) {
	isView := viewOf(c) != nil
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
		return r.changedView(c)
	}
	if isTrue(doc.Lookup(r.document("changeStreamPreAndPostImages"), "enabled")) {
		return nil, code.Unsupported("a collection with changeStreamPreAndPostImages")
	}
	a := newAnswer(nil)
	if err := r.validationOptions(a, ""); err != nil {
		return nil, err
	}
	return optionsOf(a.end()), writable(c)
}

// changedView reads the new definition of a view.
func (r *request) changedView(c *catalog.Container) ([]option, error) {
	on, stages := r.string("viewOn"), r.list("pipeline")
	switch {
	case r.err != nil:
		return nil, r.err
	case r.get("viewOn").Type == 0 || r.get("pipeline").Type == 0:
		return nil, code.New(code.InvalidOptions, "Must specify both 'viewOn' and 'pipeline' when modifying a view")
	}
	if err := r.s.checkView(r.newNames(), r.db, c.State().Name, on, stages); err != nil {
		return nil, err
	}
	a := newAnswer(nil)
	a.viewOptions(on, stages)
	return optionsOf(a.end()), nil
}

// optionsOf lists the members of a document as options. An empty validator removes the validator.
func optionsOf(d doc.Doc) (list []option) {
	for name, v := range doc.Members(d) {
		if name == "validator" && doc.IsEmpty(v.Data) {
			v = doc.Value{}
		}
		list = append(list, option{name, v})
	}
	return list
}

// An indexChange is a change of one index by collMod.
type indexChange struct {
	name    string
	stamp   bool // it is the index on _ts
	seconds doc.Value
	hidden  doc.Value

	old, new             int64 // seconds
	wasTTL               bool  // it has been a TTL index before
	newSeconds           bool  // its seconds change
	wasHidden, nowHidden bool
}

// indexFields are the members that collMod's index may have.
var indexFields = fieldSet("name keyPattern expireAfterSeconds hidden unique prepareUnique")

// readIndexChange reads and checks a change of an index.
func (r *request) readIndexChange(c *catalog.Container, d doc.Doc) (*indexChange, error) {
	name, pattern, e := readIndexChoice(d)
	if e != nil {
		return nil, e
	}
	x := &indexChange{seconds: doc.Lookup(d, "expireAfterSeconds"), hidden: doc.Lookup(d, "hidden")}
	switch {
	case isTrue(doc.Lookup(d, "unique")) || isTrue(doc.Lookup(d, "prepareUnique")):
		return nil, code.Unsupported("making an index unique by collMod")
	case x.seconds.Type == 0 && x.hidden.Type == 0 && doc.Lookup(d, "unique").Type == 0 &&
		doc.Lookup(d, "prepareUnique").Type == 0:
		return nil, code.New(code.InvalidOptions, "no expireAfterSeconds, hidden, unique, or prepareUnique field")
	}
	if x.seconds.Type != 0 {
		if _, ok := wholeOf(x.seconds); !ok && !isDecimal(x.seconds) {
			return nil, wrongTypeOf("collMod.index.expireAfterSeconds", x.seconds, "[long, int, decimal, double]")
		}
	}
	if x.hidden.Type != 0 {
		var ok bool
		if x.nowHidden, ok = truth(x.hidden); !ok {
			return nil, wrongTypeOf("collMod.index.hidden", x.hidden, "[bool, long, int, decimal, double]")
		}
	}
	spec, err := r.chosen(c, name, pattern)
	if err != nil {
		return nil, err
	}
	return x, x.check(r, c, spec)
}

func isDecimal(v doc.Value) bool { return v.Type == bsoncore.TypeDecimal128 }

// readIndexChoice reads which index to change: by its name or by its key pattern.
func readIndexChoice(d doc.Doc) (name string, pattern doc.Doc, e *code.Error) {
	for field := range doc.Members(d) {
		if !indexFields[field] {
			return "", nil, code.New(code.UnknownFieldOfCommand,
				"BSON field 'collMod.index.%s' is an unknown field.", field)
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
			return "", nil, code.New(code.TypeMismatch,
				"BSON field 'collMod.index.name' is the wrong type '%s', expected type 'string'", code.TypeName(byName))
		}
		return name, nil, nil
	}
	pattern, ok := doc.AsDoc(byPattern)
	if !ok {
		return "", nil, code.New(code.TypeMismatch,
			"BSON field 'collMod.index.keyPattern' is the wrong type '%s', expected type 'object'", code.TypeName(byPattern))
	}
	return "", pattern, nil
}

// chosen finds the index, as listIndexes shows it.
func (r *request) chosen(c *catalog.Container, name string, pattern doc.Doc) (doc.Doc, error) {
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
	return nil, code.New(code.AmbiguousIndexKeyPattern,
		"index keyPattern %s matches %d indexes, must use index name. Conflicting indexes: %s, %s",
		shown, len(found), code.Show(doc.Object(found[0])), code.Show(doc.Object(found[1])))
}

// check checks the change against the index that it is about.
func (x *indexChange) check(r *request, c *catalog.Container, spec doc.Doc) error {
	x.name, _ = doc.AsString(doc.Lookup(spec, "name"))
	key, _ := bsoncore.Document(docMember(spec, "key")).Elements()
	seconds := doc.Lookup(spec, "expireAfterSeconds")
	x.wasTTL = seconds.Type != 0
	x.old, _ = wholeOf(seconds)
	x.wasHidden, _ = doc.AsBool(doc.Lookup(spec, "hidden"))
	x.stamp = len(key) == 1 && key[0].Key() == stampField
	if x.hidden.Type == 0 {
		x.nowHidden = x.wasHidden
	}
	switch {
	case x.name == "_id_" && x.nowHidden:
		return code.New(code.BadValue, "can't hide _id index")
	case !x.stamp || !x.wasTTL && x.seconds.Type == 0:
		if err := writable(c); err != nil {
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
	case isWildcard(c, x.name):
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
	x.newSeconds = !x.wasTTL || x.new != x.old
	return err
}

func isWildcard(c *catalog.Container, name string) bool {
	return slices.ContainsFunc(c.State().Named, func(n catalog.NamedIndex) bool { return n.Name == name && n.Wildcard })
}

// clamped reads the seconds of a TTL index on dates. collMod turns a value that is too large into the largest int32,
// where createIndexes refuses it.
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
	if !x.newSeconds && x.nowHidden == x.wasHidden {
		return nil
	}
	st := c.State()
	if x.stamp && (x.wasTTL || x.newSeconds) {
		return x.applyStamp(r, c, st)
	}
	if x.newSeconds {
		r.hintSeconds(c, x.new)
	}
	_, effect, err := r.s.o.Store.ReplaceIndexes(r.ctx, r.now, c,
		func(st *catalog.State) ([]catalog.NamedIndex, error) {
			list := slices.Clone(st.Named)
			for i := range list {
				if list[i].Name != x.name {
					continue
				}
				next := indexSpec{NamedIndex: list[i], key: docMember(list[i].Spec, "key")}
				next.Hidden = x.nowHidden
				if x.newSeconds {
					next.Expires, next.Seconds = true, int32(x.new)
				}
				next.setSpec()
				list[i] = next.NamedIndex
			}
			return list, nil
		})
	r.lifetimeChanged(c, effect)
	return err
}

// applyStamp changes the time to live that counts from _ts, or turns a plain index on _ts into one that sets it.
func (x *indexChange) applyStamp(r *request, c *catalog.Container, st *catalog.State) error {
	ttl := st.Policy.Default
	if x.newSeconds {
		ttl = expiry.TTL(x.new)
		r.hintSeconds(c, x.new)
	}
	next := indexSpec{stamp: true, ttl: int64(ttl)}
	next.Expires, next.Name, next.Hidden = true, x.name, x.nowHidden
	next.key = docMember(stampSpec(st), "key")
	plain := func(n catalog.NamedIndex) bool { return n.Name == x.name }
	if i := slices.IndexFunc(st.Named, plain); i >= 0 {
		next.key = docMember(st.Named[i].Spec, "key")
		_, err := r.s.o.Catalog.ReplaceIndexes(r.ctx, r.now, c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
			return slices.DeleteFunc(slices.Clone(st.Named), plain), nil
		})
		if err != nil {
			return err
		}
	}
	next.setSpec()
	return r.setLifetime(c, ttl, next.Spec)
}

// answer writes what has changed.
func (x *indexChange) answer(a *answer) {
	if x.seconds.Type != 0 && x.newSeconds {
		if x.wasTTL {
			a.int64("expireAfterSeconds_old", x.old)
		}
		a.int64("expireAfterSeconds_new", x.new)
	}
	if x.nowHidden != x.wasHidden {
		a.bool("hidden_old", x.wasHidden)
		a.bool("hidden_new", x.nowHidden)
	}
}
