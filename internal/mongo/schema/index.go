package schema

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// An Index is an index as a client asks for it.
type Index struct {
	catalog.NamedIndex
	asked doc.Doc // as it came
	key   doc.Doc
	stamp bool  // it sets the lifetime that counts from the stamp
	ttl   int64 // that lifetime
}

// OfStamp reports whether the index sets the lifetime that counts from the stamp.
func (x *Index) OfStamp() bool { return x.stamp }

// indexOptions are the members of a specification; those that mayfly has no use for are accepted when
// their value changes nothing.
var indexOptions = call.FieldSet(`v key name ns background unique sparse hidden expireAfterSeconds
	partialFilterExpression collation wildcardProjection storageEngine dropDups commitQuorum prepareUnique
	clustered weights default_language language_override textIndexVersion 2dsphereIndexVersion bits min max
	coarsestIndexedLevel finestIndexedLevel`)

// idOptions are the members that the specification of the index on _id may have.
var idOptions = call.FieldSet("v key name ns collation")

// inSpecification is an error about a specification.
func inSpecification(d doc.Doc, e *code.Error) error {
	e.Message = "Error in specification " + code.Show(doc.Object(d)) + " :: caused by :: " + e.Message
	return e
}

// parseIndex reads a specification; its TTL options are left to checkLifetime, as MongoDB looks
// at them last.
func parseIndex(d doc.Doc, ignoreUnknown bool) (*Index, error) {
	x := &Index{asked: slices.Clone(d)}
	key := doc.Lookup(d, "key")
	if key.Type == 0 {
		return nil, inSpecification(d, code.New(code.FailedToParse,
			"The 'key' field is a required property of an index specification"))
	}
	if key.Type != bsoncore.TypeEmbeddedDocument {
		return nil, inSpecification(d, code.New(code.TypeMismatch,
			"The field 'key' must be an object, but got %s", code.TypeName(key)))
	}
	x.key = slices.Clone(doc.Doc(key.Data))
	if e := x.parseKey(); e != nil {
		return nil, inSpecification(d, e)
	}
	isID := len(x.Columns) == 1 && x.Columns[0].Path == "_id" && !x.Wildcard
	for name, v := range doc.Members(d) {
		if !indexOptions[name] {
			if ignoreUnknown {
				continue
			}
			return nil, inSpecification(d, code.New(code.InvalidIndexSpecificationOption,
				"The field '%s' is not valid for an index specification. Specification: %s",
				name, code.Show(doc.Object(d))))
		}
		if isID && !idOptions[name] {
			return nil, code.New(code.InvalidIndexSpecificationOption,
				"The field '%s' is not valid for an _id index specification. Specification: %s",
				name, code.Show(doc.Object(d)))
		}
		if err := x.option(name, v); err != nil {
			return nil, inSpecification(d, code.Of(err))
		}
	}
	switch {
	case doc.Lookup(d, "name").Type == 0:
		return nil, inSpecification(d, code.New(code.FailedToParse,
			"The 'name' field is a required property of an index specification"))
	case x.Name == "":
		whole := d
		if doc.Lookup(d, "v").Type == 0 {
			whole = doc.With(d, "v", doc.Int32(2))
		}
		return nil, inSpecification(whole, code.New(code.CannotCreateIndex, "index name cannot be empty"))
	case isID && x.Columns[0].Descending:
		return nil, code.New(code.BadValue,
			"The field 'key' for an _id index must be {_id: 1}, but got %s", code.Show(key))
	case x.Sparse && x.Partial != nil:
		return nil, inSpecification(d, code.New(code.CannotCreateIndex,
			`cannot mix "partialFilterExpression" and "sparse" options`))
	case x.Wildcard && x.Unique:
		return nil, inSpecification(d, code.New(code.CannotCreateIndex,
			"Index type 'wildcard' does not support the unique option"))
	case !x.Wildcard && x.Projection != nil:
		return nil, inSpecification(d, code.New(code.BadValue,
			"The field 'wildcardProjection' is only allowed in an 'wildcard' index"))
	}
	return x, nil
}

// parseKey reads the key pattern.
func (x *Index) parseKey() *code.Error {
	for name, v := range doc.Members(x.key) {
		direction, ok := doc.AsFloat(v)
		if s, isString := doc.AsString(v); isString {
			return code.New(code.CannotCreateIndex, "The index type '%s' is not supported by mayfly", s)
		}
		switch {
		case !ok:
			return code.New(code.CannotCreateIndex,
				"Values in v:2 index key pattern cannot be of type %s. Only numbers > 0, numbers < 0, and strings are "+
					"allowed.", code.TypeName(v))
		case direction == 0 || math.IsNaN(direction):
			return code.New(code.CannotCreateIndex, "Values in the index key pattern cannot be 0.")
		case name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, ".."):
			return code.New(code.CannotCreateIndex,
				"Index keys cannot be an empty field, or have an empty field in a path: '%s'", name)
		}
		column := catalog.NamedColumn{Path: name, Descending: direction < 0}
		if name == "$**" || strings.HasSuffix(name, ".$**") {
			x.Wildcard = true
			column.Path = strings.TrimSuffix(strings.TrimSuffix(name, "$**"), ".")
			if column.Descending {
				return code.New(code.CannotCreateIndex,
					"A numeric value in a wildcard index key pattern must be positive.")
			}
		} else if strings.HasPrefix(name, "$") {
			return code.New(code.CannotCreateIndex,
				"Index key contains an illegal field name: field name starts with '$'.")
		}
		x.Columns = append(x.Columns, column)
	}
	switch n := len(x.Columns); {
	case n == 0:
		return code.New(code.CannotCreateIndex, "Index keys cannot be empty.")
	case n > 32:
		return code.New(13103, "too many compound keys")
	case x.Wildcard && n > 1:
		return code.New(code.CommandNotSupported, "compound wildcard indexes are not supported by mayfly")
	}
	for i, c := range x.Columns {
		if slices.ContainsFunc(x.Columns[:i], func(d catalog.NamedColumn) bool { return d.Path == c.Path }) {
			return code.New(code.BadValue, "The field '%s' appears multiple times in the index key pattern", c.Path)
		}
	}
	return nil
}

