/* The micro-kernels of every processor level against naive loops: random shapes, guarded memory on both ends of each buffer, any number
 * of threads. */
#include "tests/unit/backend/link/link_fixture.h"
#include "backend/link/object.h"
#include "base/arena.h"
#include <math.h>
#include <sys/mman.h>
#include "backend/runtime/conv.h"
#include "backend/runtime/f32_panels.h"
#include "backend/runtime/trit2.h"
#include "backend/runtime/unit.h"

enum { CONTEXT_BYTES = 4096 };

struct kernels {
	void *library;
	tri_kernel_fn *i8_trit2, *f32_trit2, *f32, *f32_panels, *conv_i8_trit2, *conv_f32, *conv_f32_trit2, *depthwise_f32,
		*depthwise_i8_trit2;
	void (*init)(void *ctx, uint32_t threads);
	void (*end)(void *ctx);
};

static bool kernels_open(struct arena *a, enum runtime_level level, struct kernels *k)
{
	static const char *const names[] = {"tri_matmul_i8_trit2", "tri_matmul_f32_trit2", "tri_matmul_f32",        "tri_context_init",
					    "tri_context_end",     "tri_conv_i8_trit2",    "tri_conv_f32",          "tri_matmul_f32_panels",
					    "tri_depthwise_f32",   "tri_conv_f32_trit2",   "tri_depthwise_i8_trit2"};
	struct object *objects[32];
	if (!level_runs(level)) {
		print_message("this processor does not run level %d: skipped\n", (int)level);
		return false;
	}
	k->library = link_open(a, objects, runtime_parse(a, level, objects, 32), names, 11);
	*(void **)&k->i8_trit2 = symbol(k->library, names[0]);
	*(void **)&k->f32_trit2 = symbol(k->library, names[1]);
	*(void **)&k->f32 = symbol(k->library, names[2]);
	*(void **)&k->init = symbol(k->library, names[3]);
	*(void **)&k->end = symbol(k->library, names[4]);
	*(void **)&k->conv_i8_trit2 = symbol(k->library, names[5]);
	*(void **)&k->conv_f32 = symbol(k->library, names[6]);
	*(void **)&k->f32_panels = symbol(k->library, names[7]);
	*(void **)&k->depthwise_f32 = symbol(k->library, names[8]);
	*(void **)&k->conv_f32_trit2 = symbol(k->library, names[9]);
	*(void **)&k->depthwise_i8_trit2 = symbol(k->library, names[10]);
	return true;
}

/* n bytes between two inaccessible pages, at the end; `mapped` is for the release. */
struct guarded {
	void *at;
	char *map;
	size_t mapped;
};
static struct guarded guarded(size_t n)
{
	size_t page = 4096, body = (n + page - 1) / page * page;
	struct guarded g = {NULL, NULL, body + 2 * page};
	g.map = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(g.map != MAP_FAILED);
	assert_int_equal(mprotect(g.map, page, PROT_NONE), 0);
	assert_int_equal(mprotect(g.map + page + body, page, PROT_NONE), 0);
	g.at = g.map + page + body - n;
	return g;
}
static void release(struct guarded g) { munmap(g.map, g.mapped); }

static uint64_t seed = 1;
static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32);
}

struct problem {
	int64_t M, K, N;
	struct guarded i8, trits, packed, f32, w32, panels, y, y2;
};
static struct problem problem_new(int64_t M, int64_t K, int64_t N)
{
	size_t mk = (size_t)(M * K), kn = (size_t)(K * N), mn = (size_t)(M * N);
	struct problem p = {M,
			    K,
			    N,
			    guarded(mk),
			    guarded(kn),
			    guarded(tri_trit2_packed_size(K, N)),
			    guarded(4 * mk),
			    guarded(4 * kn),
			    guarded(tri_panels_size(K, N)),
			    guarded(4 * mn),
			    guarded(4 * mn)};
	for (size_t i = 0; i < mk; i++) {
		((int8_t *)p.i8.at)[i] = (int8_t)(rnd() % 8 == 0 ? 0x80u : rnd());
		((float *)p.f32.at)[i] = (float)((int32_t)rnd() % 100000) / 1000.0f;
	}
	for (size_t i = 0; i < kn; i++) {
		((int8_t *)p.trits.at)[i] = (int8_t)(rnd() % 3) - 1;
		((float *)p.w32.at)[i] = (float)((int32_t)rnd() % 100000) / 1000.0f;
	}
	tri_trit2_pack(p.trits.at, K, N, p.packed.at);
	tri_panels_pack(&(struct tri_panels_source){p.w32.at, K, 1, N, {N, 0, 1}}, p.panels.at);
	return p;
}
static void problem_free(struct problem *p)
{
	struct guarded all[] = {p->i8, p->trits, p->packed, p->f32, p->w32, p->panels, p->y, p->y2};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		release(all[i]);
}

