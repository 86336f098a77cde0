#include "gpu/forms.h"
#include <string.h>
#include "backend/loops/ir/beside.h"
#include "base/arena.h"
#include "base/bug.h"
#include "gpu/embedded.h"

#define GROUPS TRI_CL_GROUPS
#define WIDE TRI_CL_WIDE
#define ITEM false
#define GROUP true
#define ALL UINT32_MAX
#define FIELD_OF(record, field) (uint32_t)(offsetof(struct record##_dims, field) / sizeof(dim))
#define ALWAYS
#define UP_TO(record, field, n) {FORM_UP_TO, FIELD_OF(record, field), n, 0, 0},
#define EXACTLY(record, field, n) {FORM_EXACTLY, FIELD_OF(record, field), n, 0, 0},
#define MULTIPLE(record, field, n) {FORM_MULTIPLE, FIELD_OF(record, field), n, 0, 0},
#define PART_MULTIPLE(record, field, part, whole, n) \
	{FORM_PART_MULTIPLE, FIELD_OF(record, field), n, FIELD_OF(record, part), FIELD_OF(record, whole)},
#define SAME(record, field, other) {FORM_SAME, FIELD_OF(record, field), FIELD_OF(record, other), 0, 0},
#define TILES(n) {FORM_TILES, 0, n, 0, 0},
#define SIDE(record, field, n) {FIELD_OF(record, field), n},
#define ROWS(n) {FORM_ROWS, n},
#define OVER(record, field) FIELD_OF(record, field) + 1,
#define INTO(sum, groups, depth, beside, over) \
	{                                      \
		#sum, groups, depth, beside,   \
		{                              \
			{                      \
				over           \
			}                      \
		}                              \
	}
