/* An entry: the check of its tensors, which finds the values of its symbols; its scratch size; its run. Symbols follow from the shapes of inputs as in
 * backend/runtime/dims.c: first dimensions that are a symbol, then those that are linear in one unknown. */
#include "backend/text/c/entry.h"
#include <string.h>
#include "backend/link/model/model.h"
#include "backend/link/model/model_names.h"
#include "backend/runtime/abi/tri.h"
#include "backend/text/c/literal.h"
#include "backend/text/printer.h"
#include "base/arena.h"
#include "frontend/hir/hir.h"

struct entry_printer {
	struct text_printer e;
	const struct model_input *in;
	const struct model_info *info;
	const struct hir_entry *entry;
	const char *prefix;
	const char *unit; /* the name of the function that is called */
	struct model_io *io;
	uint32_t n_io, n_inputs; /* of io */
	bool *known;             /* of each symbol */
};

static const char *io_name(const struct entry_printer *p, uint32_t k) { return arena_printf(p->e.scratch, "io->%s", p->io[k].member); }

/* The number of io[k], a state, among the states of the entry's inputs or outputs. */
static uint32_t state_position(const struct entry_printer *p, uint32_t k)
{
	return k < p->n_inputs ? k - (p->n_inputs - p->entry->n_states_in) : k - (p->n_io - p->entry->n_states_out);
}

static const struct hir_state *state_of(const struct entry_printer *p, uint32_t k, uint32_t *number)
{
	*number = (k < p->n_inputs ? p->entry->states_in : p->entry->states_out)[state_position(p, k)];
	return &p->in->program->states[*number];
}

static const char *what_of(const struct entry_printer *p, uint32_t k)
{
	return c_literal(p->e.scratch, arena_printf(p->e.scratch, "%s %s", p->io[k].output ? "output" : "input", p->io[k].name));
}

static const char *shape_of(const struct entry_printer *p, uint32_t k)
{
	struct buf text = {0};
	const struct hir_type *t = p->io[k].type;
	buf_putc(&text, '[');
	for (uint32_t d = 0; d < t->rank; d++) {
		buf_puts(&text, d ? ", " : "");
		dim_print(p->e.dims, t->dims[d], &text);
	}
	buf_putc(&text, ']');
	const char *literal = c_literal(p->e.scratch, text.at);
	buf_free(&text);
	return literal;
}

static void entry_check_form(const struct entry_printer *p, uint32_t k)
{
	const struct hir_type *t = p->io[k].type;
	buf_printf(p->e.out, "\tif ((code = tri_check_form(&%s, %s, %s, %d, %u, %zu, err)) != TRI_OK)\n\t\treturn code;\n", io_name(p, k),
		   what_of(p, k), shape_of(p, k), (int)t->elem, t->rank, dtype_size(t->elem));
}

/* ---- symbols ---- */

static uint32_t n_symbols(const struct entry_printer *p) { return dims_syms(p->e.dims); }

/* Returns the one symbol of x that is not known; UINT32_MAX: none or several are not. */
static uint32_t entry_lone_unknown(const struct entry_printer *p, dim x)
{
	uint32_t found = UINT32_MAX;
	for (uint32_t s = 0; s < n_symbols(p); s++) {
		if (p->known[s] || !dim_depends_on(p->e.dims, x, s))
			continue;
		if (found != UINT32_MAX)
			return UINT32_MAX;
		found = s;
	}
	return found;
}

static bool is_symbol(const struct entry_printer *p, dim x, uint32_t s)
{
	const char *name = text_dim(&p->e, x);
	return strcmp(name, arena_printf(p->e.scratch, "n%u", s)) == 0;
}

/* Size d of io[k]: that of the tensor, or the length of a state. NULL: it is constant. */
static const char *size_text(const struct entry_printer *p, uint32_t k, uint32_t d)
{
	uint32_t number;
	if (!p->io[k].state)
		return arena_printf(p->e.scratch, "%s.shape[%u]", io_name(p, k), d);
	const struct hir_state *s = state_of(p, k, &number);
	return d == s->axis ? arena_printf(p->e.scratch, "m->length[%u]", s->capacity) : NULL;
}

/* Returns true if a symbol follows from the size. */
static bool entry_solve(struct entry_printer *p, uint32_t k, uint32_t d, bool linear)
{
	dim x = p->io[k].type->dims[d];
	uint32_t s = entry_lone_unknown(p, x);
	const char *size = size_text(p, k, d), *text = text_dim(&p->e, x);
	if (s == UINT32_MAX || !size || (linear ? !dim_determines(p->e.dims, x, s) : !is_symbol(p, x, s)))
		return false;
	p->known[s] = true;
	if (!linear) {
		buf_printf(p->e.out, "\tn%u = %s;\n", s, size);
		return true;
	}
	buf_printf(p->e.out, "\tat0 = %s;\n\tn%u = 1;\n\tat1 = %s;\n\tn%u = tri_solve(%s, at0, at1);\n", text, s, text, s, size);
	if (!p->io[k].state)
		buf_printf(p->e.out, "\tif (n%u < 0)\n\t\treturn tri_shape_error(&%s, %s, %s, err);\n", s, io_name(p, k), what_of(p, k),
			   shape_of(p, k));
	return true;
}