static void run(tri_kernel_fn *fn, void *ctx, struct problem *p, void *x, void *w, void *y)
{
	memset(y, 0x5a, (size_t)(4 * p->M * p->N));
	fn(ctx, (void *[]){x, w, y}, (int64_t[]){p->M, p->K, p->N}, NULL);
}

static void check_i8(const struct problem *p)
{
	const int8_t *x = p->i8.at, *w = p->trits.at;
	const int32_t *y = p->y.at;
	for (int64_t m = 0; m < p->M; m++)
		for (int64_t n = 0; n < p->N; n++) {
			int32_t want = 0;
			for (int64_t k = 0; k < p->K; k++)
				want += x[m * p->K + k] * w[k * p->N + n];
			if (y[m * p->N + n] != want)
				fail_msg("i8_trit2 M=%d K=%d N=%d at %d,%d: got %d, want %d", (int)p->M, (int)p->K, (int)p->N, (int)m,
					 (int)n, y[m * p->N + n], want);
		}
}

static void check_float(const struct problem *p, bool trits, const char *name)
{
	const float *x = p->f32.at, *y = p->y.at;
	for (int64_t m = 0; m < p->M; m++)
		for (int64_t n = 0; n < p->N; n++) {
			double want = 0, terms = 0;
			for (int64_t k = 0; k < p->K; k++) {
				double t = (double)x[m * p->K + k] * (trits ? (double)((int8_t *)p->trits.at)[k * p->N + n]
									    : (double)((float *)p->w32.at)[k * p->N + n]);
				want += t;
				terms += fabs(t);
			}
			if (!(fabs(y[m * p->N + n] - want) <= 1e-6 * terms)) /* ten times stricter than promised */
				fail_msg("%s M=%d K=%d N=%d at %d,%d: got %g, want %g", name, (int)p->M, (int)p->K, (int)p->N, (int)m,
					 (int)n, (double)y[m * p->N + n], want);
		}
}

/* Each row computed alone must give the same bits as in a batch. */
static void check_rows(tri_kernel_fn *fn, void *ctx, const struct problem *p, void *x, size_t elem, void *w)
{
	for (int64_t m = 0; m < p->M; m++) {
		fn(ctx, (void *[]){(char *)x + (size_t)(m * p->K) * elem, w, p->y2.at}, (int64_t[]){1, p->K, p->N}, NULL);
		assert_memory_equal(p->y2.at, (char *)p->y.at + 4 * m * p->N, (size_t)(4 * p->N));
	}
}

/* An epilogue that stores tiles in a [rows, columns] result of 4-byte elements, each element once. */
struct stored {
	struct tri_epilogue epilogue;
	int32_t *y;
	int64_t rows, columns;
	_Atomic int64_t elements;
};
static void store_tile(const struct tri_epilogue *e, const void *tile, int64_t stride, const int64_t at[3], int64_t rows, int64_t columns)
{
	struct stored *s = (struct stored *)(uintptr_t)e;
	for (int64_t r = 0; r < rows; r++)
		memcpy(s->y + ((at[0] * s->rows + at[1] + r) * s->columns + at[2]), (const int32_t *)tile + r * stride,
		       (size_t)columns * sizeof(int32_t));
	s->elements += rows * columns;
}

