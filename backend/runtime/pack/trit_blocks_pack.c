/* Packs TRIT_BLOCKS. This file is also part of trib, which packs weights when it links a model. */
#include "backend/runtime/pack/trit_blocks.h"
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/pack/trit2.h"

/* Times for a row of x, if it is the only one and if there are many, in units of what the kernel of TRIT2 needs for four rows and 32 columns of
 * w. `scripts/bench sparsity` measures and prints them; these are of a Zen 4 core. */
static const struct cost {
	double block, panel, row; /* row: of x, if some are left out */
} one_cost = {1.77, 18, 0.6}, many_cost = {1.0, 8, 0.6};
static const struct list_cost {
	double step, panel;
} one_list = {6.0, 32}, many_list = {4.55, 9};
static const double least_zeros = 0.75; /* with more other trits lists are larger than TRIT2 */
static const float most_share = 0.95f;  /* of the time of TRIT2 for one row, which gains least */

/* What is not zero, and how to pack it. */
struct survey {
	const struct tri_blocks_source *s;
	int64_t panels, quads, steps, rows;
	uint32_t *used; /* of tri_trit2_zeros */
	uint8_t *some;  /* [panel][number of four rows]: the block is not all zero */
	uint32_t *kept; /* the rows that are multiplied */
	uint64_t blocks;
	struct tri_zeros zeros;
};

static int64_t trit_blocks_pack_panels_of(int64_t N) { return (N + TRI_BLOCK_COLUMNS - 1) / TRI_BLOCK_COLUMNS; }
static uint64_t trit_blocks_pack_aligned(uint64_t n) { return (n + 63) / 64 * 64; }

size_t tri_blocks_size(int64_t K, int64_t N) { return sizeof(struct tri_blocks) + tri_trit2_packed_size(K, N); }

static double trit_blocks_pack_share(const struct survey *v, const struct cost *c)
{
	double panels = c->panel * (double)v->panels, rows = v->rows < v->s->K ? c->row * (double)v->rows : 0;
	return (c->block * (double)v->blocks + panels + rows) / ((double)(v->panels * v->quads) + panels);
}

static int is_row_used(const struct survey *v, int64_t k)
{
	int used = 0;
	for (int64_t p = 0; p < v->panels && !used; p++)
		used = tri_trit2_row_used(v->used[p * v->steps + k / TRI_TRIT2_STEP], k % TRI_TRIT2_STEP);
	return used;
}

/* Finds the blocks that are not zero. Unused rows are left out if `leaves_out`. */
static void find_blocks(struct survey *v, int leaves_out)
{
	memset(v->some, 0, (size_t)(v->panels * v->quads));
	v->rows = 0;
	v->blocks = 0;
	for (int64_t k = 0; k < v->s->K; k++)
		if (!leaves_out || is_row_used(v, k))
			v->kept[v->rows++] = (uint32_t)k;
	for (int64_t p = 0; p < v->panels; p++) {
		const uint32_t *used = v->used + p * v->steps;
		uint8_t *some = v->some + p * v->quads;
		uint64_t n = 0;
		if (v->rows == v->s->K)
			for (int64_t q = 0; q < v->quads; q++)
				some[q] = (uint8_t)tri_trit2_quad_used(used[q / 4], q % 4);
		else
			for (int64_t r = 0; r < v->rows; r++)
				some[r / TRI_BLOCK_ROWS] |=
					(uint8_t)tri_trit2_row_used(used[v->kept[r] / TRI_TRIT2_STEP], v->kept[r] % TRI_TRIT2_STEP);
		for (int64_t q = 0; q < v->quads; q++)
			n += some[q];
		v->blocks += (n + 3) / 4 * 4;
	}
}

/* Decides whether rows are left out. */
static void survey(struct survey *v)
{
	find_blocks(v, 0);
	double all = trit_blocks_pack_share(v, &one_cost);
	if (!v->zeros.rows)
		return;
	find_blocks(v, 1);
	if (trit_blocks_pack_share(v, &one_cost) >= all)
		find_blocks(v, 0);
}

/* The header of TRIT2. */
static struct tri_blocks trit_blocks_pack_describe(const struct survey *v)
{
	return (struct tri_blocks){.rows = (uint32_t)v->rows,
				   .blocks = (uint32_t)v->blocks,
				   .blocks_one = (float)trit_blocks_pack_share(v, &one_cost),
				   .blocks_many = (float)trit_blocks_pack_share(v, &many_cost),
				   .zeros = v->zeros};
}