// option takes in one member of a specification.
func (x *Index) option(name string, v doc.Value) error {
	switch name {
	case "name":
		s, ok := doc.AsString(v)
		switch {
		case !ok:
			return code.New(code.TypeMismatch, "The field 'name' must be a string, but got %s", code.TypeName(v))
		case s == "*" || strings.ContainsRune(s, 0):
			return code.New(code.CannotCreateIndex, "The index name '%s' is not valid", s)
		}
		x.Name = strings.Clone(s)
	case "unique", "sparse", "hidden", "prepareUnique":
		on, ok := call.Truth(v)
		if !ok {
			return code.New(code.TypeMismatch, // with one quote, as MongoDB has it
				"The field '%s has value %s: %s, which is not convertible to bool", name, name, code.Show(v))
		}
		switch name {
		case "unique":
			x.Unique = on
		case "sparse":
			x.Sparse = on
		case "hidden":
			x.Hidden = on
		default:
			if on {
				return code.Unsupported("the index option prepareUnique")
			}
		}
	case "partialFilterExpression":
		d, ok := doc.AsDoc(v)
		if !ok {
			return code.New(code.TypeMismatch,
				"The field 'partialFilterExpression' must be an object, but got %s", code.TypeName(v))
		}
		x.Partial = slices.Clone(d)
		return checkPartial(x.Partial)
	case "wildcardProjection":
		d, ok := doc.AsDoc(v)
		if !ok || doc.IsEmpty(d) {
			return code.New(code.TypeMismatch,
				"The field 'wildcardProjection' must be a non-empty object, but got %s", code.Show(v))
		}
		x.Projection = slices.Clone(d)
	case "collation":
		d, _ := doc.AsDoc(v)
		return call.CheckCollation(d)
	case "clustered":
		return code.Unsupported("a clustered index")
	case "v":
		if n, ok := doc.AsInt64Exact(v); !ok || n != 1 && n != 2 {
			return code.New(code.CannotCreateIndex,
				"Invalid index specification %s; cannot create an index with v=%s",
				code.Show(doc.Object(x.asked)), code.Show(v))
		}
	case "expireAfterSeconds":
		x.Expires = true
	}
	return nil
}

// checkPartial refuses what the filter of a partial index must not have.
// https://www.mongodb.com/docs/v7.0/core/index-partial/
func checkPartial(query doc.Doc) error {
	f, err := filter.Compile(query, filter.Options{})
	if err != nil {
		return err
	}
	return checkPartialNode(f.Tree())
}

func checkPartialNode(n *filter.Node) error {
	switch n.Kind {
	case filter.And, filter.Or:
		for _, c := range n.Children {
			if err := checkPartialNode(c); err != nil {
				return err
			}
		}
		return nil
	case filter.Always, filter.Equal, filter.Less, filter.LessEqual, filter.Greater, filter.GreaterEqual,
		filter.Exists, filter.In, filter.Type:
		return nil
	}
	return code.New(code.CannotCreateIndex, "Expression not supported in partial index")
}

// settle makes the index as it is kept and shown.
func (x *Index) settle() {
	a := doc.NewWriter(nil)
	a.Int32("v", 2)
	a.Doc("key", x.key)
	a.String("name", x.Name)
	if x.Unique {
		a.Bool("unique", true)
	}
	if x.Sparse {
		a.Bool("sparse", true)
	}
	if x.Expires {
		a.Int32("expireAfterSeconds", int(x.seconds()))
	}
	if x.Partial != nil {
		a.Doc("partialFilterExpression", x.Partial)
	}
	if x.Projection != nil {
		a.Doc("wildcardProjection", x.Projection)
	}
	if x.Hidden {
		a.Bool("hidden", true)
	}
	x.Spec = a.End()
}

func (x *Index) seconds() int64 {
	if x.stamp {
		return x.ttl
	}
	return int64(x.Seconds)
}

// Specs lists the indexes of a container as clients see them.
func Specs(c *catalog.Container) []doc.Doc {
	st := c.State()
	id := doc.NewWriter(nil)
	id.Int32("v", 2)
	id.Object("key")
	id.Int32("_id", 1)
	id.Close()
	id.String("name", "_id_")
	list := []doc.Doc{id.End()}
	if query.ViewOf(c) != nil {
		return nil
	}
	for _, x := range st.Named {
		list = append(list, x.Spec)
	}
	if st.Policy.On() {
		list = append(list, stampSpec(st))
	}
	return list
}

// defaultName is the name that clients give an index.
func defaultName(key doc.Doc) string {
	var parts []string
	for name, v := range doc.Members(key) {
		direction := "1"
		if f, ok := doc.AsFloat(v); ok {
			direction = strconv.FormatFloat(f, 'f', -1, 64)
		}
		parts = append(parts, name+"_"+direction)
	}
	return strings.Join(parts, "_")
}
