package schema

import (
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/write"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// An IndexChange is what collMod does to one index.
type IndexChange struct {
	name    string
	stamp   bool // the index that shows the lifetime by the stamp
	seconds doc.Value
	hidden  doc.Value

	old, new             int64 // seconds
	wasOn, renewed       bool  // it ended documents before; its seconds change
	wasHidden, nowHidden bool
}

// indexFields are the members of collMod's index.
var indexFields = call.FieldSet("name keyPattern expireAfterSeconds hidden unique prepareUnique")

// readIndexChange reads and checks a change of an index.
func readIndexChange(r *Request, c *catalog.Container, d doc.Doc) (*IndexChange, error) {
	name, pattern, e := readIndexChoice(d)
	if e != nil {
		return nil, e
	}
	x := &IndexChange{seconds: doc.Lookup(d, "expireAfterSeconds"), hidden: doc.Lookup(d, "hidden")}
	switch {
	case call.IsTrue(doc.Lookup(d, "unique")) || call.IsTrue(doc.Lookup(d, "prepareUnique")):
		return nil, code.Unsupported("making an index unique by collMod")
	case x.seconds.Type == 0 && x.hidden.Type == 0 && doc.Lookup(d, "unique").Type == 0 &&
		doc.Lookup(d, "prepareUnique").Type == 0:
		return nil, code.New(code.InvalidOptions, "no expireAfterSeconds, hidden, unique, or prepareUnique field")
	}
	if x.seconds.Type != 0 {
		if _, ok := call.WholeOf(x.seconds); !ok && !isDecimal(x.seconds) {
			return nil, code.WrongType("collMod.index.expireAfterSeconds", x.seconds, "[long, int, decimal, double]")
		}
	}
	if x.hidden.Type != 0 {
		var ok bool
		if x.nowHidden, ok = call.Truth(x.hidden); !ok {
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
			"BSON field 'collMod.index.keyPattern' is the wrong type '%s', expected type 'object'",
			code.TypeName(byPattern))
	}
	return "", pattern, nil
}

// chooseIndex finds the index as it is shown.
func chooseIndex(r *Request, c *catalog.Container, name string, pattern doc.Doc) (doc.Doc, error) {
	var found []doc.Doc
	shown := name
	if pattern != nil {
		shown = code.Show(doc.Object(pattern))
	}
	for _, spec := range Specs(c) {
		s, _ := doc.AsString(doc.Lookup(spec, "name"))
		if pattern == nil && s == name || pattern != nil && samePattern(call.Member(spec, "key"), pattern) {
			found = append(found, spec)
		}
	}
	switch len(found) {
	case 0:
		return nil, code.New(code.IndexNotFound, "cannot find index %s for ns %s.%s", shown, r.DB, c.State().Name)
	case 1:
		return found[0], nil
	}
	return nil, code.New(code.AmbiguousIndexKeyPattern,
		"index keyPattern %s matches %d indexes, must use index name. Conflicting indexes: %s, %s",
		shown, len(found), code.Show(doc.Object(found[0])), code.Show(doc.Object(found[1])))
}

// check holds the change against the index.
func (x *IndexChange) check(r *Request, c *catalog.Container, spec doc.Doc) error {
	x.name, _ = doc.AsString(doc.Lookup(spec, "name"))
	key, _ := bsoncore.Document(call.Member(spec, "key")).Elements()
	seconds := doc.Lookup(spec, "expireAfterSeconds")
	x.wasOn = seconds.Type != 0
	x.old, _ = call.WholeOf(seconds)
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
	wildcard := func(n catalog.NamedIndex) bool { return n.Name == x.name && n.Wildcard }
	var err error
	switch {
	case x.name == "_id_":
		err = code.New(code.InvalidOptions, "the _id field does not support TTL indexes")
	case len(key) > 1:
		err = code.New(code.InvalidOptions, "TTL indexes are single-field indexes, compound indexes do not support TTL")
	case slices.ContainsFunc(c.State().Named, wildcard):
		err = code.New(code.InvalidOptions, "wildcard indexes do not support TTL")
	case x.stamp:
		at := Index{}
		err = at.checkStampLifetime(x.seconds)
		x.new = at.ttl
	case r.CosmosTTL:
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

func (x *IndexChange) apply(r *Request, c *catalog.Container) error {
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
	change := func(st *catalog.State) ([]catalog.NamedIndex, error) {
		list := slices.Clone(st.Named)
		for i := range list {
			if list[i].Name != x.name {
				continue
			}
			next := Index{NamedIndex: list[i], key: call.Member(list[i].Spec, "key")}
			next.Hidden = x.nowHidden
			if x.renewed {
				next.Expires, next.Seconds = true, int32(x.new)
			}
			next.settle()
			list[i] = next.NamedIndex
		}
		return list, nil
	}
	_, effect, err := r.Node.Store.ReplaceIndexes(r.Context, r.Now, c, change)
	lifetimeChanged(r, c, effect)
	return err
}

// applyStamp changes the lifetime by the stamp, or makes one of a plain index on it.
func (x *IndexChange) applyStamp(r *Request, c *catalog.Container, st *catalog.State) error {
	ttl := st.Policy.Default
	if x.renewed {
		ttl = expiry.TTL(x.new)
		hintLifetime(r, c, x.new)
	}
	next := Index{stamp: true, ttl: int64(ttl)}
	next.Expires, next.Name, next.Hidden = true, x.name, x.nowHidden
	next.key = call.Member(stampSpec(st), "key")
	plain := func(n catalog.NamedIndex) bool { return n.Name == x.name }
	if i := slices.IndexFunc(st.Named, plain); i >= 0 {
		next.key = call.Member(st.Named[i].Spec, "key")
		without := func(st *catalog.State) ([]catalog.NamedIndex, error) {
			return slices.DeleteFunc(slices.Clone(st.Named), plain), nil
		}
		if _, err := r.Node.Catalog.ReplaceIndexes(r.Context, r.Now, c, without); err != nil {
			return err
		}
	}
	next.settle()
	return setLifetime(r, c, ttl, next.Spec)
}

// Write tells what has changed.
func (x *IndexChange) Write(a *doc.Writer) {
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