/* Places the parts behind the header; returns the size. */
static uint64_t trit_blocks_pack_place(const struct survey *v, struct tri_blocks *h)
{
	h->form = TRI_BLOCKS;
	h->first = sizeof *h;
	h->starts = trit_blocks_pack_aligned(h->first + (uint64_t)(v->panels + 1) * 4);
	uint64_t end = h->starts + (uint64_t)v->panels * TRI_BLOCK_COLUMNS * 4;
	h->kept = v->rows < v->s->K ? end : 0;
	h->at = trit_blocks_pack_aligned(end + (h->kept ? (uint64_t)v->rows * 4 : 0));
	h->data = trit_blocks_pack_aligned(h->at + v->blocks * 4);
	return h->data + v->blocks * TRI_BLOCK_BYTES;
}

static double list_share(const struct survey *v, uint32_t steps, const struct list_cost *c, const struct cost *dense)
{
	int64_t panels = (v->s->N + TRI_LIST_COLUMNS - 1) / TRI_LIST_COLUMNS;
	return (c->step * (double)steps + c->panel * (double)panels) / ((double)(v->panels * v->quads) + dense->panel * (double)v->panels);
}

static void describe_lists(const struct survey *v, struct tri_blocks *h)
{
	if ((double)v->zeros.trits < least_zeros * (double)v->s->K * (double)v->s->N)
		return;
	h->steps = tri_lists_steps(v->s);
	h->lists_one = (float)list_share(v, h->steps, &one_list, &one_cost);
	h->lists_many = (float)list_share(v, h->steps, &many_list, &many_cost);
}

/* Packs block `number`, rows 4q … of the kept ones. */
static void trit_blocks_pack_block(const struct survey *v, int64_t panel, int64_t q, uint32_t number, int32_t *starts, uint8_t *data)
{
	const struct tri_blocks_source *s = v->s;
	uint8_t *step = data + (uint64_t)(number / 4) * 4 * TRI_BLOCK_BYTES;
	for (int64_t j = 0; j < TRI_BLOCK_ROWS; j++)
		for (int64_t c = 0; c < TRI_BLOCK_COLUMNS; c++) {
			int64_t n = panel * TRI_BLOCK_COLUMNS + c, row = q * TRI_BLOCK_ROWS + j;
			int t = q >= 0 && row < v->rows && n < s->N ? s->w[(int64_t)v->kept[row] * s->k_step + n * s->n_step] : 0;
			step[c / TRI_TRIT2_LANES * TRI_TRIT2_BLOCK + c % TRI_TRIT2_LANES * 4 + j] |= (uint8_t)((t + 1) << 2 * (number % 4));
			starts[c] -= 128 * t;
		}
}

static void pack_sparse(const struct survey *v, const struct tri_blocks *h, char *out)
{
	uint32_t *first = (uint32_t *)(void *)(out + h->first), b = 0;
	int32_t *starts = (int32_t *)(void *)(out + h->starts), *at = (int32_t *)(void *)(out + h->at);
	if (h->kept)
		memcpy(out + h->kept, v->kept, (size_t)v->rows * sizeof *v->kept);
	for (int64_t p = 0; p < v->panels; p++, starts += TRI_BLOCK_COLUMNS) {
		first[p] = b;
		for (int64_t q = 0; q < v->quads; q++)
			if (v->some[p * v->quads + q]) {
				at[b] = (int32_t)(q * TRI_BLOCK_ROWS);
				trit_blocks_pack_block(v, p, q, b++, starts, (uint8_t *)out + h->data);
			}
		for (; b % 4; b++)
			trit_blocks_pack_block(v, p, -1, b, starts, (uint8_t *)out + h->data);
	}
	first[v->panels] = b;
}

static void pack_dense(const struct tri_blocks_source *s, void *out)
{
	if (s->n_step == 1)
		tri_trit2_pack(s->w, s->K, s->N, out);
	else
		tri_trit2_pack_transposed(s->w, s->K, s->N, out);
}

static void pack_form(const struct survey *v, const struct tri_blocks *h, void *out)
{
	memset(out, 0, tri_blocks_size(v->s->K, v->s->N));
	memcpy(out, h, sizeof *h);
	if (h->form == TRI_LISTS)
		tri_lists_pack(v->s, out);
	else
		pack_sparse(v, h, out);
}

