package tikv

import (
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/local"
)

var (
	_ kv.MultiReader = (*reader)(nil)
	_ kv.MultiReader = (*Engine)(nil)
)

// GetAll reads the newest state.
func (e *Engine) GetAll(ctx context.Context, keys [][]byte) (kv.Values, error) {
	ts, err := e.moment(ctx)
	if err != nil {
		return nil, err
	}
	return e.reader(ts).GetAll(ctx, keys)
}

// GetAll implements kv.MultiReader: one request for each region that has some of the keys, all at the same time. Of a
// large value it fetches the header alone.
func (r *reader) GetAll(ctx context.Context, keys [][]byte) (kv.Values, error) {
	if !r.e.calls.Enter() {
		return nil, local.Closed()
	}
	defer r.e.calls.Leave()
	if err := r.readable(); err != nil {
		return nil, err
	}
	call, cancel := r.e.bounded(ctx)
	defer cancel()
	full := make([][]byte, len(keys))
	for i, key := range keys {
		full[i] = r.e.space.data(key)
	}
	got, err := r.batch(call, slices.Clone(full))
	if err != nil {
		return nil, ofCall(ctx, err)
	}
	v := &values{r: r, ctx: ctx, keys: keys, stored: make([][]byte, len(keys))}
	for i, key := range full {
		v.stored[i] = got[string(key)]
		v.bytes += len(key) + len(v.stored[i])
	}
	return v, nil
}

// values are those of one GetAll, as they are stored.
type values struct {
	r            *reader
	ctx          context.Context
	keys, stored [][]byte
	bytes        int
}

func (v *values) Value(i int) ([]byte, error) {
	if v.stored[i] == nil {
		return nil, nil
	}
	return v.r.fetched(v.ctx, v.keys[i], v.stored[i])
}

func (v *values) PageBytes() int { return v.bytes }
