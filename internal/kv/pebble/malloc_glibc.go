//go:build cgo && linux

package pebble

/*
#include <malloc.h>

static void one_heap(void) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
#endif
}

static void trim_heap(void) {
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
*/
import "C"

import "sync"

// tidyMalloc makes the GNU allocator use one heap instead of one per thread. Blocks of
// the cache come and go on all threads, and would leave holes in every heap.
var tidyMalloc = sync.OnceFunc(func() { C.one_heap() })

// trimMalloc gives free pages of that heap back to the system, also those between others that are in use.
func trimMalloc() { C.trim_heap() }
