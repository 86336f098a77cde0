/* The transposing kernel of every processor level, for every size of elements and odd shapes, up to the end of pages; and the tiles that it passes to
 * epilogues. */
#include "tests/unit/backend/link/elf/link_fixture.h"
#include "backend/link/elf/object.h"
#include "backend/runtime/abi/unit.h"
#include "base/arena.h"
#include "tests/diff/guarded.h"

enum { CONTEXT_BYTES = 4096, MOST_ROWS = 120, MOST_COLUMNS = 130 };

struct level {
	tri_kernel_fn *transpose;
	tri_epilogue_fn *by_columns;
	void *context;
};

static void check_shape(const struct level *l, int64_t batch, int64_t rows, int64_t columns, int64_t size)
{
	int64_t n = batch * rows * columns;
	struct guarded x = guarded_new((size_t)(n * size)), y = guarded_new((size_t)(n * size));
	for (int64_t k = 0; k < n * size; k++)
		x.data[k] = (char)(k * 2654435761 >> 13);
	l->transpose(l->context, (void *[]){x.data, y.data}, (int64_t[]){batch, rows, columns, size}, NULL);
	for (int64_t k = 0; k < n; k++) {
		int64_t b = k / (rows * columns), r = k / columns % rows, c = k % columns;
		if (memcmp(x.data + k * size, y.data + ((b * columns + c) * rows + r) * size, (size_t)size) != 0)
			fail_msg("[%d, %d, %d] of %d bytes: element %d is elsewhere", (int)batch, (int)rows, (int)columns, (int)size,
				 (int)k);
	}
	munmap(x.pages, x.all);
	munmap(y.pages, y.all);
}

/* What the epilogue was given. */
struct seen {
	struct tri_epilogue e;
	uint32_t at[MOST_ROWS][MOST_COLUMNS], times[MOST_ROWS][MOST_COLUMNS];
};

static void note(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows, int64_t columns)
{
	struct seen *s = (struct seen *)(uintptr_t)e;
	const uint32_t *from = tile;
	assert_int_equal(at[0], 5);
	for (int64_t r = 0; r < rows; r++)
		for (int64_t c = 0; c < columns; c++) {
			s->at[at[1] - 7 + r][at[2] - 9 + c] = from[c * stride + r];
			s->times[at[1] - 7 + r][at[2] - 9 + c]++;
		}
}

static void check_tile(const struct level *l, int64_t rows, int64_t columns)
{
	static struct seen s;
	static uint32_t tile[MOST_ROWS][MOST_COLUMNS];
	memset(&s, 0, sizeof s);
	s.e.by_columns = note;
	for (uint32_t k = 0; k < MOST_ROWS * MOST_COLUMNS; k++)
		tile[k / MOST_COLUMNS][k % MOST_COLUMNS] = k;
	l->by_columns(&s.e, tile, MOST_COLUMNS, (int64_t[]){5, 7, 9}, rows, columns);
	for (int64_t r = 0; r < rows; r++)
		for (int64_t c = 0; c < columns; c++) {
			assert_int_equal(s.times[r][c], 1);
			assert_int_equal(s.at[r][c], tile[r][c]);
		}
}

static void check_level(struct arena *a, enum runtime_level level)
{
	static const char *const names[] = {"tri_transpose", "tri_epilogue_by_columns", "tri_context_init", "tri_context_end"};
	static const int64_t sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 48, 49, 64, 65, 100, MOST_ROWS};
	enum { N = sizeof sizes / sizeof *sizes };
	struct object *objects[MOST_OBJECTS];
	struct level l;
	void (*init)(void *ctx, uint32_t threads), (*end)(void *ctx);
	if (!level_runs(level))
		return;
	void *library = link_open(a, objects, runtime_parse(a, level, objects), names, 4);
	*(void **)&l.transpose = symbol(library, names[0]);
	*(void **)&l.by_columns = symbol(library, names[1]);
	*(void **)&init = symbol(library, names[2]);
	*(void **)&end = symbol(library, names[3]);
	init(l.context = arena_alloc(a, CONTEXT_BYTES, 64), 2);
	for (int64_t size = 1; size <= 8; size *= 2)
		for (int k = 0; k < N * N; k++)
			check_shape(&l, 1 + k % 3, sizes[k / N], sizes[k % N], size);
	check_shape(&l, 2, 3, 100000, 4);
	check_shape(&l, 1, 0, 5, 4);
	for (int k = 0; k < N * N; k++)
		check_tile(&l, sizes[k / N], sizes[k % N]);
	end(l.context);
	dlclose(library);
}

static void test_every_level(void **state)
{
	struct arena *a = arena_new(0);
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++)
		check_level(a, level);
	arena_free(a);
}

int test_transpose(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_level)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
