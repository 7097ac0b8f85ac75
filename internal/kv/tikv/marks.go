package tikv

import (
	"time"

	"github.com/tikv/client-go/v2/oracle"

	"github.com/mayflydb/mayfly/internal/kv"
)

// maxMarkAge is how old a mark may be when its batch is applied. It is far less than Options.Retain, so that no
// transaction begins below the garbage collector's safe point, and it bounds the memory for used marks.
const maxMarkAge = 5 * time.Minute

// marks remembers which marks have become start timestamps of transactions. Two transactions with the same start
// timestamp would be one to the cluster. A mark is remembered for maxMarkAge at least, in one of two generations.
type marks struct {
	young, old map[kv.Mark]struct{}
	since      kv.Mark // the first one of the young generation
}

// take reports whether mark, which is not older than maxMarkAge at now, may become a start timestamp. It says so once.
func (m *marks) take(mark kv.Mark, now uint64) bool {
	if m.young == nil || aged(m.since, now) {
		m.young, m.old, m.since = map[kv.Mark]struct{}{}, m.young, kv.Mark(now)
	}
	for _, generation := range []map[kv.Mark]struct{}{m.young, m.old} {
		if _, ok := generation[mark]; ok {
			return false
		}
	}
	m.young[mark] = struct{}{}
	return true
}

// aged reports whether mark is older than maxMarkAge at now.
func aged(mark kv.Mark, now uint64) bool {
	return oracle.ExtractPhysical(now)-oracle.ExtractPhysical(uint64(mark)) > maxMarkAge.Milliseconds()
}
