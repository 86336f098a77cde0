/* Convolutions in groups of every processor level against naive sums: odd groups, groups that begin inside of panels, small and large ones,
 * guarded memory on both ends of each buffer, any number of threads. */
#include "tests/unit/backend/runtime/kernels/kernels_fixture.h"

struct shape {
	struct tri_conv_dims c;
	int64_t groups;
};

/* The place in x of a term of position p of image n: channel `channel` of group `group`, element e of the window; -1: in the padding. */
static int64_t input_at(const struct shape *s, int64_t n, int64_t p, int64_t group, int64_t channel, int64_t e)
{
	const struct tri_conv_dims *c = &s->c;
	int64_t h = p / c->out_width * c->stride_height - c->pad_top + e / c->kernel_width * c->dilation_height;
	int64_t w = p % c->out_width * c->stride_width - c->pad_left + e % c->kernel_width * c->dilation_width;
	if (h < 0 || w < 0 || h >= c->height || w >= c->width)
		return -1;
	return ((n * c->height + h) * c->width + w) * c->channels + group * (c->channels / s->groups) + channel;
}

/* One shape: its operands, and results for each element. Weights are trits [terms, O], terms in the order of elements, then channels. */
struct problem_of_groups {
	struct shape s;
	int64_t group_channels, terms, positions, results, dims[sizeof(struct tri_conv_dims) / sizeof(int64_t)];
	struct problem x, w;
	struct guarded packed;
};

static struct guarded pack_lines(const struct problem_of_groups *p)
{
	const struct tri_conv_dims *c = &p->s.c;
	int64_t line = p->group_channels * c->kernel_width, run = tri_conv_run(p->group_channels, c->kernel_width);
	struct guarded padded = guarded((size_t)(run * c->kernel_height * c->out)),
		       packed = guarded(tri_trit2_packed_size(run * c->kernel_height, c->out));
	for (int64_t l = 0; l < c->kernel_height; l++)
		memcpy((int8_t *)padded.at + l * run * c->out, (int8_t *)p->w.trits.at + l * line * c->out, (size_t)(line * c->out));
	tri_trit2_pack(padded.at, run * c->kernel_height, c->out, packed.at);
	release(padded);
	return packed;
}

static struct problem_of_groups new_problem(struct shape s)
{
	struct tri_conv_dims *c = &s.c;
	c->out_height = (c->height + 2 * c->pad_top - c->dilation_height * (c->kernel_height - 1) - 1) / c->stride_height + 1;
	c->out_width = (c->width + 2 * c->pad_left - c->dilation_width * (c->kernel_width - 1) - 1) / c->stride_width + 1;
	c->group_channels = c->channels / s.groups;
	struct problem_of_groups p = {.s = s, .group_channels = c->channels / s.groups, .positions = tri_conv_positions(c)};
	p.terms = p.group_channels * c->kernel_height * c->kernel_width;
	p.results = c->batch * p.positions * c->out;
	memcpy(p.dims, c, sizeof *c);
	p.x = problem_new(c->batch, c->channels * c->height * c->width, 1);
	p.w = problem_new(1, p.terms, c->out);
	p.packed = pack_lines(&p);
	return p;
}

static void free_problem(struct problem_of_groups *p)
{
	release(p->packed);
	problem_free(&p->x), problem_free(&p->w);
}

static int32_t exact_sum(const struct problem_of_groups *p, int64_t i)
{
	int64_t o = i % p->s.c.out, at = i / p->s.c.out;
	int32_t sum = 0;
	for (int64_t t = 0; t < p->terms; t++) {
		int64_t from = input_at(&p->s, at / p->positions, at % p->positions, o / (p->s.c.out / p->s.groups), t % p->group_channels,
					t / p->group_channels);
		sum += from < 0 ? 0 : ((int8_t *)p->x.i8.at)[from] * ((int8_t *)p->w.trits.at)[t * p->s.c.out + o];
	}
	return sum;
}

