package update

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

const renameName = "$rename"

// A rename is {$rename: {from: "to"}}: the value is set at to and removed at from. Neither path may lead through an
// array. If from has no value, nothing happens.
type rename struct {
	from, to []string
	number   int // index among the renames of the update
}

// rename adds a leaf at each of the two paths: one removes and one sets.
func (c *compiler) rename(field string, arg doc.Value) error {
	r := &rename{number: len(c.u.renames)}
	var err error
	if r.from, err = splitPath(field); err != nil {
		return err
	}
	if err := c.place(r.from, &leaf{lenient: true, change: unset, moves: r}); err != nil {
		return err
	}
	target, ok := doc.AsString(arg)
	if !ok {
		return code.New(code.BadValue, "The 'to' field for $rename must be a string: %s", elementText(field, arg))
	}
	if r.to, err = splitPath(target); err != nil {
		return err
	}
	if err := r.check(field, arg); err != nil {
		return err
	}
	c.u.renames = append(c.u.renames, r)
	return c.place(r.to, &leaf{creates: true, change: r.set, moves: r})
}

func (r *rename) check(field string, arg doc.Value) error {
	common := min(len(r.from), len(r.to))
	switch {
	case strings.ContainsRune(strings.Join(r.to, "."), 0):
		return code.New(code.BadValue, "The 'to' field for $rename cannot contain an embedded null byte")
	case slices.Equal(r.from, r.to):
		return code.New(code.BadValue, "The source and target field for $rename must differ: %s",
			elementText(field, arg))
	case slices.Equal(r.from[:common], r.to[:common]):
		return code.New(code.BadValue, "The source and target field for $rename must not be on the same path: %s",
			elementText(field, arg))
	case dynamic(r.from):
		return code.New(code.BadValue, "The source field for $rename may not be dynamic: %s", field)
	case dynamic(r.to):
		return code.New(code.BadValue, "The destination field for $rename may not be dynamic: %s",
			strings.Join(r.to, "."))
	}
	return nil
}

// dynamic reports whether a path depends on the query or on array filters.
func dynamic(path []string) bool {
	return slices.ContainsFunc(path, func(part string) bool { return part == positionalName || isIdentifier(part) })
}

func (r *rename) set(x *run, dst []byte, old doc.Value) ([]byte, bsoncore.Type, outcome, error) {
	v := x.values[r.number]
	if !doc.IsUndefined(old) && x.in.Meter.Equal(v, old) {
		return dst, 0, kept, nil
	}
	return append(dst, v.Data...), v.Type, written, nil
}

// prepare finds the values that the renames move.
func (x *run) prepare(renames []*rename, d doc.Doc) error {
	for _, r := range renames {
		v, err := x.source(r, d)
		if err == nil && !doc.IsUndefined(v) {
			err = x.checkTarget(r, d)
		}
		if err = cmp.Or(x.in.Meter.Err(), err); err != nil {
			return err
		}
		x.values = append(x.values, v)
	}
	return nil
}

// source is the value that r moves, undefined if there is none.
func (x *run) source(r *rename, d doc.Doc) (doc.Value, error) {
	v, array := doc.Object(d), ""
	for i, part := range r.from {
		next, ok := x.step(v, part)
		if !ok {
			before := r.from[i-1] // the document itself can always be stepped into
			return v, code.New(code.PathNotViable, "cannot use the part (%s of %s) to traverse the element ({%s})",
				before, strings.Join(r.from, "."), elementText(before, v))
		}
		if doc.IsArray(v) {
			array = r.from[i-1]
		}
		if v = next; doc.IsUndefined(v) {
			return v, nil
		}
	}
	if array != "" {
		return v, code.New(code.BadValue,
			"The source field cannot be an array element, '%s' in doc with %s has an array field called '%s'",
			strings.Join(r.from, "."), x.idText(), array)
	}
	return v, nil
}

func (x *run) checkTarget(r *rename, d doc.Doc) error {
	v := doc.Object(d)
	for i, part := range r.to {
		if doc.IsArray(v) {
			return code.New(code.BadValue,
				"The destination field cannot be an array element, '%s' in doc with %s has an array field called '%s'",
				strings.Join(r.to, "."), x.idText(), r.to[i-1])
		}
		v, _ = x.step(v, part)
		if doc.IsUndefined(v) {
			break
		}
	}
	return nil
}

// step goes from an object or array to the member or element called part, undefined if there is none. It is not ok for
// other values, or for an array if part is not an index.
func (x *run) step(v doc.Value, part string) (doc.Value, bool) {
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		found, _ := x.in.Meter.Lookup(v.Data, part)
		return found, true
	case bsoncore.TypeArray:
		at, ok := index(part)
		if !ok {
			break
		}
		for e := range doc.Elements(v) {
			if at == 0 || x.spend(0) != nil {
				return e, true
			}
			at--
		}
		return doc.Value{}, true
	}
	return doc.Value{}, false
}
