package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
)

// A claim is a unique key that a write set takes or gives up.
type claim struct {
	key   []byte
	owner *slot // nil: free when the transaction is through
}

// uniqueKeys calls take with a document's key under every unique constraint.
func (ws *writeSet) uniqueKeys(sl *slot, body doc.Doc, take func(key []byte)) {
	for ordinal := range ws.v.UniquePaths() {
		take(ws.key(func(dst []byte) []byte { return appendUnique(dst, ws.v, sl.rng, ordinal, sl.partition, body) }))
	}
	for _, n := range ws.x.named {
		if n.Unique {
			// A body that cannot be indexed has been refused, or was there before the index.
			_, _ = n.eachKey(body, func(values []doc.Value) {
				take(ws.key(func(dst []byte) []byte { return appendNamedUnique(dst, ws.v, n, values) }))
			})
		}
	}
}

// appendNamedUnique appends the unique key of one entry in a named index.
func appendNamedUnique(dst []byte, v catalog.View, n *named, values []doc.Value) []byte {
	var room [256]byte
	form := room[:0]
	for _, value := range values {
		form = keys.AppendBSON(form, value, false)
	}
	return v.Container.Only().NamedUnique(dst, n.ID, form)
}

// checkNamed refuses a body that a named index cannot have. before is the version that it replaces, or nil.
func (ws *writeSet) checkNamed(before, body doc.Doc) error {
	for _, n := range ws.x.named {
		if len(n.paths) == 1 && !n.Wildcard && len(n.paths[0]) == 1 {
			continue // every value of one plain path can be indexed
		}
		if before != nil && n.sameEntries(before, body) {
			continue
		}
		if _, err := n.eachKey(body, func([]doc.Value) {}); err != nil {
			return err
		}
	}
	return nil
}

// A TakenKey says that another living document of the partition has the same values under a unique key. It is a
// fault.Exists.
type TakenKey struct {
	Paths []string // of the unique key, as the container's definition has them
}

func (k *TakenKey) Error() string {
	return fmt.Sprintf("unique key %s is taken", strings.Join(k.Paths, ", "))
}

// Unwrap makes it a fault.Exists.
func (k *TakenKey) Unwrap() error { return ErrExists }

// duplicate names the unique key or the named index in which a body's unique key is taken.
func (ws *writeSet) duplicate(sl *slot, key []byte, body doc.Doc) error {
	for ordinal := range ws.v.UniquePaths() {
		if bytes.Equal(key, appendUnique(nil, ws.v, sl.rng, ordinal, sl.partition, body)) {
			return &TakenKey{Paths: slices.Clone(ws.v.Unique[ordinal])}
		}
	}
	for _, n := range ws.x.named {
		if !n.Unique {
			continue
		}
		var found *Duplicate
		_, _ = n.eachKey(body, func(values []doc.Value) {
			if found == nil && bytes.Equal(key, appendNamedUnique(nil, ws.v, n, values)) {
				found = &Duplicate{Index: n.NamedIndex}
				for _, v := range values {
					found.Values = append(found.Values, doc.Clone(v))
				}
			}
		})
		if found != nil {
			return found
		}
	}
	return ErrExists
}

// appendUnique appends the key of a document of a range under one constraint. An absent value
// counts as null, as in Cosmos DB: one document of a partition may lack it.
// https://learn.microsoft.com/azure/cosmos-db/unique-keys
func appendUnique(
	dst []byte, v catalog.View, rng keys.Range, ordinal int, partition []byte, body doc.Doc,
) []byte {
	paths := v.UniquePaths()[ordinal]
	values := make([]doc.Value, len(paths))
	for i, path := range paths {
		if values[i] = path.Lookup(body); doc.IsUndefined(values[i]) {
			values[i] = doc.Null()
		}
	}
	return rng.Unique(dst, uint16(ordinal), partition, values)
}

// release gives up the unique keys of the document as it is.
func (ws *writeSet) release(sl *slot) {
	body := sl.body
	if sl.written {
		body = sl.record[keys.HeaderBytes:]
	}
	ws.uniqueKeys(sl, body, func(key []byte) {
		if i := ws.claimOf(key); i >= 0 { // claimed before in this write set, perhaps by another document
			ws.setOwner(i, nil)
			return
		}
		ws.addClaim(claim{key: key})
	})
}

// claimAll takes the unique keys of a body; fault.Exists when another living
// document has one.
func (ws *writeSet) claimAll(ctx context.Context, sl *slot, body doc.Doc) error {
	var err error
	ws.uniqueKeys(sl, body, func(key []byte) {
		if err == nil {
			if err = ws.claim(ctx, sl, key); err == ErrExists {
				err = ws.duplicate(sl, key, body)
			}
		}
	})
	return err
}

func (ws *writeSet) claim(ctx context.Context, sl *slot, key []byte) error {
	if i := ws.claimOf(key); i >= 0 {
		if owner := ws.claims[i].owner; owner != nil && owner != sl {
			return ErrExists
		}
		ws.setOwner(i, sl)
		return nil
	}
	taken, err := ws.takenByOther(ctx, sl.rng, key)
	if err != nil {
		return err
	}
	if taken {
		return ErrExists
	}
	ws.addClaim(claim{key: key, owner: sl})
	return nil
}

// takenByOther reports whether a living document outside the transaction has a
// unique key. Those inside have given theirs up before.
func (ws *writeSet) takenByOther(ctx context.Context, rng keys.Range, key []byte) (bool, error) {
	// The precondition is on the key, which changes when another document takes it or gives it up. The record of the
	// owner needs none: if it is dead now, it stays so.
	ws.b.Read(key)
	number, found, err := getNumber(ctx, ws.view.Reader, key)
	if err != nil || !found {
		return false, err
	}
	record := ws.key(func(dst []byte) []byte { return rng.Record(dst, number) })
	alive := false
	_, err = getRecord(ctx, ws.view.Reader, record, func(h keys.Header, body doc.Doc) error {
		alive = !dead(ws.v, h, body)
		return nil
	})
	return alive, err
}

// placeClaims writes the claims in a range once its numbers are known. A partition, within which values are unique, is
// in one range.
func (ws *writeSet) placeClaims(rng keys.Range) {
	for _, c := range ws.claims {
		if in, _, _, err := keys.Split(c.key); err != nil || in != rng {
			continue
		}
		if c.owner == nil {
			ws.b.Delete(c.key)
			continue
		}
		ws.b.Set(c.key, ws.key(func(dst []byte) []byte { return keys.AppendNumber(dst, c.owner.number) }))
	}
}
