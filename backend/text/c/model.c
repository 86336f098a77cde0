/* The order of a C file: the parts that it uses, weights, weight tables, units, and for each entry the check of its tensors and its run. */
#include "backend/text/c/model.h"
#include <string.h>
#include "backend/kernels/kernel.h"
#include "backend/link/elf/lines.h"
#include "backend/link/model/model.h"
#include "backend/link/model/model_names.h"
#include "backend/runtime/abi/triw.h"
#include "backend/runtime/profile/index_operations.h"
#include "backend/text/c/entry.h"
#include "backend/text/c/literal.h"
#include "backend/text/c/parts.h"
#include "backend/text/c/unit.h"
#include "backend/text/printer.h"
#include "base/arena.h"
#include "base/map.h"
#include "frontend/hir/hir.h"

enum { PER_LINE = 16, WORD = 4 };

/* ---- weights ---- */

/* The layout that the tables read each blob in. */
static enum layout *blob_layouts(struct arena *a, const struct model_weights *w)
{
	enum layout *layouts = ARENA_ARRAY(a, enum layout, w->n_blobs + 1);
	for (uint32_t i = 0; i < w->n_tables; i++)
		for (uint32_t k = 0; k < w->tables[i].plan->n_slots; k++)
			if (!w->tables[i].slots[k].is_table)
				layouts[w->tables[i].slots[k].index] = w->tables[i].plan->slots[k].layout;
	return layouts;
}

/* Packed weights are words of four bytes. */
static void model_put_blob(const struct text_printer *e, const struct model_blob *b, enum layout layout, uint32_t number)
{
	bool packed = ir_layout_is_packed(layout);
	dtype t = b->elem == DT_FLOAT16 ? DT_BFLOAT16 : b->elem;
	const char *type = packed ? "uint32_t" : e->d->memory[t];
	size_t n = b->len / (packed ? WORD : dtype_size(b->elem));
	buf_printf(e->out, "static const %s tri_weight%u[%zu] = {", type, number, n);
	for (size_t i = 0; i < n; i++) {
		buf_puts(e->out, i % PER_LINE ? ", " : i ? ",\n\t" : "");
		if (packed)
			buf_printf(e->out, "0x%08x", ((const uint32_t *)b->bytes)[i]);
		else
			text_element(e, b->elem, b->bytes, (int64_t)i);
	}
	buf_puts(e->out, "};\n\n");
}

/* Blobs with equal bytes are one array: that of the first of them. */
const uint32_t *c_weights_put(struct arena *a, const struct model_weights *w, struct buf *out)
{
	uint32_t *numbers = ARENA_ARRAY(a, uint32_t, w->n_blobs + 1);
	const enum layout *layouts = blob_layouts(a, w);
	struct text_printer e = text_printer_new(&dialect_c11, NULL, 0, out);
	struct map by_form = {0};
	for (uint32_t i = 0; i < w->n_blobs; i++) {
		const struct model_blob *b = &w->blobs[i];
		uint64_t form[] = {b->offset, b->len, ir_layout_is_packed(layouts[i]) ? DT_COUNT : b->elem}, first = i;
		numbers[i] = i;
		if (!b->bytes || !b->len)
			continue;
		if (map_get(&by_form, map_key_bytes(form, sizeof form), &first))
			numbers[i] = (uint32_t)first;
		else if (map_put(&by_form, map_key_bytes(form, sizeof form), i))
			model_put_blob(&e, b, layouts[i], i);
	}
	map_free(&by_form);
	arena_free(e.scratch);
	return numbers;
}

static void put_slot(const struct text_printer *e, const struct model_weights *w, const struct model_slot *s, const uint32_t *numbers)
{
	const struct model_blob *b = &w->blobs[s->index];
	if (s->is_table)
		buf_printf(e->out, "{tri_table%u, 0}", s->index);
	else if (!b->len)
		buf_puts(e->out, "{\"\", 0}");
	else if (b->bytes)
		buf_printf(e->out, "{tri_weight%u, 0}", numbers[s->index]);
	else
		buf_printf(e->out, "{NULL, %llu}", (unsigned long long)(triw_tensors_at(w->n_blobs) + b->offset));
}

