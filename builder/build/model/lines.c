#include "builder/build/model/lines.h"
#include <string.h>
#include "backend/ir/ir.h"
#include "backend/link/elf/lines.h"
#include "backend/loops/ir/loops.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/build/model/model.h"
#include "frontend/hir/hir.h"

static void set_position(const struct sources *s, span at, struct line_origin *origin)
{
	if (at.source == SPAN_NO_SOURCE)
		return;
	struct position p = source_position(s, at.source, at.start);
	origin->file = sources_get(s, at.source)->path;
	origin->line = p.line;
	origin->column = p.col;
}

/* The position of an input is that of the first call, which may be in another file. */
static span position_of(const struct hir_unit *u, hir_ref node) { return u->nodes[node].kind == HIR_INPUT ? u->at : u->nodes[node].at; }

static const char *lines_layer_of(struct arena *a, const struct origins *origins, uint32_t origin)
{
	struct buf text = {0};
	origin_print_layer(origins, origin, &text);
	const char *layer = text.len ? arena_strndup(a, text.at, text.len) : "";
	buf_free(&text);
	return layer;
}

static void add_statements(struct unit_lines *lines, struct arena *a, const struct plan_origins *origins)
{
	lines->n_statements = origins->n;
	lines->statements = ARENA_ARRAY(a, struct line_statement, origins->n + 1);
	for (uint32_t i = 0; i < origins->n; i++) {
		struct line_statement *s = &lines->statements[i];
		const uint32_t *members = origins_of(origins->table, origins->statements[i].origins, &s->n_origins);
		s->name = origins->statements[i].name;
		s->kind = origins->statements[i].kind;
		s->ceiling = origins->statements[i].ceiling;
		s->origins = ARENA_ARRAY(a, uint32_t, s->n_origins + 1);
		for (uint32_t k = 0; k < s->n_origins; k++)
			s->origins[k] = members[k] + 1;
	}
}

/* Number 0 is the unit, number k + 1 is origin k of the plan. */
void lines_find(struct arena *a, struct sources *s, struct unit_job *j)
{
	const struct origins *o = j->plan->origins.table;
	struct unit_lines *l = j->lines = ARENA_NEW(a, struct unit_lines);
	l->n_origins = o->n + 1;
	l->origins = ARENA_ARRAY(a, struct line_origin, l->n_origins);
	l->origins[0] = (struct line_origin){
		.file = j->unit->file, .function = j->unit->name, .operation = "", .layer = "", .inlined_at = LINES_NONE};
	set_position(s, j->unit->at, &l->origins[0]);
	for (uint32_t k = 0; k < o->n; k++) {
		const struct origin *from = &o->list[k];
		const struct hir_unit *u = o->units[from->unit];
		bool inlined = from->inlined_at != ORIGIN_NONE;
		l->origins[k + 1] = (struct line_origin){.file = u->file,
							 .function = u->name,
							 .operation = origin_operation(o, k),
							 .layer = lines_layer_of(a, o, k),
							 .inlined_at = inlined ? from->inlined_at + 1 : LINES_NONE};
		set_position(s, position_of(u, from->node), &l->origins[k + 1]);
	}
	add_statements(l, a, &j->plan->origins);
}

void lines_hash(const struct unit_lines *lines, struct hasher *h)
{
	hasher_add_u64(h, lines->n_origins);
	for (uint32_t k = 0; k < lines->n_origins; k++) {
		const struct line_origin *o = &lines->origins[k];
		hasher_add_str(h, o->file);
		hasher_add_u64(h, (uint64_t)o->line << 32 | o->column);
		hasher_add_str(h, o->function);
		hasher_add_str(h, o->operation);
		hasher_add_str(h, o->layer);
		hasher_add_u64(h, o->inlined_at);
	}
	hasher_add_u64(h, lines->n_statements);
	for (uint32_t i = 0; i < lines->n_statements; i++) {
		hasher_add_str(h, lines->statements[i].name);
		hasher_add_u64(h, (uint64_t)lines->statements[i].kind << 40 | (uint64_t)lines->statements[i].ceiling << 32 |
					  lines->statements[i].n_origins);
		hasher_add(h, lines->statements[i].origins, lines->statements[i].n_origins * sizeof *lines->statements[i].origins);
	}
}

static void print_origin(const struct sources *s, const struct origins *origins, uint32_t origin, struct buf *out)
{
	span at = position_of(origins->units[origins->list[origin].unit], origins->list[origin].node);
	if (at.source != SPAN_NO_SOURCE) {
		struct position p = source_position(s, at.source, at.start);
		buf_printf(out, "%s:%u:%u ", sources_get(s, at.source)->path, p.line, p.col);
	}
	buf_puts(out, origin_operation(origins, origin));
	size_t before = out->len;
	buf_putc(out, ' ');
	origin_print_layer(origins, origin, out);
	if (out->len == before + 1)
		out->len = before;
}

/* Prints the origins of an instruction, with the calls that were inlined. */
static void lines_print_note(const void *sources, const struct ir_fn *f, ir_ref r, struct buf *out)
{
	const struct origins *o = f->origins;
	uint32_t n;
	const uint32_t *members = origins_of(o, ir_at(f, r)->origin, &n);
	for (uint32_t k = 0; k < n; k++) {
		buf_puts(out, k ? ", " : "");
		for (uint32_t origin = members[k]; origin != ORIGIN_NONE; origin = o->list[origin].inlined_at) {
			buf_puts(out, origin == members[k] ? "" : " in ");
			print_origin(sources, o, origin, out);
		}
	}
}

struct ir_notes lines_notes(const struct sources *s) { return (struct ir_notes){lines_print_note, s}; }

void lines_print(const struct sources *s, const struct ir_fn *run_fn, const struct loop_fn *loops, struct buf *out)
{
	for (uint32_t i = 0; i < loops->n_stmts; i++)
		for (uint32_t k = 0; k < loops->stmts[i].n_values; k++) {
			uint32_t v = loops->stmts[i].values[k];
			buf_printf(out, "; %%%u ", v);
			lines_print_note(s, run_fn, v, out);
			buf_putc(out, '\n');
		}
}