/* The epilogue must get the bits that the kernel stores without one. */
static void check_epilogue(tri_kernel_fn *fn, void *ctx, void *const *bufs, const int64_t *dims, const void *want, int64_t batch,
			   int64_t rows, int64_t columns)
{
	size_t bytes = (size_t)(4 * batch * rows * columns);
	struct guarded y = guarded(bytes);
	struct stored s = {.epilogue = {.fn = store_tile}, .y = y.at, .rows = rows, .columns = columns};
	memset(y.at, 0x5a, bytes);
	fn(ctx, (void *[]){bufs[0], bufs[1], NULL}, dims, &s.epilogue);
	assert_memory_equal(y.at, want, bytes);
	assert_int_equal(s.elements, batch * rows * columns);
	release(y);
}

static void check_problem(const struct kernels *k, void *const *ctx, int64_t M, int64_t K, int64_t N)
{
	struct problem p = problem_new(M, K, N);
	struct {
		tri_kernel_fn *fn;
		void *x, *w;
		size_t elem;
	} all[] = {{k->i8_trit2, p.i8.at, p.packed.at, 1},
		   {k->f32_trit2, p.f32.at, p.packed.at, 4},
		   {k->f32, p.f32.at, p.w32.at, 4},
		   {k->f32_panels, p.f32.at, p.panels.at, 4}};
	for (int i = 0; i < 4; i++) {
		run(all[i].fn, ctx[0], &p, all[i].x, all[i].w, p.y.at);
		if (i == 0)
			check_i8(&p);
		else
			check_float(&p, i == 1, i == 1 ? "f32_trit2" : i == 2 ? "f32" : "f32_panels");
		for (int c = 1; c < 3; c++) {
			run(all[i].fn, ctx[c], &p, all[i].x, all[i].w, p.y2.at);
			assert_memory_equal(p.y.at, p.y2.at, (size_t)(4 * M * N));
		}
		check_epilogue(all[i].fn, ctx[1], (void *[]){all[i].x, all[i].w}, (int64_t[]){M, K, N}, p.y.at, 1, M, N);
		if (M > 1 && M < 40)
			check_rows(all[i].fn, ctx[0], &p, all[i].x, all[i].elem, all[i].w);
	}
	problem_free(&p);
}

/* ---- convolutions ---- */

/* Positions of x for one term, or -1 in the padding. */
static int64_t conv_input(const struct tri_conv *c, int64_t p, int64_t kh, int64_t kw, int64_t *row)
{
	int64_t h = p / c->out_width * c->stride_height - c->pad_top + kh * c->dilation_height;
	int64_t w = p % c->out_width * c->stride_width - c->pad_left + kw * c->dilation_width;
	*row = h;
	return h < 0 || w < 0 || h >= c->height || w >= c->width ? -1 : w;
}

/* The windows of x as a matrix [K, P] of one image, in the order of terms that a kernel has. */
static void conv_windows(const struct tri_conv *c, bool channels_last, const void *x, size_t elem, char *out)
{
	int64_t positions = tri_conv_positions(c), row;
	for (int64_t ch = 0; ch < c->channels; ch++)
		for (int64_t kh = 0; kh < c->kernel_height; kh++)
			for (int64_t kw = 0; kw < c->kernel_width; kw++)
				for (int64_t p = 0; p < positions; p++) {
					int64_t w = conv_input(c, p, kh, kw, &row);
					int64_t term = channels_last ? (kh * c->kernel_width + kw) * c->channels + ch
								     : (ch * c->kernel_height + kh) * c->kernel_width + kw;
					int64_t from = channels_last ? (row * c->width + w) * c->channels + ch
								     : (ch * c->height + row) * c->width + w;
					char *to = out + (size_t)(term * positions + p) * elem;
					if (w < 0)
						memset(to, 0, elem);
					else
						memcpy(to, (const char *)x + (size_t)from * elem, elem);
				}
}

