package store

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
)

// multikey checks that an index in which a document goes through an array says so: plans rely on it.
func (ck *check) multikey(ctx context.Context, n *named, number uint64) {
	found, err := ck.at.Get(ctx, ck.rng.Multikey(nil, n.ID), func([]byte) error { return nil })
	if err != nil || !found {
		ck.problem("document %d has several entries in index %s, which is not marked so", number, n.Name)
	}
}

// belongs checks that an entry or a unique key of a named index is one that its document has: an index
// that says too much gives wrong documents and refuses good ones.
func (ck *check) belongs(ctx context.Context, kind keys.Kind, key []byte, number uint64) {
	if ck.v.Identity().Partitioned() || kind != keys.KindNamed && kind != keys.KindUnique {
		return
	}
	rng := ck.rng
	rest, ok := bytes.CutPrefix(key, rng.AppendPrefix(nil, kind))
	if !ok || len(rest) < 4 {
		ck.problem("an entry of kind %c has a key of another shape", kind)
		return
	}
	n := ck.indexer.find(binary.BigEndian.Uint32(rest))
	if n == nil || n.Building {
		return // it was dropped, and its entries go
	}
	has := true
	_, err := getRecord(ctx, ck.at, rng.Record(nil, number), func(h keys.Header, body doc.Doc) error {
		has = ck.isExpired(h, body) || ck.hasKey(n, kind, key, number, body)
		return nil
	})
	if err != nil || !has {
		ck.problem("index %s has a key of kind %c for document %d, which is not its own", n.Name, kind, number)
	}
}

// hasKey reports whether a document has a key in an index.
func (ck *check) hasKey(n *named, kind keys.Kind, key []byte, number uint64, body doc.Doc) (has bool) {
	if kind == keys.KindUnique {
		if !n.Unique {
			return false
		}
		_, _ = n.eachKey(body, func(values []doc.Value) { // what it cannot make, it does not have
			has = has || bytes.Equal(key, appendNamedUnique(nil, ck.v, n, values))
		})
		return has
	}
	if _, err := ck.terms.collectNamed(n, ck.rng, body); err != nil {
		return false
	}
	for i := range ck.terms.list {
		if bytes.Equal(key, ck.terms.entry(i, number)) {
			return true
		}
	}
	return false
}