#define SPLIT(kernel, record, variant, source, each, group, when, tile, into) \
	{KERNEL_##kernel, variant, #source, each, group, false, {when{FORM_ALWAYS, 0, 0, 0, 0}}, {tile{0, 0}}, into},
#define FORM(kernel, record, variant, source, each, group, when, tile) \
	{KERNEL_##kernel, variant, #source, each, group, false, {when{FORM_ALWAYS, 0, 0, 0, 0}}, {tile{0, 0}}, {NULL, 0, 0, 0, {{0}}}},
#define BESIDE(kernel, record, variant, source, each, group, when, tile) \
	{KERNEL_##kernel, variant, #source, each, group, true, {when{FORM_ALWAYS, 0, 0, 0, 0}}, {tile{0, 0}}, {NULL, 0, 0, 0, {{0}}}},
static const struct form forms[] = {
#include "gpu/forms.def"
};

enum { USUAL_GROUP = 64 };

/* Returns the side of a tile along a field; 0: none is given. */
static uint32_t form_side_of(const struct form *x, uint32_t field)
{
	const struct form_side *s = x->tile;
	while (s->n && s->field != field)
		s++;
	return s->n;
}

static dim form_tiles(struct dims *d, dim size, uint32_t side)
{
	dim n = dim_const(d, side ? side : 1);
	return dim_floordiv(d, dim_add(d, size, dim_sub(d, n, dim_const(d, 1))), n);
}

static bool form_has_field(const struct kernel_shape *s, uint8_t field)
{
	return memchr(s->fields, field, strlen((const char *)s->fields)) != NULL;
}

/* True if there are not more tiles, where sizes that are not constant count as 1. */
static bool form_tiles_up_to(const struct form *x, const struct dims *d, const dim *dims, int64_t most)
{
	const struct kernel_record *r = kernel_record(x->kernel);
	uint32_t rows = form_side_of(x, FORM_ROWS);
	int64_t tiles = 1, flat = 1; /* rows */
	for (const uint8_t *k = r->items.fields; *k; k++) {
		bool is_row = rows && form_has_field(&r->tile[1], *k);
		uint32_t side = is_row ? 0 : form_side_of(x, *k - 1u);
		int64_t size, *of = is_row ? &flat : &tiles;
		if (!dim_is_const(d, dims[*k - 1], &size))
			continue;
		*of *= side ? (size + side - 1) / side : size;
		if (size > INT32_MAX || *of > INT32_MAX)
			return false;
	}
	return tiles * (rows ? (flat + rows - 1) / rows : 1) <= most;
}

static dim form_all_tiles(const struct form *x, struct dims *d, const dim *dims)
{
	const struct kernel_record *r = kernel_record(x->kernel);
	uint32_t rows = form_side_of(x, FORM_ROWS);
	dim tiles = dim_const(d, 1), of[SHAPE_FIELDS];
	for (const uint8_t *k = r->items.fields; *k; k++)
		if (!rows || !form_has_field(&r->tile[1], *k))
			tiles = dim_mul(d, tiles, form_tiles(d, dims[*k - 1], form_side_of(x, *k - 1u)));
	if (rows)
		tiles = dim_mul(d, tiles, form_tiles(d, dim_product(d, of, kernel_shape_dims(&r->tile[1], dims, of)), rows));
	return tiles;
}

static const struct kernel_operand *form_result(const struct kernel_record *r)
{
	const struct kernel_operand *result = r->operands;
	while (result[1].name)
		result++;
	return result;
}

/* ---- forms that are split ---- */

static dim form_product(struct dims *d, const struct kernel_shape *s, const dim *dims)
{
	dim of[SHAPE_FIELDS];
	return dim_product(d, of, kernel_shape_dims(s, dims, of));
}

/* x, or 1 if it is 0. */
static dim at_least_one(struct dims *d, dim x)
{
	dim one = dim_const(d, 1);
	return dim_add(d, x, dim_floordiv(d, one, dim_add(d, x, one)));
}

static dim ceil_div(struct dims *d, dim x, dim by) { return dim_floordiv(d, dim_add(d, x, dim_sub(d, by, dim_const(d, 1))), by); }

struct split {
	dim all;   /* the terms in units of the depth, without a rest; at least 1 */
	dim units; /* of a part; at least 1 */
	dim terms; /* of a part */
	dim parts;
};

static struct split split_of(const struct form *x, struct dims *d, const dim *dims)
{
	dim tiles = at_least_one(d, form_all_tiles(x, d, dims)), depth = dim_const(d, x->split.depth);
	dim parts = at_least_one(d, dim_floordiv(d, dim_const(d, x->split.groups), tiles)), terms = form_product(d, &x->split.terms, dims);
	struct split s = {.all = at_least_one(d, dim_floordiv(d, terms, depth))};
	s.units = ceil_div(d, s.all, parts);
	s.terms = dim_mul(d, s.units, depth);
	s.parts = ceil_div(d, terms, s.terms);
	return s;
}

/* 1 if there are several parts, else 0. */
static dim split_holds(const struct form *x, struct dims *d, const dim *dims)
{
	struct split s = split_of(x, d, dims);
	return dim_sub(d, dim_const(d, 1), dim_floordiv(d, s.units, s.all));
}

dim form_part(const struct form *x, struct dims *d, const dim *dims) { return split_of(x, d, dims).terms; }

dim form_scratch(const struct form *x, struct dims *d, const dim *dims)
{
	const struct kernel_record *r = kernel_record(x->kernel);
	dim beside = dim_mul(d, form_product(d, &r->items, dims), dim_const(d, x->split.beside));
	dim numbers = dim_add(d, form_product(d, &form_result(r)->size, dims), beside);
	return dim_mul(d, dim_mul(d, numbers, dim_const(d, sizeof(float))), split_of(x, d, dims).parts);
}

dim form_sum_items(const struct form *x, struct dims *d, const dim *dims)
{
	return form_product(d, &form_result(kernel_record(x->kernel))->size, dims);
}

/* ---- which forms hold ---- */

/* In the order in which they decide: a form holds if all its conditions do. */
enum form_answer { FORM_NO, FORM_AT_RUN_TIME, FORM_YES };

static enum form_answer form_condition_holds(const struct form *x, const struct form_condition *when, const struct dims *d, const dim *dims)
{
	int64_t size = 0, other, part, whole;
	bool holds = when->kind == FORM_TILES ? form_tiles_up_to(x, d, dims, when->n) : dim_is_const(d, dims[when->field], &size);
	switch (when->kind) {
	case FORM_UP_TO:
		if (!holds)
			return FORM_AT_RUN_TIME;
		holds = size <= when->n;
		break;
	case FORM_EXACTLY: holds = holds && size == when->n; break;
	case FORM_MULTIPLE: holds = holds && size % when->n == 0; break;
	case FORM_SAME: holds = holds && dim_is_const(d, dims[when->n], &other) && size == other; break;
	case FORM_PART_MULTIPLE:
		holds = holds && dim_is_const(d, dims[when->part], &part) && dim_is_const(d, dims[when->whole], &whole) && whole > 0 &&
			size * part % (whole * when->n) == 0;
		break;
	case FORM_TILES:
	case FORM_ALWAYS: break;
	}
	return holds ? FORM_YES : FORM_NO;
}

static enum form_answer form_is_split(struct arena *a, const struct form *x, const struct dims *d, const dim *dims)
{
	struct dims *own = dims_new(a);
	dim known[KERNEL_FIELDS];
	int64_t v;
	for (uint32_t i = 0; i < kernel_record(x->kernel)->n_fields; i++)
		known[i] = dim_is_const(d, dims[i], &v) ? dim_const(own, v) : dim_new_sym(own, "");
	if (dim_is_const(own, split_of(x, own, known).all, &v) && v == 1)
		return FORM_NO;
	bool is_known = dim_is_const(own, split_holds(x, own, known), &v);
	return !is_known ? FORM_AT_RUN_TIME : v && !dims_overflowed(own) ? FORM_YES : FORM_NO;
}

static enum form_answer form_holds_of(struct arena *a, const struct form *x, const struct dims *d, const dim *dims)
{
	enum form_answer all = FORM_YES;
	for (const struct form_condition *when = x->when; when->kind; when++) {
		enum form_answer one = form_condition_holds(x, when, d, dims);
		all = one < all ? one : all;
	}
	enum form_answer split = all == FORM_NO || !x->split.sum ? all : form_is_split(a, x, d, dims);
	return split < all ? split : all;
}

uint32_t forms_of(struct arena *a, enum tri_cl_variant variant, enum kernel kernel, const struct dims *d, const dim *dims,
		  const struct form *out[MOST_FORMS])
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct form *x = &forms[i];
		enum form_answer holds = x->kernel == kernel && x->variant == variant ? form_holds_of(a, x, d, dims) : FORM_NO;
		if (holds == FORM_NO)
			continue;
		BUG_ON(n == MOST_FORMS);
		out[n++] = x;
		if (holds == FORM_YES)
			return n;
	}
	BUG_ON(n == MOST_FORMS);
	struct form *usual = ARENA_NEW(a, struct form);
	*usual = (struct form){.kernel = kernel, .variant = variant, .source = kernel_info(kernel)->symbol, .group = USUAL_GROUP};
	out[n++] = usual;
	return n;
}

uint32_t forms_shared(const struct loop_fn *f, uint32_t stmt, const struct form *const *of, uint32_t n)
{
	uint32_t first = loops_launch_begin(f, stmt);
	for (uint32_t i = 0; i < n && loops_launch_end(f, first) > first + 1; i++)
		if (of[i]->beside)
			return i + 1;
	return 0;
}

dim form_holds(const struct form *x, struct dims *d, const dim *dims)
{
	dim one = dim_const(d, 1), holds = one;
	for (const struct form_condition *when = x->when; when->kind; when++)
		if (when->kind == FORM_UP_TO) {
			dim above = dim_floordiv(d, dims[when->field], dim_const(d, when->n + 1)); /* 0: it holds */
			holds = dim_mul(d, holds, dim_floordiv(d, one, dim_add(d, above, one)));
		}
	return x->split.sum ? dim_mul(d, holds, split_holds(x, d, dims)) : holds;
}

dim form_items(const struct form *x, struct dims *d, const dim *dims)
{
	const struct kernel_record *r = kernel_record(x->kernel);
	const struct kernel_operand *result = form_result(r);
	dim one = dim_const(d, 1), items = dim_mul(d, form_all_tiles(x, d, dims), dim_const(d, x->by_group ? x->group : 1));
	if (x->split.sum)
		items = dim_mul(d, items, split_of(x, d, dims).parts);
	for (const uint8_t *k = result->size.fields; *k; k++)
		if (!form_has_field(&r->items, *k)) /* times 1, or 0 if there are none */
			items = dim_mul(d, items, dim_sub(d, one, dim_floordiv(d, one, dim_add(d, dims[*k - 1], one))));
	if (kernel_fails(x->kernel)) /* of no elements, too, an index is checked */
		items = dim_add(d, items, dim_floordiv(d, one, dim_add(d, items, one)));
	return items;
}

static const char *find_template(const struct embedded *all, const char *name)
{
	for (const struct embedded *e = all; e->name; e++)
		if (!strcmp(e->name, name))
			return (const char *)e->bytes;
	return NULL;
}

const char *form_template(enum tri_cl_variant variant, const char *name)
{
	const char *text = variant == TRI_CL_WIDE ? find_template(GPU_TEMPLATES_WIDE, name) : NULL;
	text = text ? text : find_template(GPU_TEMPLATES_GROUPS, name);
	return text ? text : find_template(GPU_TEMPLATES, name);
}