/* Places the faster one of blocks and lists if it is faster than TRIT2, and not larger. */
static void trit_blocks_pack_choose(const struct survey *v, struct tri_blocks *h)
{
	const struct tri_blocks dense = *h;
	const uint64_t most = tri_blocks_size(v->s->K, v->s->N);
	if (v->s->K > TRI_BLOCKS_MOST_K)
		return;
	if (h->lists_one > 0 && h->lists_one < h->blocks_one && h->lists_one < most_share && tri_lists_place(v->s, h) <= most)
		return;
	*h = dense;
	if (h->blocks_one >= most_share || trit_blocks_pack_place(v, h) > most)
		*h = dense;
}

/* Zeros are found in the dense form: it has a quarter of the bytes. */
void tri_blocks_pack(const struct tri_blocks_source *s, _Bool lists, void *out)
{
	struct survey v = {
		.s = s, .panels = trit_blocks_pack_panels_of(s->N), .quads = (s->K + 3) / TRI_BLOCK_ROWS, .steps = tri_trit2_steps(s->K)};
	struct tri_blocks h;
	v.used = malloc((size_t)(v.panels * v.steps + 1) * sizeof *v.used);
	v.some = malloc((size_t)(v.panels * v.quads) + 1);
	v.kept = malloc(((size_t)s->K + 1) * sizeof *v.kept);
	pack_dense(s, (char *)out + sizeof h);
	memset(out, 0, sizeof h);
	if (v.used && v.some && v.kept && s->K > 0 && s->N > 0) {
		tri_trit2_zeros((char *)out + sizeof h, s->K, s->N, v.used, &v.zeros);
		survey(&v);
		h = trit_blocks_pack_describe(&v);
		if (lists)
			describe_lists(&v, &h);
		trit_blocks_pack_choose(&v, &h);
		memcpy(out, &h, sizeof h);
		if (h.form != TRI_DENSE)
			pack_form(&v, &h, out);
	}
	free(v.used), free(v.some), free(v.kept);
}

static void unpack_dense(const uint8_t *packed, int64_t K, int64_t N, int8_t *w)
{
	for (int64_t k = 0; k < K; k++)
		for (int64_t n = 0; n < N; n++) {
			int64_t panel = n / TRI_TRIT2_PANEL, half = n % TRI_TRIT2_PANEL / TRI_TRIT2_LANES;
			const uint8_t *block = packed + tri_trit2_offset(K, panel) +
					       (k / TRI_TRIT2_STEP * tri_trit2_halves(N, panel) + half) * TRI_TRIT2_BLOCK;
			w[k * N + n] = (int8_t)((block[n % TRI_TRIT2_LANES * 4 + k % 4] >> k % TRI_TRIT2_STEP / 4 * 2 & 3) - 1);
		}
}

void tri_blocks_unpack(const void *packed, int64_t K, int64_t N, int8_t *w)
{
	const struct tri_blocks *h = packed;
	const uint32_t *first = tri_blocks_part(h, h->first), *kept = tri_blocks_part(h, h->kept);
	const int32_t *at = tri_blocks_part(h, h->at);
	const uint8_t *data = tri_blocks_part(h, h->data);
	if (h->form != TRI_BLOCKS) {
		if (h->form == TRI_LISTS)
			tri_lists_unpack(packed, K, N, w);
		else
			unpack_dense((const uint8_t *)packed + sizeof *h, K, N, w);
		return;
	}
	memset(w, 0, (size_t)(K * N));
	for (int64_t p = 0; p < trit_blocks_pack_panels_of(N); p++)
		for (uint32_t b = first[p]; b < first[p + 1]; b++)
			for (int64_t i = 0; i < TRI_BLOCK_ROWS * TRI_BLOCK_COLUMNS; i++) {
				int64_t c = i % TRI_BLOCK_COLUMNS, j = i / TRI_BLOCK_COLUMNS, row = at[b] + j,
					n = p * TRI_BLOCK_COLUMNS + c;
				int64_t step = (int64_t)(b / 4) * 4 * TRI_BLOCK_BYTES;
				int code = data[step + c / 16 * TRI_TRIT2_BLOCK + c % 16 * 4 + j] >> 2 * (b % 4) & 3;
				if (row < h->rows && n < N && code != 1)
					w[(h->kept ? kept[row] : row) * N + n] = (int8_t)(code - 1);
			}
}
