/* What a thread has used so far: memory of arenas and arrays, files and their bytes. Counted always; it costs an addition each. */
#ifndef TRIB_BASE_USAGE_H
#define TRIB_BASE_USAGE_H
#include <stddef.h>
#include <stdint.h>

struct usage {
	ptrdiff_t held, peak;               /* bytes of blocks of arenas; it may free blocks of another thread, hence the sign */
	uint64_t allocations;               /* blocks of arenas, and times that an array or buffer grew */
	uint64_t read, written;             /* bytes */
	uint64_t files_read, files_written; /* times that a file was read or written, whole or in part */
};
extern _Thread_local struct usage usage_of_thread;
#endif
