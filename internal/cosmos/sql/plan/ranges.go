package plan

import (
	"math"
	"slices"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

// stampName is the property with the time of the last write.
const stampName = "_ts"

// systemNames are properties that the service adds and that are in no index. (The change feed serves as the index of
// the stamp.)
var systemNames = map[string]bool{"_rid": true, "_self": true, "_etag": true, "_attachments": true, stampName: true}

// system reports that a path leads to, or into, a system property.
func system(p access.Path) bool { return len(p) > 0 && !p[0].Element && systemNames[p[0].Name] }

func isStamp(p access.Path) bool { return len(p) == 1 && !p[0].Element && p[0].Name == stampName }

func isID(p access.Path) bool { return len(p) == 1 && !p[0].Element && p[0].Name == "id" }

// span is the condition that the value at p is within bounds.
func span(p place, low, high *access.Bound, exact bool) condition {
	switch {
	case !p.known || len(p.path) == 0:
		return unknown
	case isStamp(p.path):
		return stamps(p.path, low, high, exact)
	case system(p.path):
		return unknown
	}
	c := condition{kind: within, leaf: access.Range{Path: p.path, Low: low, High: high}, exact: exact &&
		!repeated(p.path)}
	if isID(p.path) {
		return ids(c)
	}
	return c
}

// ids simplifies a condition on ids, which are always strings.
func ids(c condition) condition {
	strings := condition{kind: within, leaf: typeOf(doc.String(""))}
	strings.leaf.Path = c.leaf.Path
	switch met := intersect(c, strings); {
	case met.kind == nothing:
		return never()
	case met.leaf.Low.Type && met.leaf.High.Type:
		return always()
	}
	return c
}

// stamps simplifies a condition on stamps, which are always whole numbers.
func stamps(path access.Path, low, high *access.Bound, exact bool) condition {
	c := condition{kind: within, leaf: access.Range{Path: path}, exact: exact}
	ok := true
	if low != nil {
		c.leaf.Low, ok = stampBound(low, math.Ceil, 1)
	}
	if high != nil && ok {
		c.leaf.High, ok = stampBound(high, math.Floor, -1)
	}
	switch {
	case !ok || compareEdges(lowEdge(c.leaf.Low), highEdge(c.leaf.High)) >= 0:
		return never()
	case c.leaf.Low == nil && c.leaf.High == nil:
		return condition{kind: everything, exact: exact}
	}
	return c
}

// stampBound converts to a closed bound on whole numbers. inward is +1 for a lower bound. ok is false if no number is
// within it; the bound is nil if all are.
func stampBound(b *access.Bound, round func(float64) float64, inward int) (bound *access.Bound, ok bool) {
	if beyond := (int(doc.RankOf(b.Value)) - int(doc.RankNumber)) * inward; beyond != 0 {
		return nil, beyond < 0
	}
	if b.Type {
		return nil, true
	}
	f, _ := doc.AsFloat(b.Value)
	whole := round(f)
	if b.Open && whole == f {
		whole += float64(inward)
	}
	switch limit := float64(1 << 53); {
	case whole*float64(inward) > limit:
		return nil, false
	case whole*float64(inward) < -limit:
		return nil, true
	}
	return &access.Bound{Value: doc.Int(int64(whole))}, true
}

// typeOf is the range of all values of v's type: number, string, array or object.
func typeOf(v doc.Value) access.Range {
	return access.Range{Low: &access.Bound{Value: v, Type: true}, High: &access.Bound{Value: v, Type: true}}
}

var (
	aString = doc.String("")
	anArray = doc.Array(doc.Empty)
	object  = doc.Object(doc.Empty)
)

// counts reports that the index order distinguishes v from all other values.
func counts(v doc.Value) bool {
	if v.Type == bsoncore.TypeArray || v.Type == bsoncore.TypeEmbeddedDocument {
		return false
	}
	s, ok := doc.AsString(v)
	return !ok || len(s) <= access.MaxSortBytes
}

// equals is the condition that the value at p is v. Documents only have finite numbers.
func equals(p place, v doc.Value) condition {
	switch doc.RankOf(v) {
	case doc.RankUndefined:
		return never()
	case doc.RankNumber:
		if p.known && !function.Finite(v) {
			return never()
		}
	case doc.RankObject, doc.RankArray:
		return contains(p, v).roughly()
	}
	return span(p, &access.Bound{Value: v}, &access.Bound{Value: v}, counts(v))
}

// contains is the condition that the value at p is v or, if v is an object or an array, has at least v's members or
// elements, because the index has scalars only. It uses a limited number of them.
func contains(p place, v doc.Value) condition {
	left := maxTogether
	return containing(p, v, &left)
}

// maxElements is how many different elements of an array are looked for. Each more would hardly leave fewer documents.
const maxElements = 16

func containing(p place, v doc.Value, left *int) condition {
	parts := []condition{}
	if d, ok := doc.AsDoc(v); ok {
		for name, member := range doc.Members(d) {
			if *left--; *left < 0 {
				break
			}
			parts = append(parts, containing(p.member(string([]byte(name))), member, left))
		}
	} else if !doc.IsArray(v) {
		return equals(p, v)
	}
	element, seen := p.step(access.Step{Element: true}), []doc.Value{}
	for item := range doc.Elements(v) {
		if slices.ContainsFunc(seen, func(other doc.Value) bool { return doc.Equal(item, other) }) {
			continue
		}
		if *left--; *left < 0 || len(seen) == maxElements {
			break
		}
		seen, parts = append(seen, item), append(parts, containing(element, item, left))
	}
	// The value itself matters if nothing in it does, or if the place has no values of its type.
	r := typeOf(v)
	if whole := span(p, r.Low, r.High, false); len(parts) == 0 || whole.kind == nothing {
		return whole
	}
	return both(parts...).roughly()
}

// compares is the condition that `value op v` is true for the value at p. Values of different types do not compare;
// booleans and nulls are each treated as one range; arrays and objects do not compare at all.
func compares(p place, op syntax.Op, v doc.Value) condition {
	switch doc.RankOf(v) {
	case doc.RankUndefined:
		return never()
	case doc.RankNull:
		return equals(p, v).roughly()
	case doc.RankFalse, doc.RankTrue:
		return span(p, &access.Bound{Value: doc.Bool(false)}, &access.Bound{Value: doc.Bool(true)}, false)
	case doc.RankNumber, doc.RankString:
	default:
		return unknown
	}
	end, kind := &access.Bound{Value: v, Open: (op == syntax.Lt || op == syntax.Gt) && counts(v)},
		&access.Bound{Value: v, Type: true}
	if op == syntax.Lt || op == syntax.Le {
		return span(p, kind, end, counts(v))
	}
	return span(p, end, kind, counts(v))
}

// begins is the condition that the value at p is a string with a prefix.
func begins(p place, prefix string) condition {
	low := &access.Bound{Value: doc.String(prefix)}
	if prefix == "" {
		r := typeOf(aString)
		return span(p, r.Low, r.High, true)
	}
	if len(prefix) > access.MaxSortBytes {
		return span(p, low, low, false)
	}
	end, ok := after(prefix)
	if !ok {
		return span(p, low, &access.Bound{Value: low.Value, Type: true}, true)
	}
	return span(p, low, &access.Bound{Value: doc.String(end), Open: len(end) <= access.MaxSortBytes},
		len(end) <= access.MaxSortBytes)
}

// after is the first string after all those with the prefix. ok is false if there is none, or if prefix is not UTF-8.
func after(prefix string) (text string, ok bool) {
	for prefix != "" {
		r, size := utf8.DecodeLastRuneInString(prefix)
		if r == utf8.RuneError && size == 1 {
			return "", false
		}
		prefix = prefix[:len(prefix)-size]
		switch r {
		case utf8.MaxRune:
		case 0xD7FF: // skip the surrogates, which do not occur in strings
			return prefix + "\uE000", true
		default:
			return prefix + string(r+1), true
		}
	}
	return "", false
}
