/* Micro-kernels of both variants on the first OpenCL device against the interpreter of loop IR, with and without an epilogue: sizes with whole and broken
 * tiles, steps and panels, rows at addresses that are no multiples of words, windows beside the image, then random sizes of every kernel that devices have.
 * Integers must be equal, floats within 1e-5 of the sum of the absolute terms. */
#include "tests/unit/gpu/kernel_calls.h"
#include "backend/runtime/kernels/attention.h"
#include "backend/runtime/kernels/records.h"
#include "backend/target/target.h"

/* ---- sizes that were chosen ---- */

static void add_chosen(struct model *m, enum kernel kernel, const int64_t *dims)
{
	if (is_small(kernel, dims, most_work(INT64_MAX)))
		add_call(m, kernel, dims, false);
}

static void add_product(struct model *m, enum kernel kernel, int64_t M, int64_t K, int64_t N)
{
	add_chosen(m, kernel, (int64_t[]){M, K, N});
}

/* Rows of an image that fit. */
static int64_t windows_of(int64_t size, int64_t side, int64_t stride, int64_t pad, int64_t dilation)
{
	int64_t left = size + pad - dilation * (side - 1) - 1;
	return left < 0 ? 0 : left / stride + 1;
}

static void add_conv(struct model *m, enum kernel kernel, int64_t batch, int64_t channels, int64_t height, int64_t width, int64_t out,
		     int64_t side, int64_t stride, int64_t pad, int64_t dilation, int64_t groups)
{
	int64_t rows = windows_of(height, side, stride, 2 * pad, dilation), columns = windows_of(width, side, stride, 2 * pad, dilation);
	add_chosen(m, kernel,
		   (int64_t[]){batch, channels, height, width, out, side, side, rows, columns, stride, stride, pad, pad, dilation, dilation,
			       channels / groups});
}

