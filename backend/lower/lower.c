/* Visits the nodes of a unit. lowerings.def has the function for each builtin. */
#include "backend/lower/lower.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/lower/state.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/diag.h"

const struct lowering *lowering_of(enum builtin b)
{
	static const struct lowering table[BI_COUNT] = {
#define LOWER(builtin, function, op) [BI_##builtin] = {lower_bi_##function, op},
#include "backend/lower/lowerings.def"
#undef LOWER
	};
	return &table[b];
}

void lower_fail(struct lower *l, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(l->f->unit, fmt, ap);
	va_end(ap);
	diag_add(l->diags, DIAG_LOWER, l->n ? l->n->at : l->u->at, "%s", text);
	l->failed = true;
}

/* ---- symbols ---- */

static bool is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

/* True if one of the first n symbols has the name. */
static bool lower_is_taken(const struct dims *d, const char *name, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (!strcmp(dims_sym_name(d, k), name))
			return true;
	return false;
}

struct dims *lower_dims(struct arena *a, const struct hir_unit *u)
{
	struct dims *d = dims_copy(a, u->dims);
	for (uint32_t k = 0; k < dims_syms(d); k++) {
		const char *name = dims_sym_name(d, k);
		if (!is_identifier(name))
			name = "d";
		const char *unique = name;
		for (uint32_t i = k; lower_is_taken(d, unique, k); i++)
			unique = arena_printf(a, "%s_%u", name, i);
		dims_rename_sym(d, k, unique);
	}
	return d;
}

/* ---- nodes ---- */

static void declare_inputs(struct lower *l)
{
	struct ir_fn *f = l->f;
	f->inputs = ARENA_ARRAY(f->unit, struct hir_type, l->u->n_inputs + 1);
	f->weights = ARENA_ARRAY(f->unit, struct hir_type, l->u->n_inputs + 1);
	for (uint32_t k = 0; k < l->u->n_inputs; k++) {
		const struct hir_input *in = &l->u->inputs[k];
		struct hir_type t = lower_type(l, &in->type);
		if (in->build_time)
			f->weights[f->n_weights++] = t;
		else
			f->inputs[f->n_inputs++] = t;
	}
}

static ir_ref lower_input(struct lower *l)
{
	const struct hir_input *in = &l->u->inputs[l->n->index];
	uint32_t index = 0;
	for (uint32_t k = 0; k < l->n->index; k++)
		index += l->u->inputs[k].build_time == in->build_time;
	struct hir_type t = lower_type(l, &in->type);
	ir_ref r = ir_build(l->b, in->build_time ? OP_WEIGHT : OP_INPUT, &t, NULL, 0);
	ir_set_number(l->f, r, (struct ir_number){index});
	return r;
}

static ir_ref lower_const(struct lower *l)
{
	struct hir_type t = lower_node_type(l);
	size_t bytes = (size_t)ir_type_count(l->f->dims, &t) * dtype_size(t.elem);
	void *copy = arena_alloc(l->f->unit, bytes ? bytes : 1, 16);
	if (bytes)
		memcpy(copy, l->n->data, bytes);
	ir_ref r = ir_build(l->b, OP_CONST, &t, NULL, 0);
	ir_set_const(l->f, r, copy);
	return r;
}

static ir_ref lower_call(struct lower *l)
{
	const struct hir_unit *callee = l->n->callee;
	struct hir_type t = lower_node_type(l);
	ir_ref *operands = ARENA_ARRAY(l->f->unit, ir_ref, l->n->n_args + 1);
	for (uint32_t k = 0; k < l->n->n_args; k++)
		operands[k] = lower_tensor(l, k);
	uint32_t n = dims_syms(callee->dims);
	dim *syms = ARENA_ARRAY(l->f->unit, dim, n + 1);
	for (uint32_t k = 0; k < n; k++)
		syms[k] = lower_translate(l, l->n->callee_syms[k]);
	enum ir_op op = l->n->kind == HIR_IF ? OP_IF : l->n->kind == HIR_LOOP ? OP_LOOP : OP_CALL;
	ir_ref r = ir_build(l->b, op, &t, operands, l->n->n_args);
	ir_set_call(l->f, r, (struct ir_call){callee, syms, l->n->other});
	return r;
}