static void put_tables(const struct text_printer *e, const struct model_weights *w, const uint32_t *numbers)
{
	for (uint32_t i = 0; i < w->n_tables; i++) /* tables refer to each other */
		buf_printf(e->out, "static const struct tri_slot tri_table%u[%u];\n", i, w->tables[i].plan->n_slots + 1);
	for (uint32_t i = 0; i < w->n_tables; i++) {
		const struct model_table *t = &w->tables[i];
		buf_printf(e->out, "static const struct tri_slot tri_table%u[%u] = {", i, t->plan->n_slots + 1);
		for (uint32_t k = 0; k < t->plan->n_slots; k++) {
			put_slot(e, w, &t->slots[k], numbers);
			buf_puts(e->out, ", ");
		}
		buf_puts(e->out, "{NULL, 0}};\n");
	}
	buf_putc(e->out, '\n');
}

/* ---- lines of errors ---- */

static void find_check(void *ctx, const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		*(bool *)ctx |= n->exprs[k].kind == LOOP_CHECK;
}

/* Where statement k, or a check, fails: as in backend/runtime/profile/origins.c. NULL: it is not known. */
static const struct line_origin *error_line(const struct unit_lines *l, uint32_t k)
{
	const struct line_statement *s = &l->statements[k];
	uint32_t at = 0;
	while (at < s->n_origins && !tri_is_index_operation(l->origins[s->origins[at]].operation))
		at++;
	if (!s->n_origins)
		return NULL;
	const struct line_origin *o = &l->origins[s->origins[at < s->n_origins ? at : 0]];
	while (!strncmp(o->file, "std/", 4) && o->inlined_at != LINES_NONE)
		o = &l->origins[o->inlined_at];
	return o;
}

/* True if statement i, or check i - n_stmts, may fail with a place. */
static bool may_fail(const struct loop_fn *f, uint32_t i)
{
	bool fails = i >= f->n_stmts;
	if (fails)
		return true;
	if (f->stmts[i].kind == STMT_KERNEL)
		fails = kernel_fails(f->stmts[i].u.kernel.kernel);
	loop_stmt_nests(&f->stmts[i], find_check, &fails);
	return fails;
}

void c_places_put(const struct model_input *in, const struct loop_fn *const *units, struct buf *out)
{
	struct arena *a = arena_new(0);
	buf_puts(out, "static const struct tri_place tri_place_table[] = {");
	for (uint32_t i = 0; in->lines && i < in->program->n_units; i++) {
		const struct loop_fn *f = units[i];
		for (uint32_t k = 0; f && in->lines[i] && k < in->lines[i]->n_statements; k++) {
			const struct line_origin *o = may_fail(f, k) ? error_line(in->lines[i], k) : NULL;
			if (o)
				buf_printf(out, "\n\t{0x%08x%08xu, %s},", loops_unit_tag(f->symbol), k,
					   c_literal(a, arena_printf(a, "%s:%u: ", o->file, o->line)));
		}
	}
	buf_puts(out, "\n\t{0, NULL}};\n\n");
	arena_free(a);
}

/* ---- the file ---- */

static void model_put_head(const struct model_info *info, struct buf *out)
{
	model_title_put(out, info);
	buf_printf(out,
		   "C11; it calls functions of math.h and string.h only. */\n#include \"%s.h\"\n#include <math.h>\n#include <stddef.h>\n"
		   "#include <stdint.h>\n#include <string.h>\n#if defined __clang__\n#pragma STDC FP_CONTRACT OFF\n"
		   "#elif defined __GNUC__ /* which ignores the pragma */\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n\n",
		   info->name);
}

void c_model_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w,
		 const struct loop_fn *const *units, struct buf *out)
{
	struct buf body = {0};
	struct text_printer e = text_printer_new(&dialect_c11, NULL, 0, &body);
	const uint32_t *numbers = c_weights_put(e.scratch, w, &body);
	put_tables(&e, w, numbers);
	for (uint32_t i = 0; i < in->program->n_units; i++)
		if (units[i])
			c_unit_declare(units[i], &body);
	buf_putc(&body, '\n');
	for (uint32_t i = 0; i < in->program->n_units; i++)
		if (units[i])
			c_unit_put(units[i], &body);
	c_places_put(in, units, &body);
	c_states_put(in, info, w, NULL, &body);
	for (uint32_t i = 0; i < in->program->n_entries; i++)
		c_entry_put(in, info, w, i, NULL, &body);
	model_put_head(info, out);
	c_parts_put(body.at, NULL, out);
	buf_put(out, body.at, body.len);
	arena_free(e.scratch);
	buf_free(&body);
}
