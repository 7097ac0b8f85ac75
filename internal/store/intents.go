package store

import "sync"

// Intents are the documents that open transactions are going to write, by lookup key. Because of them the second of two
// transactions fails at its operation and not at its commit, as in MongoDB. Correctness does not rest on them: the
// commit checks again.
type intents struct {
	mu sync.Mutex
	of map[string]*SnapshotTransaction
}

// take gives a key to tx unless another transaction has it. first tells that tx has it only now.
func (x *intents) take(tx *SnapshotTransaction, key []byte) (mine, first bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if owner := x.of[string(key)]; owner != nil {
		return owner == tx, false
	}
	if x.of == nil {
		x.of = map[string]*SnapshotTransaction{}
	}
	x.of[string(key)] = tx
	return true, true
}

func (x *intents) drop(list []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, key := range list {
		delete(x.of, key)
	}
}