static bool has_linear(const struct entry_printer *p)
{
	for (uint32_t k = 0; k < p->n_inputs; k++)
		for (uint32_t d = 0; d < p->io[k].type->rank; d++) {
			uint32_t s = entry_lone_unknown(p, p->io[k].type->dims[d]);
			if (s != UINT32_MAX && !is_symbol(p, p->io[k].type->dims[d], s))
				return true;
		}
	return false;
}

static bool solve_all(struct entry_printer *p, bool linear)
{
	bool any = false;
	for (uint32_t k = 0; k < p->n_inputs; k++)
		for (uint32_t d = 0; d < p->io[k].type->rank; d++)
			any |= entry_solve(p, k, d, linear);
	return any;
}

static void entry_check_sizes(const struct entry_printer *p, uint32_t k)
{
	const struct hir_type *t = p->io[k].type;
	if (!t->rank)
		return;
	buf_puts(p->e.out, "\tif (");
	for (uint32_t d = 0; d < t->rank; d++)
		buf_printf(p->e.out, "%s%s != %s", d ? " || " : "", size_text(p, k, d), text_dim(&p->e, t->dims[d]));
	buf_printf(p->e.out, ")\n\t\treturn tri_shape_error(&%s, %s, %s, err);\n", io_name(p, k), what_of(p, k), shape_of(p, k));
}

static void put_check(struct entry_printer *p)
{
	struct buf *out = p->e.out;
	buf_printf(out, "static int tri_shapes_%s(const %s *m, const %s_io *io, int64_t *n, tri_error *err)\n{\n\tint code;\n", p->prefix,
		   p->info->name, p->prefix);
	for (uint32_t s = 0; s < n_symbols(p); s++)
		buf_printf(out, "\tint64_t n%u = 0;\n", s);
	bool linear = has_linear(p);
	if (linear)
		buf_puts(out, "\tint64_t at0, at1;\n");
	buf_puts(out, "\t(void)n, (void)code;\n\tif (!m || !m->is_open || !io)\n\t\treturn tri_error_set(err, TRI_ERR_ARGUMENT, "
		      "!m ? \"the model is NULL\" : !m->is_open ? \"the model is not open\" : \"io is NULL\");\n");
	for (uint32_t k = 0; k < p->n_io; k++)
		if (!p->io[k].state)
			entry_check_form(p, k);
	solve_all(p, false);
	while (linear && solve_all(p, true))
		continue;
	for (uint32_t k = 0; k < p->n_io; k++)
		if (!p->io[k].state)
			entry_check_sizes(p, k);
	for (uint32_t s = 0; s < n_symbols(p); s++)
		buf_printf(out, "\tn[%u] = n%u;\n", s, s);
	buf_puts(out, "\treturn TRI_OK;\n}\n\n");
}

/* ---- functions ---- */

static void put_scratch_bytes(const struct entry_printer *p)
{
	buf_printf(p->e.out,
		   "uint64_t %s_scratch_bytes(const %s *m, const %s_io *io, tri_error *err)\n{\n\tint64_t n[%u] = {0}, bytes;\n"
		   "\tif (tri_shapes_%s(m, io, n, err) != TRI_OK)\n\t\treturn UINT64_MAX;\n\tbytes = %s_scratch(n);\n"
		   "\tif (bytes < 0) {\n\t\ttri_error_set(err, TRI_ERR_SHAPE, \"the sizes are too large\");\n\t\treturn UINT64_MAX;\n\t}\n"
		   "\ttri_error_set(err, TRI_OK, \"\");\n\treturn (uint64_t)bytes;\n}\n\n",
		   p->prefix, p->info->name, p->prefix, n_symbols(p) + 1, p->prefix, p->unit);
}

static const char *tensor_place(const struct entry_printer *p, uint32_t k)
{
	uint32_t number;
	if (!p->io[k].state)
		return arena_printf(p->e.scratch, "%s.data", io_name(p, k));
	state_of(p, k, &number);
	bool other = p->io[k].output && !model_state_grows(p->in, p->entry, state_position(p, k));
	return arena_printf(p->e.scratch, "tri_state_at(&m->memory, tri_state_table, m->most, %u, %sm->second[%u])", number,
			    other ? "!" : "", number);
}