/* One element of a convolution of floats: the sum, and the sum of the magnitudes of its terms. */
struct conv_sum {
	double sum, size;
};
static struct conv_sum conv_sum(const struct tri_conv *c, int64_t channels, const float *x, const float *w, int64_t p, int64_t o)
{
	struct conv_sum s = {0, 0};
	int64_t first = o / (c->out / (c->channels / channels)) * channels, row;
	for (int64_t ch = 0; ch < channels; ch++)
		for (int64_t kh = 0; kh < c->kernel_height; kh++)
			for (int64_t kw = 0; kw < c->kernel_width; kw++) {
				int64_t column = conv_input(c, p, kh, kw, &row);
				double a = column < 0 ? 0 : (double)x[(row * c->width + column) * c->channels + first + ch];
				double term = a * (double)w[((o * channels + ch) * c->kernel_height + kh) * c->kernel_width + kw];
				s.sum += term;
				s.size += fabs(term);
			}
	return s;
}

/* A float kernel against naive sums; any number of threads and the epilogue get the same bits. */
static void check_conv_floats(const struct kernels *k, void *const *ctx, struct tri_conv c, bool depthwise, int64_t groups)
{
	tri_kernel_fn *fn = depthwise ? k->depthwise_f32 : k->conv_f32;
	int64_t dims[16], taps = c.kernel_height * c.kernel_width, positions = tri_conv_positions(&c);
	c.out = depthwise ? c.channels : c.out;
	memcpy(dims, &c, sizeof c);
	int64_t channels = dims[15] = c.channels / groups, terms = taps * channels, image = c.channels * c.height * c.width;
	struct problem w = problem_new(c.out, terms, 1), x = problem_new(c.batch, image, 1);
	size_t bytes = (size_t)(4 * c.batch * c.out * positions);
	struct guarded y = guarded(bytes), again = guarded(bytes), panels = guarded(tri_panels_size(terms, c.out));
	tri_panels_pack(&(struct tri_panels_source){w.f32.at, taps, channels, c.out, {1, taps, terms}}, panels.at);
	memset(y.at, 0x5a, bytes);
	fn(ctx[0], (void *[]){x.f32.at, panels.at, y.at}, dims, NULL);
	for (int64_t i = 0; i < c.batch * positions * c.out; i++) {
		int64_t n = i / (positions * c.out), p = i / c.out % positions, o = i % c.out;
		struct conv_sum want = conv_sum(&c, channels, (float *)x.f32.at + n * image, w.f32.at, p, o);
		if (!(fabs(((float *)y.at)[i] - want.sum) <= 1e-6 * want.size))
			fail_msg("%s: image %d, position %d, channel %d: got %g, want %g", depthwise ? "depthwise" : "conv", (int)n, (int)p,
				 (int)o, (double)((float *)y.at)[i], want.sum);
	}
	for (int i = 1; i < 3; i++) {
		memset(again.at, 0x5a, bytes);
		fn(ctx[i], (void *[]){x.f32.at, panels.at, again.at}, dims, NULL);
		assert_memory_equal(again.at, y.at, bytes);
	}
	check_epilogue(fn, ctx[1], (void *[]){x.f32.at, panels.at}, dims, y.at, c.batch, positions, c.out);
	release(y), release(again), release(panels);
	problem_free(&w), problem_free(&x);
}

/* Packs trits [terms, out]: each line of a window is padded. */
static struct guarded conv_packed(const struct tri_conv *c, const int8_t *trits)
{
	int64_t run = tri_conv_run(c->channels, c->kernel_width), line = c->channels * c->kernel_width, terms = tri_conv_packed_terms(c);
	struct guarded padded = guarded((size_t)(terms * c->out)), packed = guarded(tri_trit2_packed_size(terms, c->out));
	for (int64_t l = 0; l < c->kernel_height; l++)
		memcpy((int8_t *)padded.at + l * run * c->out, trits + l * line * c->out, (size_t)(line * c->out));
	tri_trit2_pack(padded.at, terms, c->out, packed.at);
	release(padded);
	return packed;
}

