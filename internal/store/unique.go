package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
)

// A claim is a unique key that a transaction takes or gives up.
type claim struct {
	key   []byte
	owner *slot // nil: free when the transaction is through
}

// uniqueKeys calls take with a document's key under every unique constraint.
func (t *txn) uniqueKeys(sl *slot, body doc.Doc, take func(key []byte)) {
	for ordinal := range t.v.UniquePaths() {
		take(t.key(func(dst []byte) []byte { return appendUnique(dst, t.v, ordinal, sl.partition, body) }))
	}
	for _, n := range t.x.named {
		if n.Unique {
			// What cannot be indexed has been refused, or was there before the index.
			_, _ = n.eachKey(body, func(values []doc.Value) {
				take(t.key(func(dst []byte) []byte { return appendNamedUnique(dst, t.v, n, values) }))
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
	return v.Container.Keys().NamedUnique(dst, n.ID, form)
}

// checkNamed refuses a body that a named index cannot have.
func (t *txn) checkNamed(body doc.Doc) error {
	for _, n := range t.x.named {
		if len(n.paths) == 1 && !n.Wildcard && len(n.paths[0]) == 1 {
			continue // nothing is in its way
		}
		if _, err := n.eachKey(body, func([]doc.Value) {}); err != nil {
			return err
		}
	}
	return nil
}

// A TakenKey says that another living document of the partition has the same values under a unique key of the container.
type TakenKey struct {
	Paths []string // of the unique key, as the container's definition has them
}

func (k *TakenKey) Error() string {
	return fmt.Sprintf("unique key %s is taken", strings.Join(k.Paths, ", "))
}

// Unwrap makes it a fault.Exists.
func (k *TakenKey) Unwrap() error { return ErrExists }

// duplicate names the unique key or the named index in which a body's unique key is taken.
func (t *txn) duplicate(sl *slot, key []byte, body doc.Doc) error {
	for ordinal := range t.v.UniquePaths() {
		if bytes.Equal(key, appendUnique(nil, t.v, ordinal, sl.partition, body)) {
			return &TakenKey{Paths: slices.Clone(t.v.Unique[ordinal])}
		}
	}
	for _, n := range t.x.named {
		if !n.Unique {
			continue
		}
		var found *Duplicate
		_, _ = n.eachKey(body, func(values []doc.Value) {
			if found == nil && bytes.Equal(key, appendNamedUnique(nil, t.v, n, values)) {
				found = &Duplicate{Index: n.NamedIndex}
				for _, v := range values {
					found.Values = append(found.Values, doc.Value{Type: v.Type, Data: bytes.Clone(v.Data)})
				}
			}
		})
		if found != nil {
			return found
		}
	}
	return ErrExists
}

// appendUnique appends a document's key under one constraint. An absent value
// counts as null, as in Cosmos DB: one document of a partition may lack it.
// https://learn.microsoft.com/azure/cosmos-db/unique-keys
func appendUnique(dst []byte, v catalog.View, ordinal int, partition []byte, body doc.Doc) []byte {
	paths := v.UniquePaths()[ordinal]
	values := make([]doc.Value, len(paths))
	for i, path := range paths {
		if values[i] = path.Lookup(body); doc.IsUndefined(values[i]) {
			values[i] = doc.Null()
		}
	}
	return v.Container.Keys().Unique(dst, uint16(ordinal), partition, values)
}

// release gives up the unique keys of the document as it is.
func (t *txn) release(sl *slot) {
	body := sl.body
	if sl.written {
		body = sl.record[keys.HeaderBytes:]
	}
	t.uniqueKeys(sl, body, func(key []byte) {
		if i := t.claimOf(key); i >= 0 {
			t.give(i, nil)
			return
		}
		t.addClaim(claim{key: key})
	})
}

// claimAll takes the unique keys of a body; fault.Exists when another living
// document has one.
func (t *txn) claimAll(sl *slot, body doc.Doc) error {
	var err error
	t.uniqueKeys(sl, body, func(key []byte) {
		if err == nil {
			if err = t.claim(sl, key); err == ErrExists {
				err = t.duplicate(sl, key, body)
			}
		}
	})
	return err
}

func (t *txn) claim(sl *slot, key []byte) error {
	if i := t.claimOf(key); i >= 0 {
		if owner := t.claims[i].owner; owner != nil && owner != sl {
			return ErrExists
		}
		t.give(i, sl)
		return nil
	}
	taken, err := t.takenByOther(key)
	if err != nil {
		return err
	}
	if taken {
		return ErrExists
	}
	t.addClaim(claim{key: key, owner: sl})
	return nil
}

// takenByOther reports whether a living document outside the transaction has a
// unique key. Those inside have given theirs up before.
func (t *txn) takenByOther(key []byte) (bool, error) {
	t.b.Read(key)
	number, found, err := getNumber(t.s.engine, key)
	if err != nil || !found {
		return false, err
	}
	record := t.key(func(dst []byte) []byte { return t.v.Container.Keys().Record(dst, number) })
	alive := false
	_, err = getRecord(t.s.engine, record, func(h keys.Header, body doc.Doc) error {
		alive = !dead(t.v, h, body)
		return nil
	})
	return alive, err
}

// placeClaims writes the claims once numbers are known.
func (t *txn) placeClaims() {
	for _, c := range t.claims {
		if c.owner == nil {
			t.b.Delete(c.key)
			continue
		}
		t.b.Set(c.key, t.key(func(dst []byte) []byte { return keys.AppendNumber(dst, c.owner.number) }))
	}
}
