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

// tidyMalloc makes the GNU allocator use one heap instead of one per thread. All threads allocate and free blocks of
// the cache, which would fragment every heap.
var tidyMalloc = sync.OnceFunc(func() { C.one_heap() })

// trimMalloc returns the free pages of that heap to the system, including those between pages in use.
func trimMalloc() { C.trim_heap() }