static void add_calls(struct model *m)
{
	static const int64_t products[][3] = {{1, 1, 1},    {1, 64, 33},  {1, 300, 50}, {1, 1030, 16}, {2, 48, 32},    {3, 37, 40},
					      {5, 130, 49}, {64, 66, 17}, {65, 64, 64}, {70, 129, 65}, {130, 80, 100}, {129, 67, 65},
					      {17, 37, 20}, {33, 21, 18}, {129, 9, 9},  {1, 1100, 35}, {6, 4109, 35}};
	static const enum kernel kernels[] = {KERNEL_matmul_i8_trit2,   KERNEL_matmul_f32_trit2, KERNEL_matmul_f32,
					      KERNEL_matmul_f32_panels, KERNEL_matmul_f32_bf16,  KERNEL_matmul_f32_f16,
					      KERNEL_matmul_trits_trit2};
	static const int64_t convs[][9] = {/* batch, channels, height, width, results, side, stride, pad, dilation */
					   {1, 4, 5, 6, 3, 1, 1, 0, 1},     {2, 8, 9, 7, 33, 3, 1, 1, 1},   {1, 20, 7, 8, 70, 3, 2, 1, 1},
					   {3, 3, 11, 13, 18, 5, 2, 2, 1},  {2, 12, 12, 9, 20, 3, 1, 2, 2}, {2, 5, 10, 9, 20, 3, 1, 3, 3},
					   {1, 1, 7, 7, 5, 7, 1, 3, 1},     {1, 6, 8, 8, 65, 2, 2, 0, 1},   {1, 40, 9, 35, 97, 3, 1, 1, 1},
					   {2, 32, 7, 7, 40, 3, 1, 1, 1},   {1, 3, 31, 30, 70, 7, 2, 3, 1}, {1, 16, 82, 83, 9, 3, 1, 1, 1},
					   {1, 4, 113, 115, 5, 3, 1, 1, 1}, {1, 4, 81, 82, 2, 1, 1, 0, 1},  {1, 4, 114, 115, 2, 1, 1, 0, 1},
					   {1, 16, 81, 82, 1, 1, 1, 0, 1},  {2, 120, 7, 7, 40, 3, 1, 1, 1}};
	static const enum kernel dense[] = {KERNEL_conv_i8_trit2, KERNEL_conv_f32, KERNEL_conv_f32_trit2, KERNEL_conv_trits};
	static const enum kernel pointwise[] = {KERNEL_pointwise_f32, KERNEL_conv_i8_trit2, KERNEL_conv_f32_trit2, KERNEL_conv_trits};
	static const enum kernel grouped[] = {KERNEL_conv_groups_i8_trit2, KERNEL_conv_f32, KERNEL_conv_groups_f32_trit2};
	static const enum kernel depthwise[] = {KERNEL_depthwise_i8_trit2, KERNEL_depthwise_f32, KERNEL_conv_groups_f32_trit2};
	for (uint32_t i = 0; i < sizeof products / sizeof *products; i++)
		for (uint32_t k = 0; k < sizeof kernels / sizeof *kernels - (i % 3 != 1); k++) /* of trits every third size */
			add_product(m, kernels[k], products[i][0], products[i][1], products[i][2]);
	for (uint32_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
		add_varying_call(m, kernels[k], (int64_t[]){130, 24, 36});
	for (uint32_t i = 0; i < 2 && most_work(INT64_MAX) == INT64_MAX; i++) /* sums that are split if the rows are few */
		add_varying_call(m, i ? KERNEL_matmul_f32_panels : KERNEL_matmul_i8_trit2, (int64_t[]){130, i ? 1040 : 4130, 40});
	add_product(m, KERNEL_matmul_i8_trit2, 2, 140000, 3);
	for (uint32_t i = 0; i < sizeof convs / sizeof *convs; i++)
		for (uint32_t k = 0; k < sizeof dense / sizeof *dense - (i % 2 == 0); k++) {
			const int64_t *c = convs[i];
			add_conv(m, dense[k], c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], 1);
		}
	for (uint32_t k = 0; k < sizeof pointwise / sizeof *pointwise; k++)
		add_conv(m, pointwise[k], 2, 20, 9, 15, 70, 1, 1, 0, 1, 1);
	for (uint32_t k = 0; k < sizeof grouped / sizeof *grouped; k++) {
		add_conv(m, grouped[k], 2, 12, 9, 7, 18, 3, 1, 1, 1, 3);
		add_conv(m, grouped[k], 1, 80, 5, 18, 160, 3, 2, 1, 1, 2);
		add_conv(m, grouped[k], 2, 32, 9, 7, 24, 3, 1, 1, 1, 4);
		add_conv(m, grouped[k], 2, 48, 7, 9, 96, 3, 1, 1, 1, 3);
		add_conv(m, grouped[k], 1, 32, 83, 80, 64, 1, 1, 0, 1, 2); /* so many tiles that they are larger */
		add_conv(m, grouped[k], 1, 6, 9, 8, 66, 2, 1, 1, 2, 2);
	}
	for (uint32_t k = 0; k < sizeof depthwise / sizeof *depthwise; k++) {
		add_conv(m, depthwise[k], 2, 7, 9, 7, 7, 3, 1, 1, 1, 7);
		add_conv(m, depthwise[k], 1, 83, 10, 21, 83, 3, 2, 1, 1, 83);
		add_conv(m, depthwise[k], 1, 64, 12, 19, 64, 5, 1, 2, 1, 64);
		add_conv(m, depthwise[k], 2, 48, 9, 14, 48, 5, 2, 2, 1, 48);
		add_conv(m, depthwise[k], 1, 33, 9, 18, 33, 3, 1, 2, 2, 33);
		add_conv(m, depthwise[k], 1, 17, 16, 18, 17, 15, 1, 7, 1, 17); /* more taps than are unpacked at a time */
	}
}

/* ---- random sizes ---- */

enum { MOST_WORK = 1 << 19 };

/* Few, about a side of a tile, or many. */
static int64_t random_size(void)
{
	switch (rnd(8)) {
	case 0: return rnd(2);
	case 1:
	case 2: return 1 + rnd(9);
	case 3:
	case 4: return ((int64_t)2 << rnd(7)) + rnd(3) - 1;
	case 5:
	case 6: return 1 + rnd(100);
	default: return 1 + rnd(3000);
	}
}

static int64_t random_elem(bool codes)
{
	static const dtype elems[] = {DT_FLOAT32, DT_FLOAT16, DT_BFLOAT16};
	return kernel_elem_number(codes ? DT_INT8 : elems[rnd(3)]);
}

