package update

import (
	"cmp"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// maxPadding is the most nulls that one update may add before a new element.
const maxPadding = 1500000

// cannotBackfillArray is CannotBackfillArray of MongoDB's error_codes.yml.
const cannotBackfillArray code.Code = 34

// A target is a child of a node, with its name as an index.
type target struct {
	*node
	index int
}

// array appends the result of n on an array whose elements its children name by index.
func (x *run) array(dst []byte, v doc.Value, n *node) (out []byte, changed bool, err error) {
	n, err = x.resolve(n)
	if err != nil {
		return dst, false, err
	}
	var room [4]target
	targets, err := x.targets(room[:0], v, n)
	if err != nil {
		return dst, false, err
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	from, at, length := 4, 4, 0
	for name, e := range doc.Members(v.Data) {
		begin := at
		at += 2 + len(name) + len(e.Data)
		if len(targets) > 0 && targets[0].index == length {
			dst = append(dst, v.Data[from:begin]...)
			var c bool
			if dst, c, err = x.member(dst, name, e, targets[0].node, true); err != nil {
				return dst, false, err
			}
			changed = changed || c
			targets, from = targets[1:], at
		}
		length++
	}
	dst = append(dst, v.Data[from:max(from, len(v.Data)-1)]...)
	for _, t := range targets {
		if !x.creates(t.node) {
			continue
		}
		if dst, err = x.pad(dst, length, t.index); err != nil {
			return dst, false, err
		}
		if dst, _, err = x.missing(dst, strconv.Itoa(t.index), t.node); err != nil {
			return dst, false, err
		}
		changed, length = true, t.index+1
	}
	return end(dst, start), changed, nil
}

// targets returns the children whose names are indexes, in order, each index once.
func (x *run) targets(list []target, v doc.Value, n *node) ([]target, error) {
	if err := x.in.Meter.Spend(childCost * len(n.children)); err != nil {
		return nil, err
	}
	for _, c := range n.children {
		i, ok := index(c.name)
		if !ok {
			if err := x.blocked(v, c.name, c.node, nil); err != nil {
				return nil, err
			}
			continue
		}
		list = append(list, target{c.node, i})
	}
	slices.SortStableFunc(list, func(a, b target) int { return cmp.Compare(a.index, b.index) })
	for i := 1; i < len(list); i++ {
		if list[i-1].index != list[i].index {
			continue
		}
		both, err := merge(list[i-1].node, list[i].node, extend(x.path, strconv.Itoa(list[i].index)), x.in.Meter)
		if err != nil {
			return nil, err
		}
		list[i].node = both
		list = slices.Delete(list, i-1, i)
		i--
	}
	return list, nil
}

// index parses a name of digits only. A number too large for any array becomes the largest int32.
func index(name string) (int, bool) {
	for i := range len(name) {
		if name[i] < '0' || name[i] > '9' {
			return 0, false
		}
	}
	i, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		i = 1<<31 - 1
	}
	return int(i), name != ""
}

// creates reports whether n makes a missing value, or has to fail for it.
func (x *run) creates(n *node) bool {
	if n.leaf != nil {
		return n.leaf.creates && x.active(n.leaf)
	}
	for _, c := range n.children {
		if x.spend(0) != nil {
			return false // it does not matter, for the run ends
		}
		if x.creates(c.node) {
			return true
		}
	}
	return n.each || n.positional != nil && x.creates(n.positional)
}

// pad appends nulls as the elements from length up to, not including, index.
func (x *run) pad(dst []byte, length, index int) ([]byte, error) {
	if index-length > maxPadding {
		return dst, code.New(cannotBackfillArray, "can't backfill more than %d elements", maxPadding)
	}
	for ; length < index; length++ {
		if err := x.spend(0); err != nil {
			return dst, err
		}
		dst = append(dst, byte(bsoncore.TypeNull))
		dst = append(strconv.AppendInt(dst, int64(length), 10), 0)
	}
	return dst, x.checkSize(dst)
}

// elements appends the elements of an array after applying to each the children of n that concern it.
func (x *run) elements(dst []byte, d doc.Doc, n *node) (out []byte, changed bool, err error) {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	from, at := 4, 4
	for name, e := range doc.Members(d) {
		begin := at
		at += 2 + len(name) + len(e.Data)
		if err := x.spend(len(e.Data)); err != nil {
			return dst, false, err
		}
		concerned, err := x.concerned(name, e, n)
		if err != nil {
			return dst, false, err
		}
		if concerned == nil {
			continue
		}
		dst = append(dst, d[from:begin]...)
		var c bool
		if dst, c, err = x.member(dst, name, e, concerned, true); err != nil {
			return dst, false, err
		}
		changed = changed || c
		from = at
	}
	dst = append(dst, d[from:max(from, len(d)-1)]...)
	return end(dst, start), changed, nil
}

// concerned joins the children of n that concern an element. It returns nil if there are none.
func (x *run) concerned(name string, e doc.Value, n *node) (*node, error) {
	var all *node
	for _, c := range n.children {
		if c.match != nil {
			ok, err := x.matches(c, e)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		if all == nil {
			all = c.node
			continue
		}
		pair := [2]*node{all, c.node}
		both := x.merged[pair]
		if both == nil {
			var err error
			if both, err = merge(all, c.node, extend(x.path, name), x.in.Meter); err != nil {
				return nil, err
			}
			if x.merged == nil {
				x.merged = map[[2]*node]*node{}
			}
			x.merged[pair] = both
		}
		all = both
	}
	return all, nil
}

// matches evaluates the array filter of c, whose paths begin with the identifier.
func (x *run) matches(c child, e doc.Value) (bool, error) {
	x.scratch = wrap(x.scratch[:0], c.name, e)
	return c.match.Match(x.scratch, x.matching())
}

// wrap appends a document with one member.
func wrap(dst []byte, name string, v doc.Value) []byte {
	start := len(dst)
	return end(doc.AppendElement(append(dst, 0, 0, 0, 0), name, v), start)
}
