/* Blocks of 16 bytes × 16 bytes are transposed in registers: log2(n) times, rows i and i + n/2 of n rows are interleaved. */
#include "backend/runtime/kernels/transpose.h"
#include <string.h>
#include "backend/runtime/kernels/kernel.h"

enum { VECTOR = 16, LINE = 64, TASK_BYTES = 1 << 16 };

typedef uint8_t v1 __attribute__((vector_size(VECTOR)));
typedef uint16_t v2 __attribute__((vector_size(VECTOR)));
typedef uint32_t v4 __attribute__((vector_size(VECTOR)));
typedef uint64_t v8 __attribute__((vector_size(VECTOR)));

#define LOW1 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH1 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LOW2 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH2 4, 12, 5, 13, 6, 14, 7, 15
#define LOW4 0, 4, 1, 5
#define HIGH4 2, 6, 3, 7
#define LOW8 0, 2
#define HIGH8 1, 3

/* Defines block_SIZE, which transposes N × N elements of SIZE bytes. */
#define BLOCK(SIZE, N)                                                                                   \
	TRI_INLINE void block_##SIZE(const char *x, int64_t ldx, char *y, int64_t ldy)                   \
	{                                                                                                \
		v##SIZE a[N], b[N];                                                                      \
		_Pragma("GCC unroll 16") for (int i = 0; i < N; i++) memcpy(&a[i], x + i * ldx, VECTOR); \
		_Pragma("GCC unroll 4") for (int step = 1; step < N; step *= 2)                          \
		{                                                                                        \
			_Pragma("GCC unroll 8") for (int i = 0; i < N / 2; i++)                          \
			{                                                                                \
				b[2 * i] = __builtin_shufflevector(a[i], a[i + N / 2], LOW##SIZE);       \
				b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + N / 2], HIGH##SIZE);  \
			}                                                                                \
			_Pragma("GCC unroll 16") for (int i = 0; i < N; i++) a[i] = b[i];                \
		}                                                                                        \
		_Pragma("GCC unroll 16") for (int i = 0; i < N; i++) memcpy(y + i * ldy, &a[i], VECTOR); \
	}
BLOCK(1, 16)
BLOCK(2, 8)
BLOCK(4, 4)
BLOCK(8, 2)

TRI_INLINE void element(char *y, const char *x, int64_t size)
{
	switch (size) {
	case 1: *y = *x; return;
	case 2: memcpy(y, x, 2); return;
	case 4: memcpy(y, x, 4); return;
	default: memcpy(y, x, 8);
	}
}

/* What blocks do not cover: rows and columns from (r0, c0) on. ldx, ldy in bytes. */
TRI_INLINE void elements(const char *x, int64_t ldx, char *y, int64_t ldy, const int64_t from[2], const int64_t to[2], int64_t size)
{
	for (int64_t c = from[1]; c < to[1]; c++)
		for (int64_t r = from[0]; r < to[0]; r++)
			element(y + c * ldy + r * size, x + r * ldx + c * size, size);
}

/* Columns are taken a cache line at a time, so that lines of x are read once; then rows, so that lines of y are written once. */
TRI_INLINE void transpose(const char *x, int64_t ldx, char *y, int64_t ldy, int64_t rows, int64_t columns, int64_t size,
			  void (*block)(const char *, int64_t, char *, int64_t))
{
	int64_t n = VECTOR / size, whole_rows = rows / n * n, whole_columns = columns / n * n, line = LINE / size;
	for (int64_t c0 = 0; c0 < whole_columns; c0 += line)
		for (int64_t r = 0; r < whole_rows; r += n)
			for (int64_t c = c0; c < c0 + line && c < whole_columns; c += n)
				block(x + r * ldx + c * size, ldx, y + c * ldy + r * size, ldy);
	elements(x, ldx, y, ldy, (int64_t[]){whole_rows, 0}, (int64_t[]){rows, whole_columns}, size);
	elements(x, ldx, y, ldy, (int64_t[]){0, whole_columns}, (int64_t[]){rows, columns}, size);
}

