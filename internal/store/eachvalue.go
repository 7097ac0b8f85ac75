package store

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// EachValue calls use with the first living document of each value that a scan of a named index meets, and with how
// many living documents have it, 1 if of does not count. The document is valid during the call. ok is false if it is
// better to read all documents: if values have few documents each, which is known after some calls, or if of asks for
// counts while dead documents are on disk, or if the scan has checks. It fails with fault.Conflict if the index is
// gone, or has a document with several entries although the scan is Single, and with the error of use.
func (s *Store) EachValue(
	ctx context.Context, v catalog.View, of *access.ByValue, use func(body doc.Doc, n uint64) error,
) (ok bool, err error) {
	scans := access.IndexScans{of.Scan}
	t, err := s.newTally(ctx, v, access.Access{Of: &scans, Stats: of.Stats})
	if err != nil {
		return false, err
	}
	defer t.close()
	err = t.eachSettled(func(catalog.Range) error {
		if of.Count && !t.alive {
			return errInexact
		}
		w, err := t.newNamedScan(&of.Scan)
		if err != nil {
			return err
		}
		if w.n == nil || w.n.Wildcard || len(w.checks) > 0 {
			return errInexact
		}
		return (&byValue{namedScan: w, of: of, use: use}).visit()
	})
	if err == errInexact {
		return false, nil
	}
	return err == nil, err
}

// A byValue is one EachValue.
type byValue struct {
	*namedScan
	of      *access.ByValue
	use     func(doc.Doc, uint64) error
	values  int
	entries int    // that were passed on the way
	last    []byte // what all entries of the value begin with
}

// A value is read by two seeks. Where values have fewer documents than worthwhile in the mean, after the first values,
// to read all documents is faster.
const (
	firstValues = 64
	worthwhile  = 4
)

func (x *byValue) visit() error {
	for i := range x.intervals {
		if x.intervals[i].empty() {
			continue
		}
		it, err := x.over(x.intervals[i])
		if err != nil {
			return err
		}
		err = x.visitAlong(it)
		if it.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (x *byValue) visitAlong(it kv.Iterator) error {
	for more := it.Next(); more; {
		if err := x.tick(); err != nil {
			return err
		}
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "index entry")
		}
		x.stats.Keys++
		_, body, alive, err := x.record(number)
		if err != nil {
			return err
		}
		if !alive {
			more = it.Next()
			continue
		}
		one, err := x.leading(it.Key(), body)
		if err != nil {
			return err
		}
		n := uint64(1)
		switch {
		case one:
			x.entries++
			more = it.Next()
		case x.of.Count:
			n, more, err = x.count(it)
		default:
			more = x.behind(it)
		}
		if err != nil {
			return err
		}
		if err := x.use(body, n); err != nil {
			return err
		}
		if x.values++; x.values >= firstValues && x.entries < x.values*worthwhile {
			return errInexact
		}
	}
	return it.Err()
}

// leading makes last what the entries of the same value as key begin with. one reports that the value has to be taken
// one entry at a time: entries have only a part of it, or it is null and the field may be missing.
func (x *byValue) leading(key []byte, body doc.Doc) (one bool, err error) {
	found := false
	_, err = x.n.eachKey(body, func(values []doc.Value) {
		if found {
			return
		}
		x.last, one = append(x.last[:0], x.prefix...), false
		for i, v := range values[:x.of.Columns] {
			var clipped bool
			x.last, clipped = keys.AppendBSONClipped(x.last, v, x.n.descending(i))
			one = one || clipped || x.of.Nulls && i == x.of.Columns-1 && isNull(v)
		}
		found = bytes.HasPrefix(key, x.last)
	})
	if err == nil && !found {
		err = corrupt(fault.New(fault.Internal, "an entry that its document does not have"), "index entry")
	}
	return one, err
}

func isNull(v doc.Value) bool {
	return v.Type == bsoncore.TypeNull || v.Type == bsoncore.TypeUndefined
}

// count counts the entries of the value up to the next one.
func (x *byValue) count(it kv.Iterator) (n uint64, more bool, err error) {
	for n, more = 1, it.Next(); more && bytes.HasPrefix(it.Key(), x.last); n, more = n+1, it.Next() {
		x.stats.Keys++
		if err := x.tick(); err != nil {
			return n, false, err
		}
	}
	x.entries += int(n)
	return n, more, nil
}

// behind moves an iterator behind the entries of the value.
func (x *byValue) behind(it kv.Iterator) (more bool) {
	for range nearby {
		x.entries++
		if !it.Next() {
			return false
		}
		if !bytes.HasPrefix(it.Key(), x.last) {
			return true
		}
	}
	x.entries += nearby * worthwhile
	end := keys.End(x.last)
	return end != nil && it.Seek(end)
}
