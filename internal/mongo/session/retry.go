package session

import (
	"container/list"
	"sync"

	"github.com/mayflydb/mayfly/internal/budget"
)

// Where one process has the data alone, a retryable write that is sent again because its answer was lost is answered
// from memory. Sessions remember the answer to their newest number. See Recall.

// Limits of the answers that are kept. Those that no room is left for are forgotten, the oldest first;
// who asks for one is told so, which is better than a write done twice.
const (
	MaxReplyBytes   = 17 << 20 // of one, as large as a document may be
	maxRepliesBytes = 64 << 20 // of all
)

// A Reply is what a retryable write was answered.
type Reply struct {
	Of      string // the command
	members []byte // of the answer, without ok; nil when it has been forgotten
	place   *list.Element
}

// replies are the answers that are kept, the oldest first.
type replies struct {
	mu    sync.Mutex
	order list.List // of *reply
	bytes int
	share budget.Share
}

func (k *replies) init(b *budget.Budget) {
	k.order.Init()
	b.Open(&k.share)
}

// Add keeps an answer, in place of older ones where there is no room for all.
func (k *replies) Add(p *Reply, members []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.bytes+len(members) > maxRepliesBytes || !k.share.TryTake(int64(len(members))) {
		if k.order.Len() == 0 {
			return
		}
		k.forget(k.order.Front().Value.(*Reply))
	}
	p.members = append(make([]byte, 0, len(members)), members...)
	p.place = k.order.PushBack(p)
	k.bytes += len(members)
}

// clear forgets all of them.
func (k *replies) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.order.Len() > 0 {
		k.forget(k.order.Front().Value.(*Reply))
	}
}

// close forgets all of them, when no others come.
func (k *replies) close() {
	k.clear()
	k.share.Close()
}

// Drop takes back the answer that a session remembers.
func (k *replies) Drop(x *Session) {
	if x.Reply == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget(x.Reply)
	x.Reply = nil
}

func (k *replies) forget(p *Reply) {
	if p.place != nil {
		k.order.Remove(p.place)
		k.bytes -= len(p.members)
		k.share.Give(int64(len(p.members)))
		p.place, p.members = nil, nil
	}
}

// Members gives the members of an answer, nil when it has been forgotten.
func (k *replies) Members(p *Reply) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return p.members
}
