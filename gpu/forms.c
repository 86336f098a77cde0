#include "gpu/forms.h"
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "gpu/embedded.h"

#define GROUPS TRI_CL_GROUPS
#define WIDE TRI_CL_WIDE
#define ITEM false
#define GROUP true
#define FIELD_OF(record, field) (uint32_t)(offsetof(struct record##_dims, field) / sizeof(dim))
#define ALWAYS {0, 0}
#define UP_TO(record, field, limit) {FIELD_OF(record, field), limit}
#define SIDE(record, field, n) {FIELD_OF(record, field), n},
#define FORM(kernel, record, variant, source, each, group, when, tile) {KERNEL_##kernel, variant, #source, each, group, when, {tile{0, 0}}},
static const struct form forms[] = {
#include "gpu/forms.def"
};

enum { USUAL_GROUP = 64 };

const struct form *form_of(struct arena *a, enum tri_cl_variant variant, enum kernel kernel, const struct dims *d, const dim *dims)
{
	for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct form *x = &forms[i];
		int64_t size;
		if (x->kernel == kernel && x->variant == variant &&
		    (!x->when.n || (dim_is_const(d, dims[x->when.field], &size) && size <= x->when.n)))
			return x;
	}
	struct form *usual = ARENA_NEW(a, struct form);
	*usual = (struct form){kernel, variant, kernel_info(kernel)->symbol, false, USUAL_GROUP, {0, 0}, {{0, 0}}};
	return usual;
}

static uint32_t form_side_of(const struct form *x, uint32_t field)
{
	const struct form_side *s = x->tile;
	while (s->n && s->field != field)
		s++;
	return s->n ? s->n : 1;
}

dim form_items(const struct form *x, struct dims *d, const dim *dims)
{
	const struct kernel_record *r = kernel_record(x->kernel);
	const struct kernel_operand *result = r->operands;
	dim one = dim_const(d, 1), items = x->by_group ? dim_const(d, x->group) : one;
	for (const uint8_t *k = r->items.fields; *k; k++) {
		dim side = dim_const(d, form_side_of(x, *k - 1u));
		items = dim_mul(d, items, dim_floordiv(d, dim_add(d, dims[*k - 1], dim_sub(d, side, one)), side));
	}
	while (result[1].name)
		result++;
	for (const uint8_t *k = result->size.fields; *k; k++)
		if (!memchr(r->items.fields, *k, strlen((const char *)r->items.fields))) /* times 1, or 0 if there are none */
			items = dim_mul(d, items, dim_sub(d, one, dim_floordiv(d, one, dim_add(d, dims[*k - 1], one))));
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
