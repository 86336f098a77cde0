/* Dimensions as text and as postfix programs. */
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "frontend/hir/dim_state.h"

struct dim_printer {
	const struct dims *d;
	struct buf *out;
	bool apart; /* number symbols of the same name */
};

static bool needs_brackets(const struct dims *d, dim x)
{
	const struct poly *p = &d->polys[x.idx];
	return p->n + (p->c0 != 0) > 1 || (p->n == 1 && (p->terms[0].coef != 1 || d->atoms[p->terms[0].atom].kind != ATOM_SYM));
}

static void dim_print_print(const struct dim_printer *t, dim x);

static void print_operand(const struct dim_printer *t, dim x)
{
	bool brackets = needs_brackets(t->d, x);
	if (brackets)
		buf_putc(t->out, '(');
	dim_print_print(t, x);
	if (brackets)
		buf_putc(t->out, ')');
}

/* Prints the name, with a number if an earlier symbol has the same name: `H`, `H_2`. */
static void print_symbol(const struct dim_printer *t, uint32_t sym)
{
	uint32_t earlier = 0;
	const char *name = t->d->names[sym];
	for (uint32_t i = 0; t->apart && i < sym && *name != '?'; i++)
		earlier += !strcmp(t->d->names[i], name);
	buf_puts(t->out, name);
	if (earlier)
		buf_printf(t->out, "_%u", earlier + 1);
}

static void print_atom(const struct dim_printer *t, uint32_t atom, bool factor)
{
	const struct atom *x = &t->d->atoms[atom];
	if (x->kind == ATOM_SYM) {
		print_symbol(t, x->sym);
		return;
	}
	if (x->kind == ATOM_PRODUCT) {
		for (uint32_t i = 0; i < x->n; i++) {
			if (i)
				buf_putc(t->out, '*');
			print_atom(t, x->factors[i], true);
		}
		return;
	}
	if (factor)
		buf_putc(t->out, '(');
	print_operand(t, x->a);
	buf_puts(t->out, x->kind == ATOM_DIV ? "//" : "%");
	print_operand(t, x->b);
	if (factor)
		buf_putc(t->out, ')');
}

static void dim_print_print(const struct dim_printer *t, dim x)
{
	const struct poly *p = &t->d->polys[x.idx];
	struct buf *out = t->out;
	for (uint32_t i = 0; i < p->n; i++) {
		int64_t c = p->terms[i].coef;
		if (i)
			buf_puts(out, c < 0 ? " - " : " + ");
		else if (c < 0)
			buf_putc(out, '-');
		uint64_t size = c < 0 ? 0 - (uint64_t)c : (uint64_t)c;
		if (size != 1)
			buf_printf(out, "%llu*", (unsigned long long)size);
		print_atom(t, p->terms[i].atom, size != 1);
	}
	if (!p->n)
		buf_printf(out, "%lld", (long long)p->c0);
	else if (p->c0)
		buf_printf(out, p->c0 < 0 ? " - %llu" : " + %llu", (unsigned long long)(p->c0 < 0 ? 0 - (uint64_t)p->c0 : (uint64_t)p->c0));
}

void dim_print(const struct dims *d, dim x, struct buf *out) { dim_print_print(&(struct dim_printer){d, out, false}, x); }

void dim_print_apart(const struct dims *d, dim x, struct buf *out) { dim_print_print(&(struct dim_printer){d, out, true}, x); }

static void dim_print_mark_dim(const struct dims *d, dim x, bool *used);

static void mark_atom(const struct dims *d, uint32_t atom, bool *used)
{
	const struct atom *x = &d->atoms[atom];
	if (used[atom])
		return;
	used[atom] = true;
	for (uint32_t i = 0; x->kind == ATOM_PRODUCT && i < x->n; i++)
		mark_atom(d, x->factors[i], used);
	if (x->kind == ATOM_DIV || x->kind == ATOM_MOD) {
		dim_print_mark_dim(d, x->a, used);
		dim_print_mark_dim(d, x->b, used);
	}
}

static void dim_print_mark_dim(const struct dims *d, dim x, bool *used)
{
	for (uint32_t i = 0; i < d->polys[x.idx].n; i++)
		mark_atom(d, d->polys[x.idx].terms[i].atom, used);
}

void dims_print_atoms(const struct dims *d, const dim *x, uint32_t n, struct buf *out)
{
	const char *comma = "";
	bool *used = calloc(d->n_atoms + 1, sizeof *used);
	if (!used)
		bug_no_memory();
	for (uint32_t i = 0; i < n; i++)
		dim_print_mark_dim(d, x[i], used);
	for (uint32_t i = 0; i < d->n_atoms; i++) {
		if (!used[i] && d->atoms[i].kind != ATOM_SYM)
			continue;
		buf_puts(out, comma);
		print_atom(&(struct dim_printer){d, out, false}, i, false);
		comma = ", ";
	}
	free(used);
}

/* ---- programs ---- */

struct step_writer {
	struct dim_step *steps;
	uint32_t cap, n;
};

static void dim_print_add_step(struct step_writer *p, enum dim_op op, int64_t value)
{
	if (p->n < p->cap)
		p->steps[p->n] = (struct dim_step){op, value};
	p->n++;
}

static void add_poly_steps(const struct dims *d, dim x, struct step_writer *p);

static void add_atom_steps(const struct dims *d, uint32_t atom, struct step_writer *p)
{
	const struct atom *x = &d->atoms[atom];
	if (x->kind == ATOM_SYM) {
		dim_print_add_step(p, DIM_PUSH_SYM, x->sym);
	} else if (x->kind == ATOM_PRODUCT) {
		for (uint32_t i = 0; i < x->n; i++) {
			add_atom_steps(d, x->factors[i], p);
			if (i)
				dim_print_add_step(p, DIM_OP_MUL, 0);
		}
	} else {
		add_poly_steps(d, x->a, p);
		add_poly_steps(d, x->b, p);
		dim_print_add_step(p, x->kind == ATOM_DIV ? DIM_OP_FLOORDIV : DIM_OP_MOD, 0);
	}
}

static void add_poly_steps(const struct dims *d, dim x, struct step_writer *p)
{
	const struct poly *q = &d->polys[x.idx];
	for (uint32_t i = 0; i < q->n; i++) {
		add_atom_steps(d, q->terms[i].atom, p);
		if (q->terms[i].coef != 1) {
			dim_print_add_step(p, DIM_PUSH_CONST, q->terms[i].coef);
			dim_print_add_step(p, DIM_OP_MUL, 0);
		}
		if (i)
			dim_print_add_step(p, DIM_OP_ADD, 0);
	}
	if (q->n && !q->c0)
		return;
	dim_print_add_step(p, DIM_PUSH_CONST, q->c0);
	if (q->n)
		dim_print_add_step(p, DIM_OP_ADD, 0);
}

uint32_t dim_program(const struct dims *d, dim x, struct dim_step *steps, uint32_t cap)
{
	struct step_writer p = {steps, cap, 0};
	add_poly_steps(d, x, &p);
	return p.n;
}
