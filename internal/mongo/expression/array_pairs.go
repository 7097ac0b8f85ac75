package expression

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// objectToArray is an array of {k: name, v: value} for each member.
func objectToArray(s *Scope, v doc.Value) (doc.Value, error) {
	switch {
	case nullish(v):
		return null, nil
	case v.Type != bsoncore.TypeEmbeddedDocument:
		return doc.Value{}, code.New(40390, "$objectToArray requires a document input, found: %s", code.TypeName(v))
	}
	b := s.array()
	for name, member := range doc.Members(v.Data) {
		mark := s.mark()
		pair, err := s.pair(name, member)
		if err == nil {
			err = b.add(pair)
		}
		if err != nil {
			return doc.Value{}, err
		}
		s.release(mark)
	}
	return b.done()
}

func (s *Scope) pair(name string, member doc.Value) (doc.Value, error) {
	k, err := s.string(name)
	if err != nil {
		return k, err
	}
	b := s.object()
	if err := b.set("k", k); err != nil {
		return k, err
	}
	if err := b.set("v", member); err != nil {
		return k, err
	}
	return b.done()
}

// arrayToObject makes an object of pairs [name, value] or {k: name, v: value}, all in the same form. If a name repeats,
// the last value takes the place of the first.
func arrayToObject(s *Scope, array doc.Value) (doc.Value, error) {
	if nullish(array) {
		return null, nil
	}
	if !doc.IsArray(array) {
		return doc.Value{}, code.New(40386, "$arrayToObject requires an array input, found: %s", code.TypeName(array))
	}
	read := pairOfObject
	if first, _ := s.element(array, 0); first.Type == bsoncore.TypeArray {
		read = pairOfArray
	} else if first.Type != bsoncore.TypeEmbeddedDocument && first.Type != 0 {
		return doc.Value{}, code.New(40398, "Unrecognised input type format for $arrayToObject: %s",
			code.TypeName(first))
	}
	m := s.newMembers()
	for e := range doc.Elements(array) {
		k, v, err := read(s, e)
		if err != nil {
			return doc.Value{}, err
		}
		if strings.IndexByte(k, 0) >= 0 {
			return doc.Value{}, code.New(4940400, "Key field cannot contain an embedded null byte")
		}
		m.put(k, v)
		if err := s.spend(memberCost + work.Scanned(len(k))); err != nil {
			return doc.Value{}, err
		}
	}
	return m.object(s)
}

func pairOfArray(s *Scope, e doc.Value) (string, doc.Value, error) {
	if e.Type != bsoncore.TypeArray {
		return "", e, code.New(40396,
			"$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects. Array "+
				"was detected, now found: %s", code.TypeName(e))
	}
	n, err := s.length(e)
	if err != nil {
		return "", e, err
	}
	if n != 2 {
		return "", e, code.New(40397, "$arrayToObject requires an array of size 2 arrays,found array of size: %d", n)
	}
	k, _ := s.element(e, 0)
	name, ok := doc.AsString(k)
	if !ok {
		return "", e, code.New(40395,
			"$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key "+
				"type: %s", code.TypeName(k))
	}
	v, err := s.element(e, 1)
	return name, v, err
}

func pairOfObject(s *Scope, e doc.Value) (string, doc.Value, error) {
	if e.Type != bsoncore.TypeEmbeddedDocument {
		return "", e, code.New(40391,
			"$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects. "+
				"Object was detected, now found: %s", code.TypeName(e))
	}
	n := 0
	for range doc.Members(e.Data) {
		n++
		if err := s.spend(work.Element); err != nil {
			return "", e, err
		}
	}
	if n != 2 {
		return "", e, code.New(40392,
			"$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:%d", n)
	}
	k, v := doc.Lookup(e.Data, "k"), doc.Lookup(e.Data, "v")
	if k.Type == 0 || v.Type == 0 {
		return "", e, code.New(40393,
			"$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: %s",
			code.Show(e))
	}
	name, ok := doc.AsString(k)
	if !ok {
		return "", e, code.New(40394,
			"$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. "+
				"Found type: %s", code.TypeName(k))
	}
	return name, v, nil
}
