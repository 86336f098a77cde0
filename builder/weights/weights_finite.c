/* Units are listed callees before callers, so a call knows what the callee does with its inputs. Within a unit the nodes are visited
 * from the last to the first, so a node knows whether its value reaches a quantizer. */
#include "builder/weights/weights_file.h"
#include <string.h>
#include "base/arena.h"
#include "base/map.h"
#include "frontend/hir/hir.h"

struct reached {
	struct arena *a;
	struct map index; /* unit → its place in `inputs` */
	span **inputs;    /* for each unit and input: the quantizer that its value reaches */
};

static bool weights_finite_is_set(span s) { return s.source != SPAN_NO_SOURCE; }

static bool quantizes(const struct hir_node *n)
{
	return n->kind == HIR_BUILTIN && n->build_time && (n->type.elem == DT_TRIT || n->builtin == BI_ABSMAX_QUANTIZE);
}

static hash128 weights_finite_key_of(const struct hir_unit *u) { return map_key_u64((uint64_t)(uintptr_t)u); }

static span weights_finite_input_of(const struct reached *r, const struct hir_unit *callee, uint32_t i)
{
	uint64_t at;
	return callee && i < callee->n_inputs && map_get(&r->index, weights_finite_key_of(callee), &at) ? r->inputs[at][i] : SPAN_NONE;
}

/* The quantizer that argument i of the node reaches in the unit that it calls. */
static span reached_in_callee(const struct reached *r, const struct hir_node *n, uint32_t i)
{
	if (n->kind == HIR_CALL)
		return weights_finite_input_of(r, n->callee, i);
	if (n->kind == HIR_LOOP)
		return i ? weights_finite_input_of(r, n->callee, i - 1) : SPAN_NONE;
	if (n->kind != HIR_IF || i == 0)
		return SPAN_NONE;
	return i - 1 < n->callee->n_inputs ? weights_finite_input_of(r, n->callee, i - 1)
					   : weights_finite_input_of(r, n->other, i - 1 - n->callee->n_inputs);
}

static void weights_finite_mark(const struct hir_unit *u, span *reached, hir_ref node, span at)
{
	if (weights_finite_is_set(at) && u->nodes[node].build_time && !weights_finite_is_set(reached[node]))
		reached[node] = at;
}

static void weights_finite_mark_arg(const struct hir_unit *u, span *reached, const struct hir_arg *arg, span at)
{
	if (arg->kind == ARG_TENSOR)
		weights_finite_mark(u, reached, arg->u.tensor, at);
	for (uint32_t k = 0; arg->kind == ARG_LIST && k < arg->u.list.n; k++)
		weights_finite_mark_arg(u, reached, &u->args[arg->u.list.start + k], at);
}

static void visit_unit(struct reached *r, const struct hir_unit *u, span *inputs)
{
	span *reached = ARENA_ARRAY(r->a, span, u->n_nodes + 1);
	for (uint32_t i = 0; i < u->n_nodes; i++)
		reached[i] = SPAN_NONE;
	for (uint32_t i = u->n_nodes; i-- > 0;) {
		const struct hir_node *n = &u->nodes[i];
		span here = weights_finite_is_set(reached[i]) ? reached[i] : quantizes(n) ? n->at : SPAN_NONE;
		if (n->kind == HIR_INPUT)
			inputs[n->index] = here;
		if (n->kind == HIR_RESULT)
			weights_finite_mark(u, reached, n->source, here);
		for (uint32_t k = 0; k < n->n_args && n->kind != HIR_INPUT && n->kind != HIR_CONST; k++) {
			weights_finite_mark_arg(u, reached, &u->args[n->args + k], here);
			weights_finite_mark_arg(u, reached, &u->args[n->args + k], reached_in_callee(r, n, k));
		}
	}
}

const span *weights_quantizers(struct arena *a, const struct hir_program *p)
{
	struct reached r = {.a = a, .inputs = ARENA_ARRAY(a, span *, p->n_units + 1)};
	span *params = ARENA_ARRAY(a, span, p->n_params + 1);
	for (uint32_t i = 0; i < p->n_params; i++)
		params[i] = SPAN_NONE;
	for (uint32_t i = 0; i < p->n_units; i++) {
		const struct hir_unit *u = p->units[i];
		r.inputs[i] = ARENA_ARRAY(a, span, u->n_inputs + 1);
		for (uint32_t k = 0; k < u->n_inputs; k++)
			r.inputs[i][k] = SPAN_NONE;
		visit_unit(&r, u, r.inputs[i]);
		map_put(&r.index, weights_finite_key_of(u), i);
	}
	for (uint32_t i = 0; i < p->n_entries; i++) {
		const struct hir_entry *e = &p->entries[i];
		for (uint32_t k = 0; k < e->unit->n_inputs; k++)
			if (e->params[k] != HIR_NONE && weights_finite_is_set(weights_finite_input_of(&r, e->unit, k)))
				params[e->params[k]] = weights_finite_input_of(&r, e->unit, k);
	}
	map_free(&r.index);
	return params;
}

/* Each returns the index of the first of n elements whose exponent is all ones, or n. `mask`: the bits of the exponent. Whole blocks are
 * looked through without a branch for each element. */
enum { SCAN_BLOCK = 1024 };
#define SCAN(width)                                                                                                         \
	static bool has_none##width(const char *data, uint##width##_t mask)                                                 \
	{                                                                                                                   \
		uint##width##_t any = 0;                                                                                    \
		for (size_t i = 0; i < SCAN_BLOCK; i++) {                                                                   \
			uint##width##_t bits;                                                                               \
			memcpy(&bits, data + i * sizeof bits, sizeof bits);                                                 \
			any |= (uint##width##_t)((bits & mask) == mask);                                                    \
		}                                                                                                           \
		return !any;                                                                                                \
	}                                                                                                                   \
	static size_t scan##width(const char *data, size_t n, uint##width##_t mask)                                         \
	{                                                                                                                   \
		for (size_t i = 0; i < n; i++) {                                                                            \
			uint##width##_t bits;                                                                               \
			while (i % SCAN_BLOCK == 0 && n - i >= SCAN_BLOCK && has_none##width(data + i * sizeof bits, mask)) \
				i += SCAN_BLOCK;                                                                            \
			if (i == n)                                                                                         \
				break;                                                                                      \
			memcpy(&bits, data + i * sizeof bits, sizeof bits);                                                 \
			if ((bits & mask) == mask)                                                                          \
				return i;                                                                                   \
		}                                                                                                           \
		return n;                                                                                                   \
	}
SCAN(16)
SCAN(32)
SCAN(64)
#undef SCAN

bool weights_finite(dtype elem, const void *data, size_t n, size_t *at)
{
	size_t first = n;
	if (elem == DT_FLOAT16)
		first = scan16(data, n, 0x7c00);
	else if (elem == DT_BFLOAT16)
		first = scan16(data, n, 0x7f80);
	else if (elem == DT_FLOAT32)
		first = scan32(data, n, UINT32_C(0x7f800000));
	else if (elem == DT_FLOAT64)
		first = scan64(data, n, UINT64_C(0x7ff0000000000000));
	*at = first;
	return first == n;
}