/* The new lengths of the states, which must have room. */
static void put_lengths(const struct entry_printer *p)
{
	for (uint32_t k = p->n_inputs; k < p->n_io; k++) {
		uint32_t number;
		const struct hir_state *s = p->io[k].state ? state_of(p, k, &number) : NULL;
		if (!s || s->axis == HIR_NONE)
			continue;
		buf_printf(
			p->e.out,
			"\tafter[%u] = %s;\n\tif (after[%u] < 0 || after[%u] > m->most[%u])\n\t\treturn tri_error_set(err, TRI_ERR_CAPACITY, %s);\n",
			s->capacity, text_dim(&p->e, p->io[k].type->dims[s->axis]), s->capacity, s->capacity, s->capacity,
			c_literal(p->e.scratch, arena_printf(p->e.scratch, "state %s is full: its capacity is %s", s->name,
							     p->in->program->capacities[s->capacity].name)));
	}
}

static void put_commit(const struct entry_printer *p)
{
	uint32_t n_capacities = p->in->program->n_capacities;
	if (!p->entry->n_states_out)
		return;
	buf_puts(p->e.out, "\tif (run.code != TRI_OK)\n\t\treturn run.code;\n");
	if (n_capacities)
		buf_puts(p->e.out, "\tmemcpy(m->length, after, sizeof after);\n");
	for (uint32_t k = 0; k < p->entry->n_states_out; k++)
		if (!model_state_grows(p->in, p->entry, k))
			buf_printf(p->e.out, "\tm->second[%u] = !m->second[%u];\n", p->entry->states_out[k], p->entry->states_out[k]);
}

static void entry_put_names(const struct entry_printer *p)
{
	buf_puts(p->e.out, "\tstatic const char *const names[] = {");
	for (uint32_t s = 0; s < n_symbols(p); s++)
		buf_printf(p->e.out, "%s, ", c_literal(p->e.scratch, dims_sym_name(p->e.dims, s)));
	buf_puts(p->e.out, "NULL};\n");
}

/* `table`: the name of the weight table. */
static void put_run(const struct entry_printer *p, const char *table)
{
	struct buf *out = p->e.out;
	uint32_t n_capacities = p->in->program->n_capacities;
	bool lengths = p->entry->n_states_out && n_capacities;
	buf_printf(
		out,
		"int %s_run(%s *m, const %s_io *io, void *scratch, uint64_t scratch_bytes, tri_error *err)\n{\n\tstruct tri_run run = {0};\n"
		"\tint64_t n[%u] = {0}, bytes;\n",
		p->prefix, p->info->name, p->prefix, n_symbols(p) + 1);
	if (lengths)
		buf_printf(out, "\tint64_t after[%u];\n", n_capacities);
	buf_printf(out,
		   "\tconst int code = tri_shapes_%s(m, io, n, err);\n\tif (code != TRI_OK)\n\t\treturn code;\n\tbytes = %s_scratch(n);\n"
		   "\tif (bytes < 0 || (uint64_t)bytes > scratch_bytes)\n"
		   "\t\treturn tri_error_set(err, TRI_ERR_MEMORY, \"the scratch memory is too small for these sizes\");\n",
		   p->prefix, p->unit);
	for (uint32_t s = 0; lengths && s < n_symbols(p); s++)
		buf_printf(out, "\tconst int64_t n%u = n[%u];\n\t(void)n%u;\n", s, s, s);
	if (lengths) {
		buf_puts(out, "\tmemcpy(after, m->length, sizeof after);\n");
		put_lengths(p);
	}
	entry_put_names(p);
	buf_printf(
		out,
		"\trun.weights = (const unsigned char *)m->memory.weights;\n\trun.memory = &m->memory;\n\t{\n\t\tvoid *const tensors[] = {");
	for (uint32_t k = 0; k < p->n_io; k++)
		buf_printf(out, "%s, ", tensor_place(p, k));
	buf_puts(out, "NULL};\n");
	buf_printf(out, "\t\t%s(&run, tensors, %s, n, (unsigned char *)scratch);\n", p->unit, table);
	buf_puts(out, "\t}\n\ttri_end(&run, tri_place_table, names, n, err);\n");
	put_commit(p);
	buf_puts(out, "\treturn run.code;\n}\n\n");
}

void c_entry_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, uint32_t entry,
		 const struct c_device *device, struct buf *out)
{
	struct entry_printer p = {
		.e = text_printer_new(&dialect_c11, NULL, 0, out), .in = in, .info = info, .entry = &in->program->entries[entry]};
	p.e.dims = p.entry->unit->dims;
	p.e.checks_sizes = true;
	p.prefix = model_entry_prefix(p.e.scratch, in->program, info->name, entry);
	p.io = model_io_list(p.e.scratch, p.entry, &p.n_io, &p.n_inputs);
	p.unit = device ? arena_printf(p.e.scratch, "tri_steps_%s", p.prefix) : p.entry->unit->symbol;
	p.known = ARENA_ARRAY(p.e.scratch, bool, n_symbols(&p) + 1);
	put_check(&p);
	put_scratch_bytes(&p);
	bool has_table = !device && w->entry_tables[entry] < w->n_tables;
	put_run(&p, has_table ? arena_printf(p.e.scratch, "tri_table%u", w->entry_tables[entry]) : "NULL");
	arena_free(p.e.scratch);
}