static void check_conv_i8(const struct kernels *k, void *const *ctx, const struct tri_conv *c, const int64_t *dims)
{
	int64_t terms = tri_conv_terms(c), positions = tri_conv_positions(c), image = c->channels * c->height * c->width;
	struct problem w = problem_new(1, terms, c->out), x = problem_new(c->batch, image, 1);
	size_t bytes = (size_t)(4 * c->batch * c->out * positions);
	struct guarded windows = guarded((size_t)(terms * positions)), y = guarded(bytes), packed = conv_packed(c, w.trits.at);
	for (int i = 0; i < 3; i++) {
		memset(y.at, 0x5a, bytes);
		k->conv_i8_trit2(ctx[i], (void *[]){x.i8.at, packed.at, y.at}, dims, NULL);
		for (int64_t n = 0; n < c->batch; n++) {
			conv_windows(c, true, (int8_t *)x.i8.at + n * image, 1, windows.at);
			for (int64_t p = 0; p < positions; p++)
				for (int64_t o = 0; o < c->out; o++) {
					int32_t sum = 0;
					for (int64_t t = 0; t < terms; t++)
						sum += ((int8_t *)windows.at)[t * positions + p] * ((int8_t *)w.trits.at)[t * c->out + o];
					assert_int_equal(((int32_t *)y.at)[(n * positions + p) * c->out + o], sum);
				}
		}
	}
	check_epilogue(k->conv_i8_trit2, ctx[1], (void *[]){x.i8.at, packed.at}, dims, y.at, c->batch, positions, c->out);
	release(windows), release(y), release(packed);
	problem_free(&w), problem_free(&x);
}

/* Each channel with its own window of trits [elements, channels]. */
static void check_depthwise_i8(const struct kernels *k, void *const *ctx, struct tri_conv c)
{
	int64_t dims[15], elements = c.kernel_height * c.kernel_width, positions = tri_conv_positions(&c),
			  image = c.channels * c.height * c.width;
	c.out = c.channels;
	memcpy(dims, &c, sizeof dims);
	struct tri_conv one = c;
	one.channels = 1;
	struct problem w = problem_new(1, elements, c.out), x = problem_new(c.batch, image, 1);
	size_t bytes = (size_t)(4 * c.batch * c.out * positions);
	struct guarded y = guarded(bytes), packed = conv_packed(&one, w.trits.at);
	for (int i = 0; i < 3; i++) {
		memset(y.at, 0x5a, bytes);
		k->depthwise_i8_trit2(ctx[i], (void *[]){x.i8.at, packed.at, y.at}, dims, NULL);
		for (int64_t at = 0; at < c.batch * positions * c.out; at++) {
			int64_t n = at / (positions * c.out), o = at % c.out, row;
			int32_t sum = 0;
			for (int64_t e = 0; e < elements; e++) {
				int64_t column = conv_input(&c, at / c.out % positions, e / c.kernel_width, e % c.kernel_width, &row);
				if (column >= 0)
					sum += ((int8_t *)x.i8.at)[n * image + (row * c.width + column) * c.channels + o] *
					       ((int8_t *)w.trits.at)[e * c.out + o];
			}
			assert_int_equal(((int32_t *)y.at)[at], sum);
		}
	}
	check_epilogue(k->depthwise_i8_trit2, ctx[1], (void *[]){x.i8.at, packed.at}, dims, y.at, c.batch, positions, c.out);
	release(y), release(packed);
	problem_free(&w), problem_free(&x);
}

/* Elements of y against naive sums, in which a zero trit skips its number. */
static void check_chosen(const struct tri_conv *c, const float *x, const int8_t *trits, const float *y)
{
	int64_t positions = tri_conv_positions(c), row;
	for (int64_t i = 0; i < positions * c->out; i++) {
		double sum = 0, size = 0;
		for (int64_t t = 0; t < tri_conv_terms(c); t++) {
			int64_t e = t / c->channels, ch = t % c->channels;
			int64_t column = conv_input(c, i / c->out, e / c->kernel_width, e % c->kernel_width, &row);
			int trit = trits[t * c->out + i % c->out];
			double a = column < 0 || !trit ? 0 : (double)x[(row * c->width + column) * c->channels + ch];
			sum += a * trit;
			size += fabs(a);
		}
		assert_int_equal(isnan(y[i]), isnan(sum));
		assert_true(isnan(sum) || fabs(y[i] - sum) <= 1e-6 * size);
	}
}

