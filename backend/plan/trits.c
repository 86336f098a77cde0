/* Packed trits, and the counts of their zeros. A struct tri_zeros follows the trits; TRIT_BLOCKS and TRIT_LISTS have it in their header. */
#include "backend/plan/trits.h"
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/kernels/conv.h"
#include "backend/runtime/pack/trit1_6.h"
#include "backend/runtime/pack/trit2.h"
#include "backend/runtime/pack/trit_blocks.h"
#include "backend/runtime/pack/trit_planes.h"
#include "base/bug.h"

enum { ZEROS_BYTES = 64 }; /* so that packed weights remain whole cache lines */
_Static_assert(sizeof(struct tri_zeros) <= ZEROS_BYTES, "zeros behind packed trits");

/* The matrix [K, N] that is packed. */
struct matrix {
	const struct tensor *t;
	bool is_transposed;
	int64_t K, N;
};

/* Rows of the matrix that the weights [O, C, KH, KW] of a convolution are packed as: KH runs. */
static int64_t window_run(const struct tensor *t) { return tri_conv_run(t->dims[1], t->dims[3]); }
static int64_t window_terms(const struct tensor *t) { return t->dims[2] * window_run(t); }

bool layout_has_indices(enum layout layout) { return layout == LAYOUT_TRIT_BLOCKS || layout == LAYOUT_TRIT_LISTS; }

bool trits_are_matrix(enum layout layout)
{
	return layout == LAYOUT_TRIT2 || layout == LAYOUT_TRIT1_6 || layout_has_indices(layout) || layout == LAYOUT_PLANES;
}

static struct matrix trits_matrix_of(enum layout layout, const struct tensor *t, bool is_transposed)
{
	if (layout == LAYOUT_TRIT2_WINDOWS)
		return (struct matrix){t, false, window_terms(t), t->dims[0]};
	return (struct matrix){t, is_transposed, t->dims[is_transposed], t->dims[!is_transposed]};
}

/* Without the zeros behind. */
static size_t trits_size_of(enum layout layout, const struct matrix *m)
{
	switch (layout) {
	case LAYOUT_TRIT2:
	case LAYOUT_TRIT2_WINDOWS: return tri_trit2_packed_size(m->K, m->N);
	case LAYOUT_TRIT1_6: return tri_trit1_6_packed_size(m->K, m->N);
	case LAYOUT_TRIT_BLOCKS:
	case LAYOUT_TRIT_LISTS: return tri_blocks_size(m->K, m->N);
	case LAYOUT_PLANES: return tri_planes_size(m->K, m->N);
	default: BUG("layout");
	}
}

static size_t with_zeros(enum layout layout, size_t n) { return n && !layout_has_indices(layout) ? n + ZEROS_BYTES : n; }

size_t trits_packed_size(enum layout layout, const struct tensor *t)
{
	struct matrix m = trits_matrix_of(layout, t, false);
	return with_zeros(layout, trits_size_of(layout, &m));
}

/* Counts the zeros of TRIT2. Returns which rows are used (tri_trit2_zeros); the caller frees that. */
static uint32_t *find_zeros(const struct matrix *m, const void *trit2, struct tri_zeros *out)
{
	uint32_t *used = malloc((size_t)(tri_trit2_panels(m->N) * tri_trit2_steps(m->K) + 1) * sizeof *used);
	BUG_ON(!used);
	tri_trit2_zeros(trit2, m->K, m->N, used, out);
	return used;
}

static void pack_trit2(const struct matrix *m, void *out, struct tri_zeros *zeros)
{
	(m->is_transposed ? tri_trit2_pack_transposed : tri_trit2_pack)(m->t->data, m->K, m->N, out);
	free(find_zeros(m, out, zeros));
}

/* TRIT1_6 is made of TRIT2, and the zeros of PLANES are found in it. */
static void pack_by_trit2(enum layout layout, const struct matrix *m, void *out, struct tri_zeros *zeros)
{
	void *trit2 = malloc(tri_trit2_packed_size(m->K, m->N) + 1);
	BUG_ON(!trit2);
	pack_trit2(m, trit2, zeros);
	if (layout == LAYOUT_TRIT1_6)
		tri_trit1_6_pack(trit2, m->K, m->N, out);
	else
		tri_planes_pack(
			&(struct tri_planes_source){m->t->data, m->K, m->N, m->is_transposed ? 1 : m->N, m->is_transposed ? m->K : 1}, out);
	free(trit2);
}

