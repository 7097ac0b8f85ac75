package store

import "sync"

// Intents are the documents that groups under way are going to write, by lookup key, so that
// the second of two groups learns of their conflict from its operation. Nothing is right
// because of them: the commit looks again.
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
