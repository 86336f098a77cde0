/* A unit as a function: its arguments and its body. */
#include <string.h>
#include "backend/pytorch/comment.h"
#include "backend/pytorch/expr.h"
#include "backend/pytorch/owner.h"
#include "backend/pytorch/text.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

/* Finds for each size a node that has it as a dimension: an input if there is one. */
static void find_sizes(struct body *b)
{
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++)
		b->size_of[s] = HIR_NONE;
	for (hir_ref r = 0; r < b->u->n_nodes; r++) {
		const struct hir_node *n = &b->u->nodes[r];
		uint32_t sym;
		bool state = n->kind == HIR_INPUT && b->u->inputs[n->index].state;
		if ((!b->uses[r] && !state) || n->kind == HIR_CONST || n->kind == HIR_DIM || is_tuple(b, r))
			continue;
		for (uint32_t k = 0; k < n->type.rank; k++)
			if (dim_is_sym(b->u->dims, n->type.dims[k], &sym) && b->size_of[sym] == HIR_NONE) {
				b->size_of[sym] = r;
				b->size_dim[sym] = k;
			}
	}
}

/* The name of an argument; two inputs may have one name. */
static const char *function_new_argument(const struct body *b, uint32_t input, const char *wanted)
{
	const char *name = wanted;
	for (uint32_t i = 0, k = 2; i < input; i++)
		if (strcmp(b->inputs[i], name) == 0) {
			name = arena_printf(b->p->a, "%s%u", wanted, k++);
			i = UINT32_MAX; /* again from the first one */
		}
	return name;
}

static void body_open(struct body *b, struct printer *p, const struct body_spec *spec)
{
	const struct hir_unit *u = spec->unit;
	uint32_t syms = dims_syms(u->dims);
	*b = (struct body){.p = p,
			   .spec = spec,
			   .u = u,
			   .inputs = ARENA_ARRAY(p->a, const char *, u->n_inputs + 1),
			   .vars = ARENA_ARRAY(p->a, const char *, u->n_nodes + 1),
			   .uses = ARENA_ARRAY(p->a, uint32_t, u->n_nodes + 1),
			   .place = ARENA_ARRAY(p->a, hir_ref, u->n_nodes + 1),
			   .last = ARENA_ARRAY(p->a, hir_ref, u->n_nodes + 1),
			   .sizes = ARENA_ARRAY(p->a, const char *, syms + 1),
			   .size_of = ARENA_ARRAY(p->a, hir_ref, syms + 1),
			   .size_dim = ARENA_ARRAY(p->a, uint32_t, syms + 1),
			   .exprs = ARENA_ARRAY(p->a, struct expr, u->n_nodes + 1),
			   .is_source = ARENA_ARRAY(p->a, bool, u->n_nodes + 1)};
	for (uint32_t i = 0; i < u->n_inputs; i++) {
		const char *name = u->inputs[i].name;
		bool own = !is_passed(u, i) || (spec->params && spec->params[i] != HIR_NONE);
		b->inputs[i] = own ? member_path(p->a, !spec->owner, name) : function_new_argument(b, i, function_argument(p->a, name));
		if (!own && !b->device)
			b->device = b->inputs[i];
	}
	count_uses(b);
	find_sizes(b);
}

/* Sets the sizes that callers pass, and appends them to the arguments. */
static void put_size_arguments(const struct body *b, struct method *m, bool any, struct buf *out)
{
	uint32_t *sizes = ARENA_ARRAY(b->p->a, uint32_t, dims_syms(b->u->dims) + 1);
	m->n_sizes = 0;
	for (uint32_t s = 0; s < dims_syms(b->u->dims); s++) {
		if (!b->sizes[s] || b->size_of[s] != HIR_NONE)
			continue;
		sizes[m->n_sizes++] = s;
		buf_printf(out, "%s%s", any ? ", " : "", b->sizes[s]);
		any = true;
	}
	m->sizes = sizes;
}

const char *print_function(struct printer *p, const struct body_spec *spec, struct method *m)
{
	struct body b;
	struct buf out = {0};
	body_open(&b, p, spec);
	put_body(&b, &out); /* finds which sizes it needs */
	buf_clear(&out);
	buf_printf(&out, "def %s(%s", spec->name, spec->owner ? "self" : "");
	bool any = spec->owner != NULL;
	for (uint32_t i = 0; !spec->owner && i < b.u->n_inputs; i++) {
		if (!is_layer_argument(b.u, i))
			continue;
		buf_printf(&out, "%s%s", any ? ", " : "", python_name(p->a, first_part(p->a, b.u->inputs[i].name)));
		any = true;
	}
	for (uint32_t i = 0; i < b.u->n_inputs; i++) {
		if (!is_passed(b.u, i) || (spec->params && spec->params[i] != HIR_NONE))
			continue;
		buf_printf(&out, "%s%s", any ? ", " : "", b.inputs[i]);
		any = true;
	}
	put_size_arguments(&b, m, any, &out);
	buf_puts(&out, "):\n");
	if (b.u->function && spec->documented)
		buf_puts(&out, docstring(p, 4, comment_above(p, b.u->at)));
	struct buf lines = {0};
	put_body(&b, &lines);
	const char *folded = fold_chains(p->a, lines.len ? lines.at : "");
	for (const char *line = folded; *line;) {
		size_t n = strcspn(line, "\n");
		buf_printf(&out, "    %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	if (!lines.len)
		buf_puts(&out, "    pass\n");
	const char *text = arena_strndup(p->a, out.at, out.len);
	vec_free(&b.held);
	buf_free(&lines);
	buf_free(&out);
	return text;
}

const char *print_initial(struct printer *p, const struct hir_unit *u)
{
	const struct body_spec spec = {.unit = u, .name = ""};
	struct printer apart = *p;
	struct body b;
	apart.diags = diags_new(0);
	body_open(&b, &apart, &spec);
	const char *text = operand_text(&b, u->outputs[0].node, PREC_TERNARY);
	bool ok = !diags_errors(apart.diags);
	diags_free(apart.diags);
	return ok ? text : NULL;
}
