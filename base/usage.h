/* What a thread has used so far: memory of arenas and arrays, and bytes of files. Counted always; it costs an addition each. */
#ifndef TRIB_BASE_USAGE_H
#define TRIB_BASE_USAGE_H
#include <stddef.h>
#include <stdint.h>

struct usage {
	ptrdiff_t held, peak; /* bytes of blocks of arenas; it may free blocks of another thread, hence the sign */
	uint64_t allocations; /* blocks of arenas, and times that an array or buffer grew */
	uint64_t read, written;
};
extern _Thread_local struct usage usage_of_thread;
#endif
