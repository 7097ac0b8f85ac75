package pebble

import "github.com/mayflydb/mayfly/internal/kv"

// counters cache the newest values of the keys that orders read: every batch of a range reads the counter of the range,
// and others wait meanwhile. The mutex of the engine guards them.
type counters struct {
	engine  *Engine
	values  map[string]*counter
	longest int // bytes of a key of values
}

type counter struct{ value []byte }

// maxCounters is how many values are cached. Each is a few dozen bytes.
const maxCounters = 1024

func newCounters(e *Engine) counters { return counters{engine: e, values: map[string]*counter{}} }

// Append appends the newest value of key to dst.
func (c *counters) Append(dst, key []byte) (value []byte, found bool, err error) {
	if known := c.values[string(key)]; known != nil {
		return append(dst, known.value...), true, nil
	}
	found, err = get(c.engine.db, key, func(value []byte) error {
		if len(c.values) == maxCounters {
			clear(c.values)
		}
		c.values[string(key)] = &counter{append([]byte(nil), value...)}
		c.longest = max(c.longest, len(key))
		dst = append(dst, value...)
		return nil
	})
	return dst, found, err
}

// follow takes over what a batch has changed. It is called when the batch is visible.
func (c *counters) follow(ops []kv.Op) {
	for i := range ops {
		op := &ops[i]
		if op.End != nil {
			clear(c.values)
			continue
		}
		if len(op.Key) > c.longest { // most keys are longer than counters, so looking for them would be in vain
			continue
		}
		switch known := c.values[string(op.Key)]; {
		case known == nil:
		case op.Value == nil:
			delete(c.values, string(op.Key))
		default:
			known.value = append(known.value[:0], op.Value...)
		}
	}
}