/* Zeros that pad runs are no trits. The rows of a convolution are its input channels. */
static void find_window_zeros(const struct matrix *m, const void *packed, struct tri_zeros *zeros)
{
	const struct tensor *t = m->t;
	int64_t channels = t->dims[1], run = window_run(t), steps = tri_trit2_steps(m->K), panels = tri_trit2_panels(m->N);
	uint32_t *used = find_zeros(m, packed, zeros);
	zeros->trits -= (uint64_t)((run - channels * t->dims[3]) * t->dims[2] * m->N);
	zeros->rows = 0;
	for (int64_t c = 0; c < channels; c++) {
		bool some = false;
		for (int64_t i = 0; i < t->dims[2] * t->dims[3] * panels && !some; i++) {
			int64_t tap = i / panels, k = tap / t->dims[3] * run + tap % t->dims[3] * channels + c;
			some = tri_trit2_row_used(used[i % panels * steps + k / TRI_TRIT2_STEP], k % TRI_TRIT2_STEP);
		}
		zeros->rows += !some;
	}
	free(used);
}

static void pack_windows(const struct matrix *m, void *out, struct tri_zeros *zeros)
{
	const struct tensor *t = m->t;
	int64_t n = t->dims[0], terms = window_terms(t), run = window_run(t), size = t->dims[1] * t->dims[3], lines = n * t->dims[2];
	int8_t *last = malloc((size_t)(lines * size) + 1), *padded = calloc((size_t)(lines * run) + 1, 1),
	       *matrix = malloc((size_t)(n * terms) + 1);
	BUG_ON(!last || !padded || !matrix);
	layout_swap(t->data, n, t->dims[1], t->dims[2] * t->dims[3], 1, (char *)last);
	for (int64_t l = 0; l < lines; l++)
		memcpy(padded + l * run, last + l * size, (size_t)size);
	layout_swap((const char *)padded, 1, n, terms, 1, (char *)matrix);
	tri_trit2_pack(matrix, terms, n, out);
	find_window_zeros(m, out, zeros);
	free(last);
	free(padded);
	free(matrix);
}

static void pack_blocks(enum layout layout, const struct matrix *m, void *out)
{
	struct tri_blocks_source s = {m->t->data, m->K, m->N, m->is_transposed ? 1 : m->N, m->is_transposed ? m->K : 1};
	tri_blocks_pack(&s, layout == LAYOUT_TRIT_LISTS, out);
}

void trits_pack(enum layout layout, const struct tensor *t, bool is_transposed, void *out)
{
	struct matrix m = trits_matrix_of(layout, t, is_transposed);
	struct tri_zeros zeros = {0};
	switch (layout) {
	case LAYOUT_TRIT2: pack_trit2(&m, out, &zeros); break;
	case LAYOUT_TRIT2_WINDOWS: pack_windows(&m, out, &zeros); break;
	case LAYOUT_TRIT_BLOCKS:
	case LAYOUT_TRIT_LISTS: pack_blocks(layout, &m, out); return;
	default: pack_by_trit2(layout, &m, out, &zeros); break;
	}
	char *behind = (char *)out + trits_size_of(layout, &m);
	memset(behind, 0, ZEROS_BYTES);
	memcpy(behind, &zeros, sizeof zeros);
}

bool layout_describe_trits(enum layout layout, const struct tensor *t, const void *packed, struct packed_trits *out)
{
	static const char *const forms[] = {[TRI_DENSE] = "dense", [TRI_BLOCKS] = "blocks", [TRI_LISTS] = "lists"};
	const struct tri_blocks *blocks = packed;
	struct tri_zeros zeros = {0};
	bool is_plain = layout == LAYOUT_PLAIN;
	*out = (struct packed_trits){.form = is_plain ? "bytes" : forms[TRI_DENSE]};
	if (t->elem != DT_TRIT || !tensor_count(t) || !(is_plain || trits_are_matrix(layout) || layout == LAYOUT_TRIT2_WINDOWS))
		return false;
	if (layout_has_indices(layout) && blocks->form > TRI_LISTS) /* the file was damaged after it was written */
		return false;
	if (is_plain) {
		for (int64_t i = 0; i < tensor_count(t); i++)
			out->zeros += !((const int8_t *)packed)[i];
		return true;
	}
	struct matrix m = trits_matrix_of(layout, t, false);
	if (layout_has_indices(layout)) {
		zeros = blocks->zeros;
		out->blocks_one = blocks->blocks_one;
		out->blocks_many = blocks->blocks_many;
		out->lists_one = blocks->lists_one;
		out->lists_many = blocks->lists_many;
		out->form = forms[blocks->form];
	} else {
		memcpy(&zeros, (const char *)packed + trits_size_of(layout, &m), sizeof zeros);
	}
	out->zeros = zeros.trits;
	out->zero_rows = zeros.rows;
	out->zero_columns = zeros.columns;
	out->zero_blocks = zeros.blocks;
	out->blocks = (uint32_t)(tri_trit2_quads(m.K) * (uint64_t)tri_trit2_panels(m.N));
	return true;
}
