/* The convolutions of every processor level against naive loops: random shapes, guarded memory on both ends of each buffer, any number of
 * threads. */
#include "tests/unit/backend/runtime/kernels/kernels_fixture.h"

/* Positions of x for one term, or -1 in the padding. */
static int64_t conv_input(const struct tri_conv_dims *c, int64_t p, int64_t kh, int64_t kw, int64_t *row)
{
	int64_t h = p / c->out_width * c->stride_height - c->pad_top + kh * c->dilation_height;
	int64_t w = p % c->out_width * c->stride_width - c->pad_left + kw * c->dilation_width;
	*row = h;
	return h < 0 || w < 0 || h >= c->height || w >= c->width ? -1 : w;
}

/* The windows of x as a matrix [K, P] of one image, in the order of terms that a kernel has. */
static void conv_windows(const struct tri_conv_dims *c, bool channels_last, const void *x, size_t elem, char *out)
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
static struct conv_sum conv_sum(const struct tri_conv_dims *c, int64_t channels, const float *x, const float *w, int64_t p, int64_t o)
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
static void check_conv_floats(const struct kernels *k, void *const *ctx, struct tri_conv_dims c, bool depthwise, int64_t groups)
{
	tri_kernel_fn *fn = depthwise ? k->depthwise_f32 : k->conv_f32;
	int64_t channels = c.channels / groups, taps = c.kernel_height * c.kernel_width, positions = tri_conv_positions(&c);
	const int64_t *dims = (const void *)&c;
	c.out = depthwise ? c.channels : c.out;
	c.group_channels = channels;
	int64_t terms = taps * channels, image = c.channels * c.height * c.width;
	struct problem w = problem_new(c.out, terms, 1), x = problem_new(c.batch, image, 1);
	size_t bytes = (size_t)(4 * c.batch * c.out * positions);
	struct guarded y = guarded(bytes), again = guarded(bytes), panels = guarded(tri_panels_size(terms, c.out));
	tri_panels_pack(&(struct tri_panels_source){w.f32.at, taps, channels, c.out, {1, taps, terms}}, panels.at);
	memset(y.at, 0x5a, bytes);
	call(fn, ctx[0], (void *[]){x.f32.at, panels.at, y.at}, dims, NULL);
	for (int64_t i = 0; i < c.batch * positions * c.out; i++) {
		int64_t n = i / (positions * c.out), p = i / c.out % positions, o = i % c.out;
		struct conv_sum want = conv_sum(&c, channels, (float *)x.f32.at + n * image, w.f32.at, p, o);
		if (!(fabs(((float *)y.at)[i] - want.sum) <= 1e-6 * want.size))
			fail_msg("%s: image %d, position %d, channel %d: got %g, want %g", depthwise ? "depthwise" : "conv", (int)n, (int)p,
				 (int)o, (double)((float *)y.at)[i], want.sum);
	}
	for (int i = 1; i < 3; i++) {
		memset(again.at, 0x5a, bytes);
		call(fn, ctx[i], (void *[]){x.f32.at, panels.at, again.at}, dims, NULL);
		assert_memory_equal(again.at, y.at, bytes);
	}
	check_epilogue(fn, ctx[1], (void *[]){x.f32.at, panels.at}, dims, y.at, c.batch, positions, c.out);
	release(y), release(again), release(panels);
	problem_free(&w), problem_free(&x);
}

/* Packs trits [terms, out]: each line of a window is padded. */
static struct guarded conv_packed(const struct tri_conv_dims *c, const int8_t *trits)
{
	int64_t run = tri_conv_run(c->channels, c->kernel_width), line = c->channels * c->kernel_width, terms = tri_conv_packed_terms(c);
	struct guarded padded = guarded((size_t)(terms * c->out)), packed = guarded(tri_trit2_packed_size(terms, c->out));
	for (int64_t l = 0; l < c->kernel_height; l++)
		memcpy((int8_t *)padded.at + l * run * c->out, trits + l * line * c->out, (size_t)(line * c->out));
	tri_trit2_pack(padded.at, terms, c->out, packed.at);
	release(padded);
	return packed;
}

