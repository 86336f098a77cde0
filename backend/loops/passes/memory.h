/* Private to this folder: lifetimes of buffers. */
#ifndef TRIB_BACKEND_LOOPS_PASSES_MEMORY_H
#define TRIB_BACKEND_LOOPS_PASSES_MEMORY_H
struct loop_fn;

/* Sets the lifetimes of all buffers. */
void loops_find_lifetimes(struct loop_fn *f);
#endif
