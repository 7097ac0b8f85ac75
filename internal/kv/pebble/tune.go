package pebble

import (
	"cmp"
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// Sizes of the default engine. Memtables start at 256 KiB and double, and count
// towards the cache, so that an idle engine holds a few MiB and a busy one
// about CacheBytes. What is written and deleted within one memtable never reaches a table: at 4,000
// documents of 1 KiB a second, 32 MiB are about four seconds of writing. Loading a block from the system's own cache takes three times as
// long as all else that a query does for a document, so the cache has room for the
// records of 100,000 documents of 1 KiB beside two memtables.
const (
	cacheBytes         = 160 << 20
	smallCacheBytes    = 48 << 20 // has the tables in memory behind it
	memTableShare      = 5        // of the cache
	memTableBytes      = 64 << 20 // at most
	smallMemTableBytes = 256 << 10
	tableBytes         = 2 << 20 // of the newest level, twice as much in each one below
	smallTableBytes    = 128 << 10
	blockBytes         = 4 << 10
	indexBytes         = 128 << 10 // one index block for a table of up to 16 MiB: one look less for each seek
	filterBits         = 10        // per key: one false positive in a hundred; Get uses them above the last level only
)

// tune gives the options of Pebble for o on a file system of total bytes, 0 if nobody knows.
func tune(o Options, memory bool, total uint64) *pebble.Options {
	p := &pebble.Options{
		DisableWAL:                  memory,
		CacheSize:                   cacheSize(o, memory),
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                memTables(o, memory, total),
		MemTableStopWritesThreshold: 3,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       24,
		CompactionConcurrencyRange:  compactions,
		FlushDelayDeleteRange:       10 * time.Second, // so that the space of a deleted range comes back on a quiet engine
	}
	p.TargetFileSizes[0] = int64(min(max(p.MemTableSize/8, smallTableBytes), tableBytes))
	for i := range p.Levels {
		p.Levels[i].BlockSize = blockBytes
		p.Levels[i].IndexBlockSize = indexBytes
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(filterBits)
		p.Levels[i].FilterType = pebble.TableFilter
	}
	if o.SeparateValues > 0 {
		p.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
			return pebble.ValueSeparationPolicy{
				Enabled: true, MinimumSize: o.SeparateValues, MaxBlobReferenceDepth: 10,
				RewriteMinimumAge: time.Minute, TargetGarbageRatio: 0.2,
			}
		}
	}
	return p
}

// memTables is how large memtables are. Logs of about their size are kept to be used again,
// so small file systems get small ones: three memtables and four logs take an eighth at most.
func memTables(o Options, memory bool, total uint64) uint64 {
	size := cmp.Or(uint64(max(o.MemTableBytes, 0)), min(uint64(cacheSize(o, memory))/memTableShare, memTableBytes))
	if total > 0 {
		size = min(size, max(total/64, smallMemTableBytes))
	}
	return size
}

// cacheSize is how large the cache is, memtables included.
func cacheSize(o Options, memory bool) int64 {
	if memory {
		return cmp.Or(o.CacheBytes, smallCacheBytes)
	}
	return cmp.Or(o.CacheBytes, cacheBytes)
}

// compactions leaves a core to requests while compaction keeps up, and takes
// more when it does not.
func compactions() (lower, upper int) {
	return 1, min(max(1, runtime.GOMAXPROCS(0)/2), 4)
}
