//go:build cgo && linux

package pebble

/*
#include <malloc.h>

// one_heap makes the GNU allocator use one heap instead of one per thread: all threads allocate and free blocks of the
// cache, which would fragment every heap. It runs before the program has a second thread, because heaps that exist
// stay in use.
__attribute__((constructor)) static void one_heap(void) {
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

// trimMalloc returns the free pages of the heap to the system, including those between pages in use.
func trimMalloc() { C.trim_heap() }