static void check_i8(const struct kernels *k, void *const *ctx, struct problem_of_groups *p)
{
	const struct tri_conv_dims *c = &p->s.c;
	size_t bytes = (size_t)p->results * sizeof(int32_t);
	struct guarded y = guarded(bytes), want = guarded(bytes);
	for (int64_t i = 0; i < p->results; i++)
		((int32_t *)want.at)[i] = exact_sum(p, i);
	for (int i = 0; i < 3; i++) {
		memset(y.at, 0x5a, bytes);
		call(k->conv_groups_i8_trit2, ctx[i], (void *[]){p->x.i8.at, p->packed.at, y.at}, p->dims, NULL);
		assert_memory_equal(y.at, want.at, bytes);
	}
	check_epilogue(k->conv_groups_i8_trit2, ctx[1], (void *[]){p->x.i8.at, p->packed.at}, p->dims, want.at, c->batch, p->positions,
		       c->out);
	release(y), release(want);
}

/* A sum of floats, and of the magnitudes of its terms; a trit 0 skips its number. */
static double float_sum(const struct problem_of_groups *p, int64_t i, double *size)
{
	int64_t o = i % p->s.c.out, at = i / p->s.c.out;
	double sum = *size = 0;
	for (int64_t t = 0; t < p->terms; t++) {
		int64_t from = input_at(&p->s, at / p->positions, at % p->positions, o / (p->s.c.out / p->s.groups), t % p->group_channels,
					t / p->group_channels);
		int trit = ((int8_t *)p->w.trits.at)[t * p->s.c.out + o];
		double term = from < 0 || !trit ? 0 : trit * (double)((float *)p->x.f32.at)[from];
		sum += term;
		*size += fabs(term);
	}
	return sum;
}

static void check_floats(const struct problem_of_groups *p, const float *y)
{
	for (int64_t i = 0; i < p->results; i++) {
		double size, sum = float_sum(p, i, &size);
		if (isnan(y[i]) != isnan(sum) || fabs((double)y[i] - sum) > 1e-6 * size)
			fail_msg("element %d: got %g, want %g", (int)i, (double)y[i], sum);
	}
}

/* The bits of the kernel of floats for any number of threads and for the epilogue; then a NaN, which zero trits skip. */
static void check_f32(const struct kernels *k, void *const *ctx, struct problem_of_groups *p)
{
	const struct tri_conv_dims *c = &p->s.c;
	size_t bytes = (size_t)p->results * sizeof(float);
	struct guarded y = guarded(bytes), want = guarded(bytes), panels = guarded(tri_panels_size(p->terms, c->out));
	for (int64_t i = 0; i < p->terms * c->out; i++)
		((float *)p->w.w32.at)[i] = (float)((int8_t *)p->w.trits.at)[i];
	tri_panels_pack(&(struct tri_panels_source){p->w.w32.at, p->terms, 1, c->out, {c->out, 0, 1}}, panels.at);
	call(k->conv_f32, ctx[0], (void *[]){p->x.f32.at, panels.at, want.at}, p->dims, NULL);
	check_floats(p, want.at);
	for (int i = 0; i < 3; i++) {
		memset(y.at, 0x5a, bytes);
		call(k->conv_f32, ctx[i], (void *[]){p->x.f32.at, panels.at, y.at}, p->dims, NULL);
		assert_memory_equal(y.at, want.at, bytes);
		memset(y.at, 0x5a, bytes);
		call(k->conv_groups_f32_trit2, ctx[i], (void *[]){p->x.f32.at, p->packed.at, y.at}, p->dims, NULL);
		assert_memory_equal(y.at, want.at, bytes);
	}
	check_epilogue(k->conv_f32, ctx[1], (void *[]){p->x.f32.at, panels.at}, p->dims, want.at, c->batch, p->positions, c->out);
	check_epilogue(k->conv_groups_f32_trit2, ctx[1], (void *[]){p->x.f32.at, p->packed.at}, p->dims, want.at, c->batch, p->positions,
		       c->out);
	((float *)p->x.f32.at)[rnd() % (uint32_t)(c->batch * c->channels * c->height * c->width)] = NAN;
	call(k->conv_groups_f32_trit2, ctx[1], (void *[]){p->x.f32.at, p->packed.at, y.at}, p->dims, NULL);
	check_floats(p, y.at);
	check_epilogue(k->conv_groups_f32_trit2, ctx[2], (void *[]){p->x.f32.at, p->packed.at}, p->dims, y.at, c->batch, p->positions,
		       c->out);
	release(y), release(want), release(panels);
}