/* Extreme: the smallest numbers. */
static void check_conv_i8(const struct kernels *k, void *const *ctx, const struct tri_conv_dims *c, const int64_t *dims, bool extreme)
{
	int64_t terms = tri_conv_terms(c), positions = tri_conv_positions(c), image = c->channels * c->height * c->width;
	struct problem w = problem_new(1, terms, c->out), x = problem_new(c->batch, image, 1);
	size_t bytes = (size_t)(4 * c->batch * c->out * positions);
	struct guarded windows = guarded((size_t)(terms * positions)), y = guarded(bytes), packed = conv_packed(c, w.trits.at);
	if (extreme)
		memset(x.i8.at, 0x80, (size_t)(c->batch * image));
	for (int i = 0; i < 3; i++) {
		memset(y.at, 0x5a, bytes);
		call(k->conv_i8_trit2, ctx[i], (void *[]){x.i8.at, packed.at, y.at}, dims, NULL);
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

/* Each channel with its own window of trits [elements, channels]. Extreme: the largest sums. */
static void check_depthwise_i8(const struct kernels *k, void *const *ctx, struct tri_conv_dims c, bool extreme)
{
	int64_t elements = c.kernel_height * c.kernel_width, positions = tri_conv_positions(&c), image = c.channels * c.height * c.width;
	const int64_t *dims = (const void *)&c;
	c.out = c.channels;
	c.group_channels = 1;
	struct tri_conv_dims one = c;
	one.channels = 1;
	struct problem w = problem_new(1, elements, c.out), x = problem_new(c.batch, image, 1);
	size_t bytes = (size_t)(4 * c.batch * c.out * positions);
	if (extreme) {
		memset(x.i8.at, 0x80, (size_t)(c.batch * image));
		memset(w.trits.at, 1, (size_t)(elements * c.out));
	}
	struct guarded y = guarded(bytes), packed = conv_packed(&one, w.trits.at);
	for (int i = 0; i < 3; i++) {
		memset(y.at, 0x5a, bytes);
		call(k->depthwise_i8_trit2, ctx[i], (void *[]){x.i8.at, packed.at, y.at}, dims, NULL);
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
static void check_chosen(const struct tri_conv_dims *c, const float *x, const int8_t *trits, const float *y)
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
static void check_conv_f32_trit2(const struct kernels *k, void *const *ctx, const struct tri_conv_dims *c, const int64_t *dims)
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
	call(k->conv_f32, ctx[0], (void *[]){x.f32.at, panels.at, want.at}, dims, NULL);
	for (int i = 0; i < 3; i++) {
		memset(y.at, 0x5a, bytes);
		call(k->conv_f32_trit2, ctx[i], (void *[]){x.f32.at, packed.at, y.at}, dims, NULL);
		assert_memory_equal(y.at, want.at, bytes);
	}
	check_epilogue(k->conv_f32_trit2, ctx[1], (void *[]){x.f32.at, packed.at}, dims, want.at, c->batch, positions, c->out);
	((float *)x.f32.at)[rnd() % (uint32_t)image] = NAN; /* in the first image */
	call(k->conv_f32_trit2, ctx[1], (void *[]){x.f32.at, packed.at, y.at}, dims, NULL);
	for (int64_t n = 0; n < c->batch; n++)
		check_chosen(c, (float *)x.f32.at + n * image, w.trits.at, (float *)y.at + n * positions * c->out);
	check_epilogue(k->conv_f32_trit2, ctx[2], (void *[]){x.f32.at, packed.at}, dims, y.at, c->batch, positions, c->out);
	release(y), release(want), release(packed), release(panels);
	problem_free(&w), problem_free(&x);
}

static void check_conv(const struct kernels *k, void *const *ctx, struct tri_conv_dims c)
{
	int64_t high = c.height + 2 * c.pad_top - c.dilation_height * (c.kernel_height - 1) - 1;
	int64_t wide = c.width + 2 * c.pad_left - c.dilation_width * (c.kernel_width - 1) - 1;
	if (high < 0 || wide < 0)
		return;
	c.out_height = high / c.stride_height + 1;
	c.out_width = wide / c.stride_width + 1;
	const int64_t *dims = (const void *)&c;
	c.group_channels = c.channels;
	check_conv_floats(k, ctx, c, false, 1);
	check_conv_floats(k, ctx, c, true, c.channels);
	for (int64_t groups = 2; groups <= c.channels && groups <= 48; groups++)
		if (c.channels % groups == 0 && c.out % groups == 0)
			check_conv_floats(k, ctx, c, false, groups);
	check_conv_i8(k, ctx, &c, dims, false);
	check_conv_i8(k, ctx, &c, dims, true);
	check_conv_f32_trit2(k, ctx, &c, dims);
	check_depthwise_i8(k, ctx, c, false);
	check_depthwise_i8(k, ctx, c, true);
}

static void check_all(const struct kernels *k, void *const *ctx)
{
	check_conv(k, ctx, (struct tri_conv_dims){1, 40, 19, 35, 70, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){2, 3, 30, 31, 33, 7, 7, 0, 0, 2, 2, 3, 3, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 4, 20, 40, 18, 9, 7, 0, 0, 1, 2, 4, 3, 1, 1, 0}); /* 252 numbers that begin 8 apart */
	check_conv(k, ctx, (struct tri_conv_dims){1, 1, 40, 70, 40, 7, 7, 0, 0, 2, 2, 3, 3, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 24, 9, 11, 96, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){2, 8, 5, 6, 200, 2, 3, 0, 0, 2, 1, 1, 1, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){3, 1, 9, 9, 16, 9, 9, 0, 0, 1, 1, 4, 4, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 17, 12, 13, 48, 5, 5, 0, 0, 2, 2, 6, 7, 2, 3, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 1, 3, 90, 20, 1, 70, 0, 0, 1, 1, 0, 2, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 1024, 3, 3, 20, 2, 2, 0, 0, 1, 1, 1, 1, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 513, 1, 1, 5, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){3, 5, 7, 7, 500, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 64, 7, 7, 96, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 12, 5, 150, 40, 1, 1, 0, 0, 2, 2, 0, 0, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 600, 7, 40, 3, 3, 3, 0, 0, 1, 1, 3, 3, 3, 3, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 96, 12, 12, 4, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 6, 20, 31, 4, 17, 18, 0, 0, 1, 1, 0, 0, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 40, 12, 14, 4, 9, 9, 0, 0, 1, 1, 0, 0, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 40, 12, 14, 4, 9, 9, 0, 0, 1, 1, 4, 4, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){3, 33, 23, 40, 8, 5, 5, 0, 0, 2, 2, 2, 2, 1, 1, 0});
	check_conv(k, ctx, (struct tri_conv_dims){1, 35, 4, 640, 3, 3, 3, 0, 0, 1, 10, 1, 1, 1, 1, 0});
	for (int i = 0; i < 60; i++)
		check_conv(k, ctx,
			   (struct tri_conv_dims){.batch = 1 + rnd() % 2,
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

static void base_level(void **state) { on_level(RUNTIME_BASE, check_all); }
static void v3_level(void **state) { on_level(RUNTIME_V3, check_all); }
static void vnni_level(void **state) { on_level(RUNTIME_VNNI, check_all); }

int test_conv_kernels(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(base_level), cmocka_unit_test(v3_level), cmocka_unit_test(vnni_level)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