static int64_t random_field(enum kernel k, enum kernel_field_type t)
{
	static const float scales[] = {0, 0.25f, 1.5f};
	int32_t bits;
	switch (t) {
	case FIELD_size: return random_size();
	case FIELD_count: return 1 + rnd(3);
	case FIELD_flag: return rnd(2);
	case FIELD_real: memcpy(&bits, &scales[rnd(3)], sizeof bits); return bits;
	case FIELD_elem: return random_elem(kernel_has(k, "k_scale"));
	default: return 0;
	}
}

static void follow(const struct kernel_rule *rule, int64_t *dims)
{
	int64_t *field = &dims[rule->field - 1], other = rule->other;
	switch (rule->kind) {
	case RULE_SAME: *field = dims[other - 1]; break;
	case RULE_ONE_OR: *field = rnd(2) ? 1 : dims[other - 1]; break;
	case RULE_SHARES:
		dims[other - 1] = 1 + dims[other - 1] % 5;
		*field = dims[other - 1] * (1 + rnd(3));
		break;
	case RULE_MOST: *field = *field < other ? *field : other; break;
	case RULE_EXACTLY: *field = other; break;
	case RULE_ADDED_OR_BOOL: *field = kernel_elem_number(rnd(2) ? DT_FLOAT32 : DT_BOOL); break;
	case RULE_NONE: break;
	}
}

/* Windows of an image, which may hang over its ends; groups that divide the channels. */
static void shape_conv(const char *fits, int64_t *dims)
{
	struct tri_conv_dims *c = (struct tri_conv_dims *)(void *)dims;
	c->kernel_height = 1 + c->kernel_height % 5;
	c->kernel_width = 1 + c->kernel_width % 5;
	c->pad_top %= 4;
	c->pad_left %= 4;
	c->group_channels = c->group_channels && strcmp(fits, "depthwise") ? c->group_channels : 1;
	int64_t groups = !strcmp(fits, "dense") || !strcmp(fits, "pointwise") ? 1 : !strcmp(fits, "depthwise") ? 1 + rnd(70) : 2 + rnd(4);
	c->channels = c->group_channels * groups;
	c->out = groups * (!strcmp(fits, "depthwise") ? 1 : 1 + c->out % 100);
	c->out_height = windows_of(c->height, c->kernel_height, c->stride_height, c->pad_top + rnd(4), c->dilation_height);
	c->out_width = windows_of(c->width, c->kernel_width, c->stride_width, c->pad_left + rnd(4), c->dilation_width);
}

/* Heads of the same row beside each other, or rows of the same head. */
static void shape_rows(const struct kernel_operand *o, int64_t *dims)
{
	const uint8_t *f = o->size.fields;
	int64_t heads = dims[f[1] - 1], rows = dims[f[2] - 1], width = f[3] ? dims[f[3] - 1] : 1;
	bool by_head = rnd(2);
	dims[o->step[0] - 1] = heads * rows * width;
	dims[o->step[1] - 1] = by_head ? rows * width : width;
	dims[o->step[2] - 1] = by_head ? width : heads * width;
}

static void random_dims(enum kernel k, int64_t *dims)
{
	const struct kernel_record *r = kernel_record(k);
	const char *fits = kernel_info(k)->fits;
	for (uint32_t i = 0; i < r->n_fields; i++)
		dims[i] = random_field(k, r->fields[i].type);
	if (kernel_family(k) == FAMILY_conv)
		shape_conv(fits, dims);
	for (const struct kernel_rule *rule = r->rules; rule->kind; rule++)
		follow(rule, dims);
	for (const struct kernel_case *c = r->cases; c->fits; c++)
		for (const struct kernel_rule *rule = c->rules; !strcmp(c->fits, fits) && rule->kind; rule++)
			follow(rule, dims);
	for (const struct kernel_operand *o = r->operands; o->name; o++)
		if (o->step[0])
			shape_rows(o, dims);
}

/* An index needs a place. */
static bool has_places(enum kernel k, const int64_t *dims)
{
	return kernel_family(k) == FAMILY_scatter ? tri_scatter_of(dims)->length > 0
	       : kernel_family(k) == FAMILY_put   ? tri_put_of(dims)->length > 0
						  : true;
}

static void add_random_call(struct model *m, enum kernel k, bool epilogue)
{
	int64_t dims[KERNEL_FIELDS];
	do
		random_dims(k, dims);
	while (!is_small(k, dims, most_work(MOST_WORK)) || !has_places(k, dims));
	add_call(m, k, dims, epilogue && kernel_takes_epilogue(k));
}