static void check_shape(const struct kernels *k, void *const *ctx, struct shape s)
{
	const struct tri_conv_dims *c = &s.c;
	if (c->height + 2 * c->pad_top < c->dilation_height * (c->kernel_height - 1) + 1 ||
	    c->width + 2 * c->pad_left < c->dilation_width * (c->kernel_width - 1) + 1)
		return;
	struct problem_of_groups p = new_problem(s);
	check_i8(k, ctx, &p);
	check_f32(k, ctx, &p);
	/* the largest sums */
	memset(p.x.i8.at, 0x80, (size_t)(c->batch * c->channels * c->height * c->width));
	memset(p.w.trits.at, 1, (size_t)(p.terms * c->out));
	release(p.packed);
	p.packed = pack_lines(&p);
	check_i8(k, ctx, &p);
	free_problem(&p);
}

static void check_all(const struct kernels *k, void *const *ctx)
{
	check_shape(k, ctx, (struct shape){{1, 128, 9, 11, 128, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1, 0}, 32});
	check_shape(k, ctx, (struct shape){{1, 128, 15, 9, 128, 3, 3, 0, 0, 2, 2, 1, 1, 1, 1, 0}, 16});
	check_shape(k, ctx, (struct shape){{1, 240, 7, 7, 60, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0}, 3});
	check_shape(k, ctx, (struct shape){{2, 64, 7, 8, 64, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1, 0}, 2});
	check_shape(k, ctx, (struct shape){{1, 35, 8, 9, 55, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1, 0}, 5});
	check_shape(k, ctx, (struct shape){{1, 96, 6, 7, 72, 5, 5, 0, 0, 1, 2, 2, 2, 2, 2, 0}, 3});
	check_shape(k, ctx, (struct shape){{1, 32, 10, 12, 64, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1, 0}, 32});
	check_shape(k, ctx, (struct shape){{1, 80, 4, 70, 200, 1, 3, 0, 0, 1, 1, 0, 1, 1, 1, 0}, 5});
	check_shape(k, ctx, (struct shape){{1, 600, 5, 5, 30, 3, 3, 0, 0, 1, 1, 1, 1, 1, 1, 0}, 2});
	for (int i = 0; i < 60; i++) {
		int64_t groups = 2 + rnd() % 9;
		check_shape(k, ctx,
			    (struct shape){{.batch = 1 + rnd() % 2,
					    .channels = groups * (1 + rnd() % (rnd() % 3 ? 10 : 40)),
					    .height = 1 + rnd() % 9,
					    .width = 1 + rnd() % 20,
					    .out = groups * (1 + rnd() % (rnd() % 3 ? 10 : 70)),
					    .kernel_height = 1 + rnd() % 4,
					    .kernel_width = 1 + rnd() % 4,
					    .stride_height = 1 + rnd() % 3,
					    .stride_width = 1 + rnd() % 3,
					    .pad_top = rnd() % 4,
					    .pad_left = rnd() % 4,
					    .dilation_height = 1 + rnd() % 2,
					    .dilation_width = 1 + rnd() % 3},
					   groups});
	}
}

static void base_level(void **state) { on_level(RUNTIME_BASE, check_all); }
static void v3_level(void **state) { on_level(RUNTIME_V3, check_all); }
static void vnni_level(void **state) { on_level(RUNTIME_VNNI, check_all); }

int test_conv_groups(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(base_level), cmocka_unit_test(v3_level), cmocka_unit_test(vnni_level)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
