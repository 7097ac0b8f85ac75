package tikv

import (
	"bytes"
	"context"
	"slices"

	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/tikvrpc/interceptor"

	"github.com/mayflydb/mayfly/internal/kv"
)

var (
	_ kv.Iterator = (*iterator)(nil)
	_ kv.Pager    = (*iterator)(nil)
)

// Keys of one page. The first page after a new start is small, for the many walks that are short; pages then grow,
// within pageBytes by the size of what the page before had.
const (
	firstPage = 16
	largePage = 256
	pageBytes = 1 << 20
)

type pair struct{ key, value []byte }

// Where an iterator is.
const (
	fresh = iota
	beforeAll
	on
	afterAll
)

// An iterator walks over pages of keys, each of them fetched by one call of the client. The client's own iterator knows
// no context and fetches 256 keys at a time, however large the values.
type iterator struct {
	r            *reader
	ctx          context.Context
	kind         byte
	lower, upper []byte // of the cluster

	state  int
	page   []pair // in the order of the walk that fetched it
	at     int
	back   bool // that walk went backward
	more   bool // it may go on behind the page
	bytes  int  // of the page
	size   int  // of the next page
	closed bool
	err    error
}

func (i *iterator) Next() bool {
	switch i.state {
	case afterAll:
		return false
	case fresh, beforeAll:
		return i.start(i.lower, i.upper, false)
	}
	return i.step(false)
}

func (i *iterator) Prev() bool {
	switch i.state {
	case beforeAll:
		return false
	case fresh, afterAll:
		return i.start(i.lower, i.upper, true)
	}
	return i.step(true)
}

// step moves by one, within the page if that has the next key.
func (i *iterator) step(back bool) bool {
	to := i.at + 1
	if back != i.back {
		to = i.at - 1
	}
	if to >= 0 && to < len(i.page) {
		i.at = to
		return true
	}
	if to > 0 && !i.more {
		return i.leave(back)
	}
	key := i.page[i.at].key
	if back {
		return i.fetch(i.lower, key, true)
	}
	return i.fetch(append(bytes.Clone(key), 0), i.upper, false)
}

func (i *iterator) Seek(key []byte) bool {
	from := i.r.e.space.of(i.kind, key)
	if bytes.Compare(from, i.lower) < 0 {
		from = i.lower
	}
	if i.state == on && !i.back && bytes.Compare(from, i.page[0].key) >= 0 {
		at, _ := slices.BinarySearchFunc(i.page, from, func(p pair, key []byte) int {
			return bytes.Compare(p.key, key)
		})
		if at < len(i.page) {
			i.at = at
			return true
		}
	}
	return i.start(from, i.upper, false)
}

// start begins a walk over [from, to).
func (i *iterator) start(from, to []byte, back bool) bool {
	i.size = firstPage
	return i.fetch(from, to, back)
}

// fetch gets the first page of [from, to), or the last one if it goes back, and moves to its first key.
func (i *iterator) fetch(from, to []byte, back bool) bool {
	if i.err != nil {
		return i.leave(back)
	}
	if bytes.Compare(from, to) >= 0 {
		return i.leave(back)
	}
	n := i.size
	page, err := i.r.page(i.ctx, from, to, back, n)
	if err != nil {
		i.err = err
	}
	if err != nil || len(page) == 0 {
		return i.leave(back)
	}
	i.page, i.at, i.back, i.more, i.state = page, 0, back, len(page) == n, on
	i.bytes = 0
	for _, p := range page {
		i.bytes += len(p.key) + len(p.value)
	}
	i.size = nextPage(len(page), i.bytes)
	return true
}

// nextPage is the number of keys to ask for after a page.
func nextPage(keys, bytes int) int {
	fit := pageBytes * keys / bytes
	return max(2, min(fit, 4*keys, largePage)) // the client replaces 1 by 256
}

// PageBytes is the size of the keys and values that have been fetched.
func (i *iterator) PageBytes() int { return i.bytes }

func (i *iterator) leave(back bool) bool {
	i.page, i.bytes = nil, 0
	i.state = afterAll
	if back {
		i.state = beforeAll
	}
	return false
}

// page reads up to n pairs of [from, to). The client's scan ends neither with ctx nor soon when a store is silent, so
// it has a goroutine of its own, which a call whose ctx ends leaves behind. That goroutine sends nothing more.
func (r *reader) page(ctx context.Context, from, to []byte, back bool, n int) ([]pair, error) {
	if err := r.readable(); err != nil {
		return nil, err
	}
	call, cancel := r.e.bounded(ctx)
	defer cancel()
	type result struct {
		page []pair
		err  error
	}
	done := make(chan result, 1)
	r.e.requests.Go(func() {
		page, err := r.scan(call, from, to, back, n)
		done <- result{page, err}
	})
	select {
	case got := <-done:
		if got.err != nil {
			return nil, ofCall(ctx, readFault(call, got.err))
		}
		return got.page, nil
	case <-call.Done():
		return nil, ofCall(ctx, readFault(call, call.Err()))
	}
}

func (r *reader) scan(ctx context.Context, from, to []byte, back bool, n int) (page []pair, err error) {
	s := r.at()
	s.SetScanBatchSize(n)
	s.SetRPCInterceptor(onlyUntil(ctx))
	open := s.Iter
	if back {
		open = s.IterReverse
		from, to = to, from
	}
	it, err := open(from, to)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for it.Valid() {
		page = append(page, pair{it.Key(), it.Value()})
		if len(page) == n {
			break // the next move would fetch what may not be needed
		}
		if err := it.Next(); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// onlyUntil refuses requests once ctx has ended. The client does not repeat a request that failed with Canceled.
func onlyUntil(ctx context.Context) interceptor.RPCInterceptor {
	wrap := func(next interceptor.RPCInterceptorFunc) interceptor.RPCInterceptorFunc {
		return func(target string, req *tikvrpc.Request) (*tikvrpc.Response, error) {
			if ctx.Err() != nil {
				return nil, context.Canceled
			}
			return next(target, req)
		}
	}
	return interceptor.NewRPCInterceptor("until", wrap)
}

func (i *iterator) Key() []byte { return i.r.e.space.user(i.page[i.at].key) }

func (i *iterator) Value() []byte {
	value, err := i.r.fetched(i.ctx, i.Key(), i.page[i.at].value)
	if err != nil {
		if i.err == nil {
			i.err = err
		}
		return nil
	}
	return value
}

func (i *iterator) Err() error { return i.err }

func (i *iterator) Close() error {
	if !i.closed {
		i.closed = true
		i.page, i.bytes = nil, 0
		i.r.e.open.Add(-1)
	}
	return i.err
}
