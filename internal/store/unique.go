package store

import (
	"bytes"

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
		for i := range t.claims {
			if bytes.Equal(t.claims[i].key, key) {
				t.claims[i].owner = nil
				return
			}
		}
		t.claims = append(t.claims, claim{key: key})
	})
}

// claimAll takes the unique keys of a body; fault.Exists when another living
// document has one.
func (t *txn) claimAll(sl *slot, body doc.Doc) error {
	var err error
	t.uniqueKeys(sl, body, func(key []byte) {
		if err == nil {
			err = t.claim(sl, key)
		}
	})
	return err
}

func (t *txn) claim(sl *slot, key []byte) error {
	for i := range t.claims {
		c := &t.claims[i]
		if bytes.Equal(c.key, key) {
			if c.owner != nil && c.owner != sl {
				return errExists
			}
			c.owner = sl
			return nil
		}
	}
	taken, err := t.takenByOther(key)
	if err != nil {
		return err
	}
	if taken {
		return errExists
	}
	t.claims = append(t.claims, claim{key: key, owner: sl})
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