/* ---- the tests ---- */

/* They end together: PoCL goes on using the cache of the first one. */
static struct model portable, matrix, blocks;

static void both_variants(void **state)
{
	(void)state;
	model_init(&portable);
	rnd_begin();
	add_calls(&portable);
	for (uint32_t turn = 0; turn < quick(5, 1); turn++)
		for (int k = 0; k < KERNEL_COUNT; k++)
			if (kernel_is_of((enum kernel)k, target_get(TARGET_OPENCL)))
				add_random_call(&portable, (enum kernel)k,
						turn == 0 && rnd(2)); /* a driver takes long to build an epilogue */
	build_calls(&portable);
	check_calls(&portable, "groups");
	check_calls(&portable, "wide");
}

/* Of PoCL and Oclgrind, beside those that the model and the environment give. */
static void set_build_options(const char *options)
{
	const char *usual = getenv("OCLGRIND_BUILD_OPTIONS");
	struct buf all = {0};
	buf_printf(&all, "%s %s", usual ? usual : "", options);
	setenv("OCLGRIND_BUILD_OPTIONS", all.at, 1);
	setenv("POCL_EXTRA_BUILD_FLAGS", options, 1);
	buf_free(&all);
}

/* Checks calls with fast forms, each of which is computed by its definition. */
static void check_emulated(struct model *m, const char *options)
{
	set_build_options(options);
	setenv("TRIB_CACHE", "false", 1); /* whose keys do not have the flags */
	build_calls(m);
	check_calls(m, "groups");
	unsetenv("POCL_EXTRA_BUILD_FLAGS");
	unsetenv("OCLGRIND_BUILD_OPTIONS");
	unsetenv("TRIB_CACHE");
}

static void matrix_instructions(void **state)
{
	static const int64_t products[][3] = {{5, 130, 49},   {17, 1300, 33}, {66, 3, 16},   {128, 400, 50}, {129, 67, 65}, {130, 80, 100},
					      {193, 16, 130}, {150, 320, 40}, {130, 33, 17}, {20, 33, 17},   {9, 4109, 33}};
	(void)state;
	n_calls = 0;
	model_init(&matrix);
	for (uint32_t i = 0; i < sizeof products / sizeof *products; i++)
		add_product(&matrix, i % 4 ? KERNEL_matmul_i8_trit2 : KERNEL_matmul_trits_trit2, products[i][0], products[i][1],
			    products[i][2]);
	check_emulated(&matrix, "-DTRI_MMA_NVIDIA=80 -DTRI_EMULATED");
}

/* Whole and broken panels; an even, an odd and a broken number of steps; one, two and four rows; sums that are split. */
static void blocks_of_sub_groups(void **state)
{
	static const int64_t products[][3] = {{1, 64, 33},  {1, 1056, 80}, {2, 96, 50},   {1, 48, 40}, {3, 32, 17},
					      {1, 37, 130}, {6, 4128, 35}, {5, 4109, 48}, {1, 1, 16},  {1, 1100, 31}};
	static const enum kernel kernels[] = {KERNEL_matmul_i8_trit2, KERNEL_matmul_f32_panels,  KERNEL_matmul_f32_bf16,
					      KERNEL_matmul_f32_f16,  KERNEL_matmul_trits_trit2, KERNEL_matmul_f32};
	(void)state;
	n_calls = 0;
	model_init(&blocks);
	for (uint32_t i = 0; i < sizeof products / sizeof *products; i++)
		for (uint32_t k = 0; k < (i % 3 ? 2 : sizeof kernels / sizeof *kernels); k++)
			add_product(&blocks, kernels[k], products[i][0], products[i][1], products[i][2]);
	check_emulated(&blocks, "-DTRI_READ_INTEL -DTRI_SWAP_INTEL -DTRI_EMULATED");
}

static int end_models(void **state)
{
	(void)state;
	model_end(&portable);
	model_end(&matrix);
	model_end(&blocks);
	return 0;
}

int test_opencl_kernels(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(both_variants), cmocka_unit_test(matrix_instructions),
					   cmocka_unit_test(blocks_of_sub_groups)};
	return cmocka_run_group_tests(tests, NULL, end_models);
}
