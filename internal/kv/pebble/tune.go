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
// about CacheBytes. Loading a block from the system's own cache takes three times as
// long as all else that a query does for a document, so the cache has room for the
// records of 100,000 documents of 1 KiB beside two memtables.
const (
	cacheBytes         = 160 << 20
	smallCacheBytes    = 48 << 20 // has the tables in memory behind it
	memTableBytes      = 16 << 20
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
		CacheSize:                   cmp.Or(o.CacheBytes, defaultCache(memory)),
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                cmp.Or(o.memTableBytes, memTables(total)),
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       24,
		CompactionConcurrencyRange:  compactions,
		FlushDelayDeleteRange:       10 * time.Second, // so that the space of a deleted range comes back on a quiet engine
	}
	p.TargetFileSizes[0] = int64(min(max(memTables(total)/8, smallTableBytes), tableBytes))
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
// so small file systems get small ones: four memtables and five logs take a sixth at most.
func memTables(total uint64) uint64 {
	if total == 0 {
		return memTableBytes
	}
	return min(max(total/64, smallMemTableBytes), memTableBytes)
}

// defaultCache is how large the cache is if nobody says.
func defaultCache(memory bool) int64 {
	if memory {
		return smallCacheBytes
	}
	return cacheBytes
}

// compactions leaves a core to requests while compaction keeps up, and takes
// more when it does not.
func compactions() (lower, upper int) {
	return 1, min(max(1, runtime.GOMAXPROCS(0)/2), 4)
}