static const char *lower_text(struct lower *l, uint32_t k) { return arena_strdup(l->f->unit, l->u->args[l->n->args + k].u.s); }

static ir_ref lower_effect(struct lower *l)
{
	bool print = l->n->kind == HIR_PRINT;
	uint32_t lead = print ? 1 : 2, n = l->n->n_args - lead;
	struct hir_type t = ir_scalar(DT_BOOL);
	ir_ref *operands = ARENA_ARRAY(l->f->unit, ir_ref, n + 1);
	for (uint32_t k = 0; k < n; k++)
		operands[k] = lower_tensor(l, lead + k);
	ir_ref r = ir_build(l->b, print ? OP_PRINT : OP_ASSERT, &t, operands, n);
	if (print)
		ir_set_text(l->f, r, (struct ir_text){lower_text(l, 0)});
	else
		ir_set_claim(l->f, r, (struct ir_claim){lower_text(l, 0), lower_text(l, 1)});
	return r;
}

static ir_ref lower_result(struct lower *l)
{
	ir_ref *source = l->values[l->n->source];
	if (!hir_calls(l->u->nodes[l->n->source].kind)) {
		BUG_ON(l->n->index >= LOWER_RESULTS);
		return source[l->n->index] == IR_NONE ? IR_NONE : ir_build_cast(l->b, source[l->n->index], l->n->type.elem);
	}
	struct hir_type t = lower_node_type(l);
	ir_ref r = ir_build(l->b, OP_RESULT, &t, &source[0], 1);
	ir_set_number(l->f, r, (struct ir_number){l->n->index});
	return r;
}

static void lower_builtin(struct lower *l, ir_ref *results)
{
	l->how = lowering_of(l->n->builtin);
	if (!l->how->fn) {
		lower_fail(l, "the back end cannot compile `%s` yet", builtin_name(l->n->builtin));
		return;
	}
	l->how->fn(l, results);
	if (!l->failed)
		results[0] = ir_build_cast(l->b, results[0], l->n->type.elem);
}

static void lower_node(struct lower *l, uint32_t k)
{
	ir_ref *results = l->values[k];
	for (uint32_t i = 0; i < LOWER_RESULTS; i++)
		results[i] = IR_NONE;
	l->n = &l->u->nodes[k];
	l->b->origin = origins_add(l->f->origins, l->u, k, ORIGIN_NONE);
	switch (l->n->kind) {
	case HIR_INPUT: results[0] = lower_input(l); return;
	case HIR_CONST: results[0] = lower_const(l); return;
	case HIR_DIM: results[0] = ir_build_extent(l->b, lower_translate(l, l->n->extent), l->n->type.elem); return;
	case HIR_BUILTIN: lower_builtin(l, results); return;
	case HIR_CALL:
	case HIR_IF:
	case HIR_LOOP: results[0] = lower_call(l); return;
	case HIR_PRINT:
	case HIR_ASSERT: results[0] = lower_effect(l); return;
	case HIR_RESULT: results[0] = lower_result(l); return;
	}
}

struct ir_fn *lower_unit(struct arena *unit, const struct hir_unit *u, struct diags *diags)
{
	return lower_into(unit, u, lower_dims(unit, u), NULL, diags);
}

struct ir_fn *lower_into(struct arena *unit, const struct hir_unit *u, struct dims *dims, const dim *syms, struct diags *diags)
{
	struct ir_builder b = {ir_fn_new(unit, u->symbol, dims), ORIGINS_NONE};
	struct lower l = {.u = u, .diags = diags, .syms = syms, .f = b.f, .b = &b};
	declare_inputs(&l);
	l.values = arena_alloc(unit, sizeof *l.values * (u->n_nodes + 1), _Alignof(ir_ref));
	for (uint32_t k = 0; k < u->n_nodes && !l.failed; k++)
		lower_node(&l, k);
	if (l.failed)
		return NULL;
	l.f->n_outputs = u->n_outputs;
	l.f->outputs = ARENA_ARRAY(unit, ir_ref, u->n_outputs + 1);
	for (uint32_t k = 0; k < u->n_outputs; k++)
		l.f->outputs[k] = l.values[u->outputs[k].node][0];
	ir_mark_build_time(l.f);
	return l.f;
}
