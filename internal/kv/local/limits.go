package local

import (
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Tally counts the keys and bytes of a batch against the limits of package kv.
type Tally struct{ Keys, Bytes int }

// Add counts more changes of a batch. It fails, as Apply of kv.Engine does, if one of them is
// not allowed or there are too many.
func (t *Tally) Add(ops []kv.Op) error {
	t.Keys += len(ops)
	if t.Keys > kv.MaxBatchKeys {
		return fault.New(fault.TooLarge, "a batch changes more than %d keys", kv.MaxBatchKeys)
	}
	for i := range ops {
		if err := check(&ops[i]); err != nil {
			return err
		}
		t.Bytes += len(ops[i].Key) + len(ops[i].Value) + len(ops[i].End)
		if t.Bytes > kv.MaxBatchBytes {
			return fault.New(fault.TooLarge, "a batch is larger than %d bytes", kv.MaxBatchBytes)
		}
	}
	return nil
}

func check(op *kv.Op) error {
	if max(len(op.Key), len(op.End)) > kv.MaxKeyBytes {
		return fault.New(fault.TooLarge, "a key is longer than %d bytes", kv.MaxKeyBytes)
	}
	if op.End == nil && len(op.Key) == 0 {
		return fault.New(fault.Invalid, "a key is empty")
	}
	if op.End != nil && len(op.End) == 0 {
		return fault.New(fault.Invalid, "a range to delete has no upper bound")
	}
	return nil
}
