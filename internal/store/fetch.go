package store

import (
	"bytes"
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// On an engine on other machines, one key takes about as long as hundreds (kv.MultiReader). So a walk over entries that
// lead to records collects some of them and fetches their records at once. The embedded engines have the records at
// hand, and there each is read when it is its turn.

// How many keys are fetched at once: few at first, for the many walks that are short, then more, within groupBytes by
// the size of what the group before had.
const (
	firstGroup = 16
	largeGroup = 128
	groupBytes = 1 << 20
)

// A fetcher is a Reader that has fetched some keys already.
type fetcher struct {
	kv.Reader
	many   kv.MultiReader // nil if keys can be read one by one only
	memory kv.Rememberer  // of a snapshot, nil if it is none
	size   int            // keys to fetch next
	have   map[string]fetchedKey
	bytes  int64 // of what it has
	key    []byte
}

// A fetchedKey is where the value of a key is.
type fetchedKey struct {
	values kv.Values
	at     int
}

func newFetcher(r kv.Reader) fetcher {
	f := fetcher{Reader: r, size: firstGroup}
	if b, ok := r.(borrowedSnapshot); ok {
		r = b.Snapshot
	}
	f.many, _ = r.(kv.MultiReader)
	f.memory, _ = r.(kv.Rememberer)
	return f
}

// fetch fetches keys, in addition to those that it has. It keeps the slices.
func (f *fetcher) fetch(ctx context.Context, list [][]byte) error {
	if f.many == nil || len(list) == 0 {
		return nil
	}
	values, err := f.many.GetAll(ctx, list)
	if err != nil {
		return err
	}
	if f.have == nil {
		f.have = make(map[string]fetchedKey, len(list))
	}
	for i, key := range list {
		f.have[string(key)] = fetchedKey{values, i}
	}
	size := max(values.PageBytes(), 1)
	f.bytes += int64(size)
	f.size = max(2, min(groupBytes*len(list)/size, 2*f.size, largeGroup))
	return nil
}

// pass finds the values of keys in one pass over them in their order, for engines that have them at hand: a get opens
// an iterator of each table in its way, and a pass opens them once. Where all keys are behind the last one of the
// engine, as those of new documents often are, it ends at the first. It keeps the slices.
func (f *fetcher) pass(ctx context.Context, list [][]byte) error {
	order := slices.Clone(list)
	slices.SortFunc(order, bytes.Compare)
	last := order[len(order)-1]
	it, err := f.Reader.Iterate(ctx, order[0], append(slices.Clip(last), 0))
	if err != nil {
		return err
	}
	defer it.Close()
	if f.have == nil {
		f.have = make(map[string]fetchedKey, len(order))
	}
	values := make(passed, len(order))
	here := it.Next()
	for i, key := range order {
		if here && bytes.Compare(it.Key(), key) < 0 {
			here = it.Seek(key)
		}
		if here && bytes.Equal(it.Key(), key) {
			if values[i] = bytes.Clone(it.Value()); values[i] == nil {
				return it.Err()
			}
		}
		f.have[string(key)] = fetchedKey{values, i}
	}
	return it.Err()
}

// The values that a pass has found.
type passed [][]byte

func (p passed) Value(i int) ([]byte, error) { return p[i], nil }
func (p passed) PageBytes() int              { return 0 }

// drop forgets what was fetched.
func (f *fetcher) drop() {
	clear(f.have)
	f.bytes = 0
}

// value is the value of a key, nil if it is absent; known is false if the key was not fetched. It is valid until the
// next call.
func (f *fetcher) value(key []byte) (value []byte, known bool, err error) {
	if len(f.have) == 0 {
		return nil, false, nil
	}
	x, known := f.have[string(key)]
	if known {
		value, err = x.values.Value(x.at)
	}
	return value, known, err
}

// Get implements kv.Reader.
func (f *fetcher) Get(ctx context.Context, key []byte, use func(value []byte) error) (found bool, err error) {
	value, known, err := f.value(key)
	switch {
	case err != nil:
		return false, err
	case !known:
		return f.Reader.Get(ctx, key, use)
	case value == nil:
		return false, nil
	}
	return true, use(value)
}

// record calls use with the record of a number, and reports whether there is one.
func (f *fetcher) record(
	ctx context.Context, rng keys.Range, number uint64, use func(keys.Header, doc.Doc) error,
) (found bool, err error) {
	f.key = rng.Record(f.key[:0], number)
	return getRecord(ctx, f, f.key, use)
}

// A lookahead calls visit for entries that lead to records of a range, in the order in which it sees them, while its
// fetcher has their records. Without a kv.MultiReader that is at once.
type lookahead struct {
	ctx     context.Context
	records *fetcher
	rng     keys.Range
	visit   func(key []byte, number uint64) error

	near    bool // the records are at hand anyway
	entries []entryAhead
	arena   arena
}

// An entryAhead is an entry and the number of the document that it leads to.
type entryAhead struct {
	key    []byte
	number uint64
}

// see takes an entry. key may change after the call.
func (l *lookahead) see(key []byte, number uint64) error {
	if l.records.many == nil || l.near {
		return l.visit(key, number)
	}
	l.entries = append(l.entries, entryAhead{l.arena.keep(key), number})
	if len(l.entries) < l.records.size {
		return nil
	}
	return l.rest()
}

// rest visits the entries that wait. It is called at the end.
func (l *lookahead) rest() error {
	if len(l.entries) == 0 {
		return nil
	}
	list := make([][]byte, len(l.entries))
	for i, e := range l.entries {
		list[i] = l.rng.Record(l.arena.room(numberedBytes), e.number)
	}
	if err := l.records.fetch(l.ctx, list); err != nil {
		return err
	}
	for _, e := range l.entries {
		if err := l.visit(e.key, e.number); err != nil {
			return err
		}
	}
	l.records.drop()
	l.entries, l.arena = l.entries[:0], nil
	return nil
}

// How many operations of a write set are looked ahead at once.
const (
	opsAhead     = 64  // on other machines, with their documents
	lookupsAhead = 512 // at hand, the lookups alone
)

// fetchAhead finds the documents of the operations from i on, where that is faster than one after the other. It is
// called for each operation.
func (ws *writeSet) fetchAhead(ctx context.Context, ops []Op, i int) error {
	if i == 0 {
		ws.aheadTo = 0
	}
	if i < ws.aheadTo || len(ops)-i < 2 {
		return nil
	}
	if ws.ahead.Reader == nil {
		ws.ahead = newFetcher(ws.view.Reader)
		ws.view.Reader = &ws.ahead
	}
	ws.ahead.drop()
	size := opsAhead
	if ws.ahead.many == nil {
		size = lookupsAhead
	}
	ws.aheadTo = min(i+size, len(ops))
	ops = ops[i:ws.aheadTo]
	var a arena
	ranges, lookups := make([]keys.Range, len(ops)), make([][]byte, len(ops))
	for i := range ops {
		partition := ws.v.Identity().AppendPartition(nil, ops[i].Key.Partition)
		ranges[i] = ws.v.KeysForForm(partition)
		lookups[i] = ranges[i].Lookup(a.room(numberedBytes+len(partition)+len(ops[i].Key.ID)), partition, ops[i].Key.ID)
	}
	if ws.ahead.many == nil {
		return ws.ahead.pass(ctx, lookups)
	}
	if err := ws.ahead.fetch(ctx, lookups); err != nil {
		return err
	}
	var records [][]byte
	for i, lookup := range lookups {
		number, found, err := getNumber(ctx, &ws.ahead, lookup)
		if err != nil {
			return err
		}
		if found {
			records = append(records, ranges[i].Record(nil, number))
		}
	}
	return ws.ahead.fetch(ctx, records)
}