/* The kernel of floats and trits: the bits of the float kernel, and NaNs that zero trits skip. */
static void check_conv_f32_trit2(const struct kernels *k, void *const *ctx, const struct tri_conv *c, const int64_t *dims)
{
	int64_t terms = tri_conv_terms(c), positions = tri_conv_positions(c), image = c->channels * c->height * c->width;
	struct problem w = problem_new(1, terms, c->out), x = problem_new(c->batch, image, 1);
	size_t bytes = (size_t)(4 * c->batch * c->out * positions);
	struct guarded y = guarded(bytes), want = guarded(bytes), packed = conv_packed(c, w.trits.at),
		       panels = guarded(tri_panels_size(terms, c->out));
	for (int64_t i = 0; i < terms * c->out; i++)
		((float *)w.w32.at)[i] = (float)((int8_t *)w.trits.at)[i];
	tri_panels_pack(&(struct tri_panels_source){w.w32.at, terms / c->channels, c->channels, c->out, {c->channels * c->out, c->out, 1}},
			panels.at);
	k->conv_f32(ctx[0], (void *[]){x.f32.at, panels.at, want.at}, dims, NULL);
	for (int i = 0; i < 3; i++) {
		memset(y.at, 0x5a, bytes);
		k->conv_f32_trit2(ctx[i], (void *[]){x.f32.at, packed.at, y.at}, dims, NULL);
		assert_memory_equal(y.at, want.at, bytes);
	}
	check_epilogue(k->conv_f32_trit2, ctx[1], (void *[]){x.f32.at, packed.at}, dims, want.at, c->batch, positions, c->out);
	((float *)x.f32.at)[rnd() % (uint32_t)image] = NAN; /* in the first image */
	k->conv_f32_trit2(ctx[1], (void *[]){x.f32.at, packed.at, y.at}, dims, NULL);
	for (int64_t n = 0; n < c->batch; n++)
		check_chosen(c, (float *)x.f32.at + n * image, w.trits.at, (float *)y.at + n * positions * c->out);
	check_epilogue(k->conv_f32_trit2, ctx[2], (void *[]){x.f32.at, packed.at}, dims, y.at, c->batch, positions, c->out);
	release(y), release(want), release(packed), release(panels);
	problem_free(&w), problem_free(&x);
}

static void check_conv(const struct kernels *k, void *const *ctx, struct tri_conv c)
{
	int64_t high = c.height + 2 * c.pad_top - c.dilation_height * (c.kernel_height - 1) - 1;
	int64_t wide = c.width + 2 * c.pad_left - c.dilation_width * (c.kernel_width - 1) - 1;
	if (high < 0 || wide < 0)
		return;
	c.out_height = high / c.stride_height + 1;
	c.out_width = wide / c.stride_width + 1;
	int64_t dims[16];
	_Static_assert(sizeof dims == sizeof c + sizeof *dims, "the dims of the kernels");
	memcpy(dims, &c, sizeof c);
	dims[15] = c.channels;
	check_conv_floats(k, ctx, c, false, 1);
	check_conv_floats(k, ctx, c, true, c.channels);
	for (int64_t groups = 2; groups <= c.channels && groups <= 48; groups++)
		if (c.channels % groups == 0 && c.out % groups == 0)
			check_conv_floats(k, ctx, c, false, groups);
	check_conv_i8(k, ctx, &c, dims);
	check_conv_f32_trit2(k, ctx, &c, dims);
	check_depthwise_i8(k, ctx, c);
}