/* Three rows of 4 bytes, as the colours of an image, to dense columns. */
static void three_rows(const char *x, int64_t ldx, char *y, int64_t columns)
{
	int64_t i = 0;
	for (; i + 4 <= columns; i += 4) {
		v4 a, b, c;
		memcpy(&a, x + i * 4, VECTOR);
		memcpy(&b, x + ldx + i * 4, VECTOR);
		memcpy(&c, x + 2 * ldx + i * 4, VECTOR);
		v4 first = __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 4, 1, 5), c, 0, 1, 4, 2);
		v4 second = __builtin_shufflevector(__builtin_shufflevector(b, c, 1, 5, 2, 6), a, 0, 1, 6, 2);
		v4 third = __builtin_shufflevector(c, __builtin_shufflevector(a, b, 3, 7, 3, 7), 2, 4, 5, 3);
		memcpy(y + i * 12, &first, VECTOR);
		memcpy(y + i * 12 + VECTOR, &second, VECTOR);
		memcpy(y + i * 12 + 2 * VECTOR, &third, VECTOR);
	}
	elements(x, ldx, y, 12, (int64_t[]){0, i}, (int64_t[]){3, columns}, 4);
}

void tri_transpose_matrix(const void *x, int64_t ldx, void *y, int64_t ldy, int64_t rows, int64_t columns, int64_t size)
{
	switch (size) {
	case 1: transpose(x, ldx, y, ldy, rows, columns, 1, block_1); return;
	case 2: transpose(x, ldx * 2, y, ldy * 2, rows, columns, 2, block_2); return;
	case 4:
		if (rows == 3 && ldy == 3)
			three_rows(x, ldx * 4, y, columns);
		else
			transpose(x, ldx * 4, y, ldy * 4, rows, columns, 4, block_4);
		return;
	default: transpose(x, ldx * 8, y, ldy * 8, rows, columns, 8, block_8);
	}
}

/* ---- the kernel ---- */

struct job {
	const char *x;
	char *y;
	int64_t rows, columns, size;
	int64_t strip, strips; /* columns of a task, tasks of a matrix */
};

static void transpose_task(void *arg, int64_t i)
{
	const struct job *job = arg;
	int64_t matrix = i / job->strips * job->rows * job->columns * job->size, c = i % job->strips * job->strip;
	int64_t columns = job->columns - c < job->strip ? job->columns - c : job->strip;
	tri_transpose_matrix(job->x + matrix + c * job->size, job->columns, job->y + matrix + c * job->rows * job->size, job->rows,
			     job->rows, columns, job->size);
}

void tri_transpose(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue)
{
	const struct tri_transpose_dims *d = tri_transpose_of(dims);
	struct job job = {bufs[0], bufs[1], d->rows, d->columns, d->size, 0, 0};
	int64_t line = LINE / job.size;
	(void)epilogue;
	if (d->batch <= 0 || job.rows <= 0 || job.columns <= 0)
		return;
	job.strip = (TASK_BYTES / (job.rows * job.size) / line + 1) * line;
	job.strips = (job.columns + job.strip - 1) / job.strip;
	tri_parallel(ctx, transpose_task, &job, d->batch * job.strips);
}

/* ---- tiles of epilogues ---- */

void tri_epilogue_by_columns(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows,
			     int64_t columns)
{
	enum { ROWS = 32, MOST_ROWS = 48, COLUMNS = 64 }; /* whole vectors: only the last part may have fewer than ROWS */
	_Alignas(LINE) uint32_t part[COLUMNS][MOST_ROWS];
	for (int64_t c = 0; c < columns; c += COLUMNS)
		for (int64_t r = 0, n; r < rows; r += n) {
			int64_t width = columns - c < COLUMNS ? columns - c : COLUMNS;
			n = rows - r <= MOST_ROWS ? rows - r : ROWS;
			tri_transpose_matrix((const uint32_t *)tile + r * stride + c, stride, part, MOST_ROWS, n, width, sizeof part[0][0]);
			e->by_columns(e, part, MOST_ROWS, (int64_t[]){at[0], at[1] + r, at[2] + c}, n, width);
		}
}
