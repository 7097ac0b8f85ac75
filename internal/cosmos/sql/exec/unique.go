package exec

import "github.com/mayflydb/mayfly/internal/access"

// distinct makes a pass that gives the next rows in order of their values, each
// value once.
func (r *run) distinct() (more bool, err error) {
	b := r.newTopK()
	b.byKey, b.after = map[string]*entry{}, r.token.key
	var key []byte
	offer := func(_ *access.Document, at place) bool {
		v := r.value(r.f)
		if v.Type == 0 || r.f.err != nil {
			return true
		}
		if key = appendKey(key[:0], v); !r.f.spend(len(key)) {
			return true
		}
		id := clipKey(key)
		if _, ok := b.find(id); ok || !b.admits(id) {
			return true
		}
		if e, ok := r.entry(id, at); ok {
			b.add(e)
		}
		return true
	}
	ok, err := r.tabulateRows(b, offer)
	if err == nil && !ok {
		err = r.over(offer)
	}
	if err != nil {
		return false, err
	}
	return r.flush(b, r.passedKey)
}

// passedKey moves the token past a row that is identified by its key.
func (r *run) passedKey(e *entry) { r.token.key = e.key }
