package reaper

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// buckets is the number of buckets of the histogram of latencies. The last one is above four minutes.
const buckets = 4 * 28

// latencies is a histogram of the requests of a window. It has four buckets for each power of two microseconds.
type latencies [buckets]atomic.Uint32

func (l *latencies) observe(took time.Duration) { l[bucket(took)].Add(1) }

// bucket is the index of the bucket of a latency.
func bucket(took time.Duration) int {
	us := uint64(max(took.Microseconds(), 1))
	top := bits.Len64(us) - 1
	quarter := int(us<<2>>top) & 3
	return min(top*4+quarter, buckets-1)
}

// bound is the upper end of a bucket.
func bound(i int) time.Duration {
	return time.Duration((uint64(5+i%4)<<(i/4))/4) * time.Microsecond
}

// drain empties the histogram and returns the p99, rounded up to the end of its bucket.
func (l *latencies) drain() (requests uint32, p99 time.Duration) {
	var counts [buckets]uint32
	for i := range l {
		counts[i] = l[i].Swap(0)
		requests += counts[i]
	}
	slow := requests / 100
	for i := len(counts) - 1; i >= 0; i-- {
		if counts[i] > slow {
			return requests, bound(i)
		}
		slow -= counts[i]
	}
	return requests, 0
}