static void check_convs(const struct kernels *k, void *const *ctx)
{
	check_conv(k, ctx, (struct tri_conv){1, 40, 19, 35, 70, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1});
	check_conv(k, ctx, (struct tri_conv){2, 3, 30, 31, 33, 7, 7, 0, 0, 2, 2, 3, 3, 1, 1});
	check_conv(k, ctx, (struct tri_conv){1, 24, 9, 11, 96, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1});
	check_conv(k, ctx, (struct tri_conv){2, 8, 5, 6, 200, 2, 3, 0, 0, 2, 1, 1, 1, 1, 1});
	check_conv(k, ctx, (struct tri_conv){3, 1, 9, 9, 16, 9, 9, 0, 0, 1, 1, 4, 4, 1, 1});
	check_conv(k, ctx, (struct tri_conv){1, 17, 12, 13, 48, 5, 5, 0, 0, 2, 2, 6, 7, 2, 3});
	check_conv(k, ctx, (struct tri_conv){1, 1, 3, 90, 20, 1, 70, 0, 0, 1, 1, 0, 2, 1, 1});
	check_conv(k, ctx, (struct tri_conv){1, 1024, 3, 3, 20, 2, 2, 0, 0, 1, 1, 1, 1, 1, 1});
	check_conv(k, ctx, (struct tri_conv){1, 513, 1, 1, 5, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1});
	check_conv(k, ctx, (struct tri_conv){3, 5, 7, 7, 500, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1});
	check_conv(k, ctx, (struct tri_conv){1, 64, 7, 7, 96, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1});
	check_conv(k, ctx, (struct tri_conv){1, 12, 5, 150, 40, 1, 1, 0, 0, 2, 2, 0, 0, 1, 1});
	check_conv(k, ctx, (struct tri_conv){1, 600, 7, 40, 3, 3, 3, 0, 0, 1, 1, 3, 3, 3, 3});
	check_conv(k, ctx, (struct tri_conv){1, 96, 12, 12, 4, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1});
	check_conv(k, ctx, (struct tri_conv){1, 40, 12, 14, 4, 9, 9, 0, 0, 1, 1, 4, 4, 1, 1});
	for (int i = 0; i < 60; i++)
		check_conv(k, ctx,
			   (struct tri_conv){.batch = 1 + rnd() % 2,
					     .channels = 1 + rnd() % 9,
					     .height = 1 + rnd() % 14,
					     .width = 1 + rnd() % 40,
					     .out = 1 + rnd() % 40,
					     .kernel_height = 1 + rnd() % 4,
					     .kernel_width = 1 + rnd() % 4,
					     .stride_height = 1 + rnd() % 3,
					     .stride_width = 1 + rnd() % 3,
					     .pad_top = rnd() % 4,
					     .pad_left = rnd() % 4,
					     .dilation_height = 1 + rnd() % 2,
					     .dilation_width = 1 + rnd() % 3});
}

static void against_naive(enum runtime_level level)
{
	static const int64_t fixed[][3] = {{0, 5, 5},      {3, 0, 7},     {3, 7, 0},      {1, 1, 1},     {1, 2560, 640}, {1, 1023, 97},
					   {70, 300, 160}, {600, 17, 33}, {9, 1025, 260}, {130, 64, 48}, {2, 4096, 129}};
	struct arena *a = arena_new(0);
	struct kernels k;
	if (!kernels_open(a, level, &k)) {
		arena_free(a);
		skip();
	}
	_Alignas(64) static char contexts[3][CONTEXT_BYTES];
#if defined(__SANITIZE_THREAD__) /* which cannot see the synchronisation inside the library, as it is not instrumented; test_runtime.c is */
	static const uint32_t threads[] = {1, 1, 1};
#else
	static const uint32_t threads[] = {1, 2, 5};
#endif
	void *ctx[3];
	for (int i = 0; i < 3; i++) {
		ctx[i] = contexts[i];
		k.init(ctx[i], threads[i]);
	}
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		check_problem(&k, ctx, fixed[i][0], fixed[i][1], fixed[i][2]);
	for (int i = 0; i < 120; i++)
		check_problem(&k, ctx, 1 + rnd() % 20, rnd() % 300, 1 + rnd() % 100);
	check_convs(&k, ctx);
	for (int i = 0; i < 3; i++)
		k.end(ctx[i]);
	dlclose(k.library);
	arena_free(a);
}
static void base_level(void **state) { against_naive(RUNTIME_BASE); }
static void v3_level(void **state) { against_naive(RUNTIME_V3); }
static void vnni_level(void **state) { against_naive(RUNTIME_VNNI); }

