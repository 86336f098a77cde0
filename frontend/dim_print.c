/* Dimensions as text, and as programs of a stack machine. */
#include "base/buf.h"
#include "frontend/dim_state.h"

static bool needs_brackets(const struct dims *d, dim x)
{
	const struct poly *p = &d->polys[x.idx];
	return p->n + (p->c0 != 0) > 1 || (p->n == 1 && (p->terms[0].coef != 1 || d->atoms[p->terms[0].atom].kind != ATOM_SYM));
}

static void print_operand(const struct dims *d, dim x, struct buf *out)
{
	bool brackets = needs_brackets(d, x);
	if (brackets)
		buf_putc(out, '(');
	dim_print(d, x, out);
	if (brackets)
		buf_putc(out, ')');
}

static void atom_print(const struct dims *d, uint32_t atom, bool factor, struct buf *out)
{
	const struct atom *x = &d->atoms[atom];
	if (x->kind == ATOM_SYM) {
		buf_puts(out, d->names[x->sym]);
		return;
	}
	if (x->kind == ATOM_PRODUCT) {
		for (uint32_t i = 0; i < x->n; i++) {
			if (i)
				buf_putc(out, '*');
			atom_print(d, x->factors[i], true, out);
		}
		return;
	}
	if (factor)
		buf_putc(out, '(');
	print_operand(d, x->a, out);
	buf_puts(out, x->kind == ATOM_DIV ? "//" : "%");
	print_operand(d, x->b, out);
	if (factor)
		buf_putc(out, ')');
}

void dim_print(const struct dims *d, dim x, struct buf *out)
{
	const struct poly *p = &d->polys[x.idx];
	for (uint32_t i = 0; i < p->n; i++) {
		int64_t c = p->terms[i].coef;
		if (i)
			buf_puts(out, c < 0 ? " - " : " + ");
		else if (c < 0)
			buf_putc(out, '-');
		uint64_t size = c < 0 ? 0 - (uint64_t)c : (uint64_t)c;
		if (size != 1)
			buf_printf(out, "%llu*", (unsigned long long)size);
		atom_print(d, p->terms[i].atom, size != 1, out);
	}
	if (!p->n)
		buf_printf(out, "%lld", (long long)p->c0);
	else if (p->c0)
		buf_printf(out, p->c0 < 0 ? " - %llu" : " + %llu", (unsigned long long)(p->c0 < 0 ? 0 - (uint64_t)p->c0 : (uint64_t)p->c0));
}

/* ---- programs ---- */

struct program {
	struct dim_step *steps;
	uint32_t cap, n;
};

static void step(struct program *p, enum dim_op op, int64_t value)
{
	if (p->n < p->cap)
		p->steps[p->n] = (struct dim_step){op, value};
	p->n++;
}

static void poly_steps(const struct dims *d, dim x, struct program *p);

static void atom_steps(const struct dims *d, uint32_t atom, struct program *p)
{
	const struct atom *x = &d->atoms[atom];
	if (x->kind == ATOM_SYM) {
		step(p, DIM_PUSH_SYM, x->sym);
	} else if (x->kind == ATOM_PRODUCT) {
		for (uint32_t i = 0; i < x->n; i++) {
			atom_steps(d, x->factors[i], p);
			if (i)
				step(p, DIM_OP_MUL, 0);
		}
	} else {
		poly_steps(d, x->a, p);
		poly_steps(d, x->b, p);
		step(p, x->kind == ATOM_DIV ? DIM_OP_FLOORDIV : DIM_OP_MOD, 0);
	}
}

static void poly_steps(const struct dims *d, dim x, struct program *p)
{
	const struct poly *q = &d->polys[x.idx];
	for (uint32_t i = 0; i < q->n; i++) {
		atom_steps(d, q->terms[i].atom, p);
		if (q->terms[i].coef != 1) {
			step(p, DIM_PUSH_CONST, q->terms[i].coef);
			step(p, DIM_OP_MUL, 0);
		}
		if (i)
			step(p, DIM_OP_ADD, 0);
	}
	if (q->n && !q->c0)
		return;
	step(p, DIM_PUSH_CONST, q->c0);
	if (q->n)
		step(p, DIM_OP_ADD, 0);
}

uint32_t dim_program(const struct dims *d, dim x, struct dim_step *steps, uint32_t cap)
{
	struct program p = {steps, cap, 0};
	poly_steps(d, x, &p);
	return p.n;
}
