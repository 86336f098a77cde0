/* A growable array: a struct of pointer, length and capacity, malloc-backed. `VEC(int) v = {0}; vec_push(&v, 3); vec_free(&v);` */
#ifndef TRIB_BASE_VEC_H
#define TRIB_BASE_VEC_H
#include <stddef.h>
#include <stdint.h>

#define VEC(T)                     \
	struct {                   \
		T *at;             \
		uint32_t len, cap; \
	}

/* Makes room for `need` elements in all; aborts when out of memory. */
void vec_grow_raw(void **at, uint32_t *cap, uint32_t need, size_t elem_size);

#define vec_reserve(v, need) ((need) > (v)->cap ? vec_grow_raw((void **)&(v)->at, &(v)->cap, (uint32_t)(need), sizeof *(v)->at) : (void)0)
#define vec_push(v, x) (vec_reserve((v), (v)->len + 1), (v)->at[(v)->len++] = (x))
/* Frees the elements and leaves an empty array. */
#define vec_free(v) (vec_free_raw((v)->at), (v)->at = NULL, (v)->len = (v)->cap = 0)
void vec_free_raw(void *at);
#endif
