package store

import (
	"bytes"
	"encoding/binary"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A walking is a walk over the entries of a stretch, or over the feed.
type walking struct {
	*reading
	w       *access.Walk
	st      stretch
	stamps  bool    // it goes over the feed
	shown   int     // columns that positions have
	among   *sorted // the only numbers to visit, nil for all
	few     bool    // among is short enough to be sorted by value
	after   []doc.Value
	reached uint64 // the number (or sequence) of the position, which has the values after
	values  []doc.Value
	room    [8]byte
}

// scanWalk hands out documents in the order of entries.
func (r *reading) scanWalk(of *access.Walk) error {
	w := walking{reading: r, w: of, stamps: isStamp(&of.Range)}
	if r.after != nil {
		var ok bool
		if w.after, w.reached, ok = r.after.Values(); !ok || len(w.after) == 0 {
			return ErrPosition
		}
	}
	if err := w.narrowDown(); err != nil {
		return err
	}
	if w.stamps {
		return w.overStamps()
	}
	return w.overEntries()
}

// narrowDown finds out whether the documents to visit are known by number. When they are
// few, and their square is below the number of documents in the container, it is cheaper to
// load and sort them than to look for twenty of them among the entries.
func (w *walking) narrowDown() error {
	if w.set == nil && w.scope == nil {
		return nil
	}
	w.collected = 2 * spend.filter
	l, err := w.narrowed()
	if err != nil || l == nil {
		return err
	}
	numbers, whole, err := drain(l, 0, spend.filter)
	if err != nil {
		return err
	}
	if !whole {
		w.based = false
		return nil
	}
	counter, err := counterOf(w.snapshot, w.v.Container)
	if err != nil {
		return err
	}
	n := uint64(len(numbers))
	w.among = &sorted{numbers: numbers}
	w.few = n <= uint64(spend.few) || n*n <= counter.Documents
	return nil
}

// overEntries visits the documents that have entries and, before or in reverse behind
// them, those that have no value.
func (w *walking) overEntries() error {
	absent := w.w.Absent && w.w.Range.Composite == 0
	inAbsent := len(w.after) == 1 && doc.IsUndefined(w.after[0])
	missing := w.among
	if _, ok := w.stretch(&w.w.Range); !ok {
		return errIndexChanged // before a search for what lacks a value
	}
	if absent && missing == nil && !w.w.Reverse && (w.after == nil || inAbsent) {
		var err error
		if missing, err = w.absent(); err != nil {
			return err
		}
	}
	var ok bool
	if w.st, ok = w.stretch(&w.w.Range); !ok || w.st.columns[0].path == nil {
		return errIndexChanged
	}
	w.shown = exposed(w.st.columns)
	if w.after != nil && (w.w.Range.Composite > 0 || !inAbsent) {
		if err := w.resumeEntries(); err != nil {
			return err
		}
	}
	if absent && !w.w.Reverse && (w.after == nil || inAbsent) {
		if err := w.absentUp(missing); err != nil {
			return err
		}
	}
	if w.w.Range.Composite > 0 || !inAbsent || !w.w.Reverse {
		if err := w.alongEntries(); err != nil {
			return err
		}
	}
	if absent && w.w.Reverse {
		return w.absentDown(inAbsent)
	}
	return nil
}

// resumeEntries moves the bounds of the stretch behind the position.
func (w *walking) resumeEntries() error {
	values := w.after
	if w.w.Range.Composite > 0 && len(values) == w.shown-len(w.w.Range.Equal) {
		values = append(slices.Clone(w.w.Range.Equal), values...)
	}
	if len(values) != w.shown {
		return ErrPosition
	}
	key := slices.Clone(w.st.prefix)
	for i, c := range w.st.columns {
		var v doc.Value
		if i < len(values) {
			v = values[i]
		}
		key = keys.AppendValue(key, v, c.descending)
	}
	w.cut(keys.AppendNumber(key, w.reached))
	return nil
}

// cut takes away what the walk has passed when it has come to key.
func (w *walking) cut(key []byte) {
	if w.w.Reverse {
		if before(key, w.st.upper) {
			w.st.upper = key
		}
		return
	}
	if !before(key, w.st.lower) {
		w.st.lower = append(key, 0)
	}
}

// alongEntries visits the documents of the stretch's entries.
func (w *walking) alongEntries() error {
	if w.st.empty() {
		return nil
	}
	if w.few {
		return w.alongFew()
	}
	it, err := w.iterate(w.st.lower, w.st.upper)
	if err != nil {
		return err
	}
	for w.move(it) {
		if err := w.tick(); err != nil {
			return err
		}
		number, err := keys.Number(it.Key())
		if err == nil && w.stamps {
			var e keys.FeedEntry
			e, err = keys.DecodeFeed(it.Value())
			number = e.Number
		}
		if err != nil {
			if it.Err() != nil {
				return it.Err()
			}
			return corrupt(err, "index entry")
		}
		if w.among != nil && !w.among.has(number) {
			continue
		}
		if err := w.stop(number); err != nil {
			return err
		}
	}
	return it.Err()
}

func (w *walking) move(it kv.Iterator) bool {
	if w.w.Reverse {
		return it.Prev()
	}
	return it.Next()
}

// stop hands out the document that an entry leads to.
func (w *walking) stop(number uint64) error {
	h, body, alive, err := w.record(number)
	if err != nil || !alive || !w.selected(body) {
		return err
	}
	w.values = w.values[:0]
	if w.stamps {
		w.values = append(w.values, doc.Value{Type: bsoncore.TypeInt64, Data: bsoncore.AppendInt64(w.room[:0], h.Stamp)})
		w.position = access.ValuePosition(w.position[:0], w.values, h.Sequence)
		return w.give(number, h, body)
	}
	for _, c := range w.st.columns[:w.shown] {
		w.values = append(w.values, c.path.Lookup(body))
	}
	w.position = access.ValuePosition(w.position[:0], w.values, number)
	return w.give(number, h, body)
}

// A made is the entry that a document has, made from its body.
type made struct {
	from, to int // of the key, in one arena
	number   uint64
}

// alongFew visits the documents of among by making their entries and sorting them.
func (w *walking) alongFew() error {
	var arena []byte
	var list []made
	for _, number := range w.among.numbers {
		if err := w.tick(); err != nil {
			return err
		}
		h, body, alive, err := w.record(number)
		if err != nil {
			return err
		}
		if !alive {
			continue
		}
		from := len(arena)
		arena = w.entryOf(arena, number, h, body)
		if key := arena[from:]; len(key) == 0 || before(key, w.st.lower) || !before(key, w.st.upper) {
			arena = arena[:from]
			continue
		}
		list = append(list, made{from, len(arena), number})
	}
	slices.SortFunc(list, func(a, b made) int {
		if w.w.Reverse {
			a, b = b, a
		}
		return bytes.Compare(arena[a.from:a.to], arena[b.from:b.to])
	})
	for _, f := range list {
		if err := w.stop(f.number); err != nil {
			return err
		}
	}
	return nil
}

// entryOf appends the entry of a document, nothing if it has none.
func (w *walking) entryOf(dst []byte, number uint64, h keys.Header, body doc.Doc) []byte {
	if w.stamps {
		return w.rng.Feed(dst, h.Sequence)
	}
	start := len(dst)
	dst = append(dst, w.st.prefix...)
	for _, c := range w.st.columns {
		v := c.path.Lookup(body)
		if w.w.Range.Composite == 0 && doc.IsUndefined(v) {
			return dst[:start]
		}
		dst = keys.AppendValue(dst, v, c.descending)
	}
	return binary.BigEndian.AppendUint64(dst, number)
}

// before reports whether key is below upper, a bound as iterators have it.
func before(key, upper []byte) bool { return bytes.Compare(key, upper) < 0 }
