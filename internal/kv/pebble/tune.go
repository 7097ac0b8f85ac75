package pebble

import (
	"cmp"
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// Sizes of the default engine. Memtables start at 256 KiB and double, and count as part of the cache, so that an idle
// engine holds a few MiB and a busy one about CacheBytes. A key that is written and deleted within one memtable never
// reaches a table: at 4,000 documents of 1 KiB per second, 32 MiB are about four seconds of writes. Loading a block
// from the cache of the operating system takes three times as long as everything else that a query does for a
// document, so the cache can hold the records of 100,000 documents of 1 KiB in addition to two memtables.
const (
	cacheBytes         = 160 << 20
	smallCacheBytes    = 48 << 20 // for an engine in memory, whose tables are in memory anyway
	memTableShare      = 5        // one part of the cache in this many
	memTableBytes      = 64 << 20 // at most
	smallMemTableBytes = 256 << 10
	tableBytes         = 2 << 20 // of the newest level; each level below has twice as much
	smallTableBytes    = 128 << 10
	blockBytes         = 8 << 10   // seven documents of 1 KiB: a scan of blocks with four takes half as long again
	indexBytes         = 128 << 10 // one index block for a table of up to 16 MiB saves a lookup for each seek
	filterBits         = 10        // per key: one false positive in a hundred; not used for the last level
)

// tune returns the options of Pebble for o, on a file system of total bytes, 0 if unknown.
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
		FlushDelayDeleteRange:       10 * time.Second, // frees the space of a deleted range on an idle engine, too
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

// memTables is the size of memtables. Pebble keeps logs of about the same size for reuse, so memtables are small on
// small file systems: three memtables and four logs take at most an eighth.
func memTables(o Options, memory bool, total uint64) uint64 {
	size := cmp.Or(uint64(max(o.MemTableBytes, 0)), min(uint64(cacheSize(o, memory))/memTableShare, memTableBytes))
	if total > 0 {
		size = min(size, max(total/64, smallMemTableBytes))
	}
	return size
}

// cacheSize is the size of the cache, including memtables.
func cacheSize(o Options, memory bool) int64 {
	if memory {
		return cmp.Or(o.CacheBytes, smallCacheBytes)
	}
	return cmp.Or(o.CacheBytes, cacheBytes)
}

// compactions uses one core while compaction keeps up, and up to half of the cores when it does not.
func compactions() (lower, upper int) {
	return 1, min(max(1, runtime.GOMAXPROCS(0)/2), 4)
}
