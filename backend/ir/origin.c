#include "backend/ir/origin.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"

enum { FIRST_SLOTS = 64 };

struct origins *origins_new(struct arena *a)
{
	struct origins *o = ARENA_NEW(a, struct origins);
	o->arena = a;
	o->starts = ARENA_ARRAY(a, uint32_t, 2);
	o->cap_sets = 2;
	o->n_sets = 1;
	return o;
}

/* ---- sets ---- */

static uint32_t hash_members(const uint32_t *members, uint32_t n)
{
	uint32_t h = n;
	for (uint32_t k = 0; k < n; k++)
		h = (h ^ members[k]) * 0x9E3779B1u;
	return h ^ h >> 15;
}

/* Returns the slot that has the set of these members, or the empty slot for it. */
static uint32_t *find_slot(const struct origins *o, const uint32_t *members, uint32_t n)
{
	for (uint32_t i = hash_members(members, n);; i++) {
		uint32_t *slot = &o->slots[i & (o->n_slots - 1)], have = 0;
		const uint32_t *its = *slot ? origins_of(o, *slot, &have) : NULL;
		if (!its || (have == n && memcmp(its, members, n * sizeof *members) == 0))
			return slot;
	}
}

static void grow_slots(struct origins *o)
{
	o->n_slots = o->n_slots ? 2 * o->n_slots : FIRST_SLOTS;
	o->slots = ARENA_ARRAY(o->arena, uint32_t, o->n_slots);
	for (origin_set s = 1; s < o->n_sets; s++) {
		uint32_t n;
		const uint32_t *members = origins_of(o, s, &n);
		*find_slot(o, members, n) = s;
	}
}

static origin_set origin_find_or_add(struct origins *o, const uint32_t *members, uint32_t n)
{
	if (2 * o->n_sets >= o->n_slots)
		grow_slots(o);
	uint32_t *slot = find_slot(o, members, n);
	if (*slot)
		return *slot;
	o->members = arena_grow(o->arena, o->members, o->n_members, &o->cap_members, o->n_members + n, sizeof *o->members);
	memcpy(o->members + o->n_members, members, n * sizeof *members);
	o->n_members += n;
	o->starts = arena_grow(o->arena, o->starts, o->n_sets + 1, &o->cap_sets, o->n_sets + 2, sizeof *o->starts);
	o->starts[o->n_sets + 1] = o->n_members;
	return *slot = o->n_sets++;
}

origin_set origins_union(struct origins *o, origin_set a, origin_set b)
{
	uint32_t all[MOST_ORIGINS], n, m;
	if (a == b || !a || !b)
		return a ? a : b;
	const uint32_t *first = origins_of(o, a, &n), *second = origins_of(o, b, &m);
	memcpy(all, first, n * sizeof *all);
	for (uint32_t k = 0, have = n; k < m && n < MOST_ORIGINS; k++) {
		uint32_t i = 0;
		while (i < have && all[i] != second[k])
			i++;
		if (i == have)
			all[n++] = second[k];
	}
	return origin_find_or_add(o, all, n);
}

span origins_span(const struct origins *o, origin_set s)
{
	uint32_t n;
	const uint32_t *members = origins_of(o, s, &n);
	return n ? origin_node(o, members[0])->at : SPAN_NONE;
}

/* ---- origins ---- */

/* Returns the unit's number. Most often it is that of the last origin. */
static uint32_t origin_number_of(struct origins *o, const struct hir_unit *unit)
{
	for (uint32_t k = o->n_units; k-- > 0;)
		if (o->units[k] == unit)
			return k;
	o->units = arena_grow(o->arena, o->units, o->n_units, &o->cap_units, o->n_units + 1, sizeof *o->units);
	o->units[o->n_units] = unit;
	return o->n_units++;
}

static uint32_t origin_add(struct origins *o, struct origin one)
{
	o->list = arena_grow(o->arena, o->list, o->n, &o->cap, o->n + 1, sizeof *o->list);
	o->list[o->n] = one;
	return o->n++;
}