/* Only sums are rounded: the bits are the same on every level; a zero trit hides a NaN. */
static void trit_sums_agree_between_levels(void **state)
{
	struct arena *a = arena_new(0);
	struct problem p = problem_new(5, 1100, 75);
	bool first = true;
	for (int64_t k = 0; k < p.K; k++)
		if (((int8_t *)p.trits.at)[k * p.N] == 0)
			((float *)p.f32.at)[k] = NAN; /* row 0 */
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++) {
		struct kernels k;
		_Alignas(64) char ctx[CONTEXT_BYTES];
		if (!kernels_open(a, level, &k))
			continue;
		k.init(ctx, 1);
		run(k.f32_trit2, ctx, &p, p.f32.at, p.packed.at, first ? p.y.at : p.y2.at);
		k.end(ctx);
		assert_false(isnan(((float *)(first ? p.y.at : p.y2.at))[0]));
		assert_true(isnan(((float *)(first ? p.y.at : p.y2.at))[1]));
		for (int64_t i = 0; !first && i < p.M * p.N; i++)
			assert_true(isnan(((float *)p.y.at)[i]) ? isnan(((float *)p.y2.at)[i])
								: ((int32_t *)p.y.at)[i] == ((int32_t *)p.y2.at)[i]);
		first = false;
		dlclose(k.library);
	}
	problem_free(&p);
	arena_free(a);
}

/* Largest magnitudes over a long K: nothing saturates or overflows on the way. */
static void extremes(void **state)
{
	enum { K = 600000, N = 3 };
	struct arena *a = arena_new(0);
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++)
		for (int sign = -1; sign <= 1; sign += 2) {
			struct kernels k;
			_Alignas(64) char ctx[CONTEXT_BYTES];
			struct problem p = {.M = 2,
					    .K = K,
					    .N = N,
					    .i8 = guarded(2 * K),
					    .trits = guarded(K * N),
					    .packed = guarded(tri_trit2_packed_size(K, N)),
					    .y = guarded(4 * 2 * N)};
			memset(p.i8.at, 0x80, K); /* -128 */
			memset((char *)p.i8.at + K, 127, K);
			memset(p.trits.at, sign, K * N);
			tri_trit2_pack(p.trits.at, K, N, p.packed.at);
			if (kernels_open(a, level, &k)) {
				k.init(ctx, 1);
				run(k.i8_trit2, ctx, &p, p.i8.at, p.packed.at, p.y.at);
				for (int n = 0; n < N; n++) {
					assert_int_equal(((int32_t *)p.y.at)[n], -128 * K * sign);
					assert_int_equal(((int32_t *)p.y.at)[N + n], 127 * K * sign);
				}
				p.M = 1;
				run(k.i8_trit2, ctx, &p, p.i8.at, p.packed.at, p.y.at);
				assert_int_equal(((int32_t *)p.y.at)[N - 1], -128 * K * sign);
				k.end(ctx);
				dlclose(k.library);
			}
			release(p.i8), release(p.trits), release(p.packed), release(p.y);
		}
	arena_free(a);
}

static void packed_format(void **state)
{
	int8_t w[17 * 33];
	unsigned char out[2 * 2 * 64 + 2 * 64];
	assert_int_equal(tri_trit2_packed_size(17, 33), sizeof out);
	assert_int_equal(tri_trit2_packed_size(0, 33), 0);
	assert_int_equal(tri_trit2_packed_size(16, 1), 64);
	for (int i = 0; i < 17 * 33; i++)
		w[i] = (int8_t)((i * 7 + i / 5) % 3) - 1;
	tri_trit2_pack(w, 17, 33, out);
	for (int k = 0; k < 32; k++)
		for (int n = 0; n < 48; n++) {
			int panel = n / 32, half = n % 32 / 16, lane = n % 16, step = k / 16, f = k % 16 / 4, j = k % 4;
			int byte = out[panel * 256 + step * (panel ? 64 : 128) + half * 64 + 4 * lane + j];
			assert_int_equal(byte >> (2 * f) & 3, k < 17 && n < 33 ? w[k * 33 + n] + 1 : 0);
		}
}

int test_kernels(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_format),
		cmocka_unit_test(base_level),
		cmocka_unit_test(v3_level),
		cmocka_unit_test(vnni_level),
		cmocka_unit_test(trit_sums_agree_between_levels),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
