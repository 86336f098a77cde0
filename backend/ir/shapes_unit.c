/* The rules of operations that refer to something outside of the function: its inputs, its callees, the run. */
#include "backend/ir/shapes.h"
#include "base/format.h"

static void check_declared(struct ir_shape *v, const struct ir_inst *i, const struct hir_type *types, uint32_t n)
{
	uint32_t number = ir_number(i)->number;
	need(v, number < n && ir_type_same(&i->type, &types[number]), "not declared with this type");
}
void ir_shape_input(struct ir_shape *v, const struct ir_inst *i) { check_declared(v, i, v->f->inputs, v->f->n_inputs); }
void ir_shape_weight(struct ir_shape *v, const struct ir_inst *i) { check_declared(v, i, v->f->weights, v->f->n_weights); }

void ir_shape_known(struct ir_shape *v, const struct ir_inst *i) { need(v, ir_type_const(v->f->dims, &i->type), "the size must be known"); }
void ir_shape_dim_value(struct ir_shape *v, const struct ir_inst *i) { (void)ir_result_rank(v, i, 0); }

/* A unit that was read from a text has no body, and its types are not known. */
static bool has_body(const struct hir_unit *u) { return u->nodes != NULL; }

/* True if t can be type `want` of u, as far as the call need not translate it. */
static bool type_fits(const struct ir_shape *v, const struct hir_type *t, const struct hir_unit *u, const struct hir_type *want)
{
	bool ok = t->elem == want->elem && t->rank == want->rank;
	for (uint32_t k = 0; ok && k < t->rank; k++) {
		int64_t have, size;
		if (dim_is_const(u->dims, want->dims[k], &size) && dim_is_const(v->f->dims, t->dims[k], &have))
			ok = have == size;
	}
	return ok;
}

/* True if the operands from `first` on are the inputs of u: all, or those known at run time and the weight table. Sets *after to the next one. */
static bool takes(const struct ir_shape *v, const struct ir_inst *i, const struct hir_unit *u, bool run, uint32_t first, uint32_t *after)
{
	uint32_t at = first;
	for (uint32_t k = 0; k < u->n_inputs; k++) {
		if (run && u->inputs[k].build_time)
			continue;
		if (at >= i->n_operands || !type_fits(v, operand(v, at), u, &u->inputs[k].type))
			return false;
		at++;
	}
	if (run && (at >= i->n_operands || ir_at(v->f, v->operands[at])->op != OP_WEIGHT))
		return false;
	*after = at + run;
	return true;
}

static bool takes_all(const struct ir_shape *v, const struct ir_inst *i, bool run)
{
	const struct ir_call *c = ir_call(i);
	uint32_t at = i->op != OP_CALL;
	return takes(v, i, c->callee, run, at, &at) && (!c->other || takes(v, i, c->other, run, at, &at)) && at == i->n_operands;
}

void ir_shape_call(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_call *c = ir_call(i);
	need(v, !c->other || dims_syms(c->other->dims) == dims_syms(c->callee->dims), "the callees have different symbols");
	if (v->fault || !has_body(c->callee) || (c->other && !has_body(c->other)))
		return;
	need(v, takes_all(v, i, false) || takes_all(v, i, true), "the operands are not the inputs of the callee");
}

void ir_shape_result(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_inst *of = ir_at(v->f, v->operands[0]);
	if (!need(v, ir_calls(of->op), "operand 0 must be a call"))
		return;
	const struct hir_unit *u = ir_call(of)->callee;
	uint32_t output = ir_number(i)->number + (of->op == OP_LOOP); /* output 0 of the body of a loop is its condition */
	if (has_body(u) && need(v, output < u->n_outputs, "the callee has fewer results"))
		need(v, type_fits(v, &i->type, u, hir_output_type(u, output)), "the result of the callee has another type");
}

static void check_template(struct ir_shape *v, const char *text, uint32_t n)
{
	need(v, format_placeholders(text) == (int)n, "the template does not match the operands");
}
void ir_shape_print(struct ir_shape *v, const struct ir_inst *i) { check_template(v, ir_text(i)->text, i->n_operands); }
void ir_shape_assert(struct ir_shape *v, const struct ir_inst *i) { check_template(v, ir_claim(i)->text, i->n_operands - 1); }