origin_set origins_add(struct origins *o, const struct hir_unit *unit, hir_ref node, uint32_t inlined_at)
{
	uint32_t number = origin_add(o, (struct origin){origin_number_of(o, unit), node, inlined_at});
	return origin_find_or_add(o, &number, 1);
}

void origin_print_layer(const struct origins *o, uint32_t origin, struct buf *out)
{
	const struct hir_node *n = origin_node(o, origin);
	size_t before = out->len;
	if (o->list[origin].inlined_at != ORIGIN_NONE)
		origin_print_layer(o, o->list[origin].inlined_at, out);
	if (n->layer && *n->layer)
		buf_printf(out, "%s%s", out->len > before ? "." : "", n->layer);
}

const char *origin_operation(const struct origins *o, uint32_t origin)
{
	const struct hir_unit *u = o->units[o->list[origin].unit];
	const struct hir_node *n = origin_node(o, origin);
	switch (n->kind) {
	case HIR_INPUT: return u->inputs[n->index].name;
	case HIR_CONST: return "constant";
	case HIR_DIM: return "size";
	case HIR_BUILTIN: return builtin_name(n->builtin);
	case HIR_CALL: return n->callee->definition_name;
	case HIR_PRINT: return "print";
	case HIR_ASSERT: return "assert";
	case HIR_IF: return "if";
	case HIR_LOOP: return "loop";
	case HIR_RESULT: return "result";
	}
	return "";
}

/* ---- copies ---- */

static void *origin_copy(struct arena *a, const void *from, size_t size)
{
	void *to = arena_alloc(a, size + 1, _Alignof(max_align_t));
	return size ? memcpy(to, from, size) : to;
}

struct origins *origins_freeze(struct arena *a, const struct origins *o)
{
	struct origins *f = ARENA_NEW(a, struct origins);
	*f = (struct origins){.n_units = o->n_units, .n = o->n, .n_members = o->n_members, .n_sets = o->n_sets};
	f->units = origin_copy(a, o->units, o->n_units * sizeof *o->units);
	f->list = origin_copy(a, o->list, o->n * sizeof *o->list);
	f->members = origin_copy(a, o->members, o->n_members * sizeof *o->members);
	f->starts = origin_copy(a, o->starts, (o->n_sets + 1) * sizeof *o->starts);
	return f;
}

struct origins_copy origins_copy_begin(struct arena *scratch, struct origins *to, const struct origins *from, origin_set inlined_at)
{
	uint32_t n;
	const uint32_t *call = origins_of(to, inlined_at, &n);
	struct origins_copy c = {to, from, n ? call[0] : ORIGIN_NONE, ARENA_ARRAY(scratch, uint32_t, from->n + 1),
				 ARENA_ARRAY(scratch, origin_set, from->n_sets)};
	memset(c.copied, 0xff, from->n * sizeof *c.copied);
	return c;
}

static uint32_t copy_origin(struct origins_copy *c, uint32_t origin)
{
	struct origin one = c->from->list[origin];
	if (c->copied[origin] != ORIGIN_NONE)
		return c->copied[origin];
	one.inlined_at = one.inlined_at == ORIGIN_NONE ? c->inlined_at : copy_origin(c, one.inlined_at);
	one.unit = origin_number_of(c->to, c->from->units[one.unit]);
	return c->copied[origin] = origin_add(c->to, one);
}

origin_set origins_copy_set(struct origins_copy *c, origin_set s)
{
	uint32_t copies[MOST_ORIGINS], n;
	const uint32_t *members = origins_of(c->from, s, &n);
	if (!n || c->sets[s])
		return c->sets[s];
	BUG_ON(n > MOST_ORIGINS);
	for (uint32_t k = 0; k < n; k++)
		copies[k] = copy_origin(c, members[k]);
	return c->sets[s] = origin_find_or_add(c->to, copies, n);
}
