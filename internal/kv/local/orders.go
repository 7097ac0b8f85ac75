package local

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/kv"
)

// Orders runs the orders of batches, one batch at a time.
type Orders struct {
	last  []byte   // scratch
	nexts [][]byte // scratch
}

// Counters reads the values of counters from the newest applied state.
type Counters interface {
	// Append appends the value of key to dst.
	Append(dst, key []byte) (value []byte, found bool, err error)
}

// Place runs the orders of b, which add their changes to it. If b has several orders of one
// counter, each continues from the one before.
func (o *Orders) Place(from Counters, b *kv.Batch) error {
	o.nexts = o.nexts[:0]
	for i := 0; i < len(b.Orders); i++ {
		order := b.Orders[i]
		last, err := o.counter(from, order.Key, b.Orders[:i])
		if err != nil {
			return err
		}
		next, err := order.Place(last, b)
		if err != nil {
			return err
		}
		b.Set(order.Key, next)
		o.nexts = append(o.nexts, next)
	}
	return nil
}

// counter returns the value that the counter has after the orders in before. Place
// may return these bytes, so each order of a batch gets its own; the first order, which
// is usually the only one, gets the scratch buffer.
func (o *Orders) counter(from Counters, key []byte, before []kv.Order) (last []byte, err error) {
	for i := len(before) - 1; i >= 0; i-- {
		if bytes.Equal(before[i].Key, key) {
			return bytes.Clone(o.nexts[i]), nil
		}
	}
	if len(before) == 0 {
		last = o.last[:0]
	}
	last, found, err := from.Append(last, key)
	if err != nil || !found {
		return nil, err
	}
	if len(before) == 0 {
		o.last = last
	}
	if last == nil {
		last = []byte{}
	}
	return last, nil
}
