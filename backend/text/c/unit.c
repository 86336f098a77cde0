#include "backend/text/c/unit.h"
#include "backend/loops/ir/grow.h"
#include "backend/runtime/abi/tri.h"
#include "backend/text/c/parts.h"
#include "backend/text/c/literal.h"
#include "backend/text/printer.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/format.h"

#define UNIT_HEAD \
	"static void %s(struct tri_run *run, void *const *io, const struct tri_slot *slots, const int64_t *n, unsigned char *scratch)"
#define SCRATCH_HEAD "static int64_t %s_scratch(const int64_t *n)"

void c_unit_declare(const struct loop_fn *f, struct buf *out) { buf_printf(out, UNIT_HEAD ";\n" SCRATCH_HEAD ";\n", f->symbol, f->symbol); }

/* ---- arguments ---- */

static const char *buffer_place(const struct text_printer *e, uint32_t k)
{
	const struct loop_buffer *b = &e->f->buffers[k];
	if (b->kind == BUFFER_TEMP) /* that grows an input has its memory */
		b = &e->f->buffers[loops_root(e->f, k)];
	switch (b->kind) {
	case BUFFER_INPUT: return arena_printf(e->scratch, "io[%u]", b->index);
	case BUFFER_OUTPUT: return arena_printf(e->scratch, "io[%u]", e->f->n_inputs + b->index);
	case BUFFER_WEIGHT: return arena_printf(e->scratch, "tri_weight(run, &slots[%u])", b->index);
	case BUFFER_CONST: return text_is_baked(e->d, e->f, k) ? arena_printf(e->scratch, "%s_c%u", e->f->symbol, k) : "scratch";
	case BUFFER_TEMP: return arena_printf(e->scratch, "scratch + %s", text_dim(e, b->offset));
	}
	BUG("buffer kind");
}

static void unit_put_line(const struct text_printer *e, const char *line)
{
	text_tabs(e->out, e->depth);
	buf_printf(e->out, "%s\n", line);
}

/* Declares NAME, an array of buffers. */
static void put_buffer_array(const struct text_printer *e, const char *type, const char *name, const uint32_t *buffers, uint32_t n)
{
	text_tabs(e->out, e->depth);
	buf_printf(e->out, "%s %s[] = {", type, name);
	for (uint32_t k = 0; k < n; k++)
		buf_printf(e->out, "%s(void *)(%s)", k ? ", " : "", buffer_place(e, buffers[k]));
	buf_puts(e->out, n ? "};\n" : "NULL};\n");
}

static void put_dim_array(const struct text_printer *e, const char *name, const dim *dims, uint32_t n)
{
	text_tabs(e->out, e->depth);
	buf_printf(e->out, "const int64_t %s[] = {", name);
	for (uint32_t k = 0; k < n; k++)
		buf_printf(e->out, "%s%s", k ? ", " : "", text_dim(e, dims[k]));
	buf_puts(e->out, n ? "};\n" : "0};\n");
}

static const char *place_number(const struct text_printer *e, uint32_t statement)
{
	return arena_printf(e->scratch, "0x%08x%08x%s", loops_unit_tag(e->f->symbol), statement, e->d->place_suffix);
}

/* ---- statements ---- */

static void unit_put_arguments(const struct text_printer *e, const uint32_t *buffers, uint32_t n, const char **comma)
{
	for (uint32_t k = 0; k < n; k++, *comma = ", ")
		buf_printf(e->out, "%s%s", *comma, buffer_place(e, buffers[k]));
}

static void unit_put_symbols(const struct text_printer *e, const struct text_signature *s, const char **comma)
{
	for (uint32_t k = 0; k < s->n_syms; k++, *comma = ", ")
		buf_printf(e->out, "%sn%u", *comma, s->syms[k]);
}

static void launch_own(const struct text_printer *e, uint32_t stmt)
{
	struct text_signature s;
	const char *comma = "";
	text_signature_of_stmt(e->scratch, e->d, e->f, &e->f->stmts[stmt], &s);
	text_tabs(e->out, e->depth);
	buf_printf(e->out, "%s_k%u(", e->f->symbol, stmt);
	unit_put_arguments(e, s.buffers, s.n_buffers, &comma);
	unit_put_symbols(e, &s, &comma);
	if (s.fails)
		buf_printf(e->out, "%srun", comma);
	if (s.frame) /* what callees use */
		buf_printf(e->out, "%sscratch + %s", s.fails ? ", " : comma, text_dim(e, e->f->scratch));
	buf_puts(e->out, ");\n");
}

static void call_kernel(const struct text_printer *e, uint32_t stmt)
{
	const struct loop_kernel *k = &e->f->stmts[stmt].u.kernel;
	const struct kernel_record *r = kernel_record(k->kernel);
	struct text_signature s = {0};
	const char *comma = "";
	if (k->epilogue)
		text_signature_of(e->scratch, e->d, e->f, k->epilogue, &s);
	text_tabs(e->out, e->depth);
	if (k->epilogue)
		buf_printf(e->out, "%s_k%u(", e->f->symbol, stmt);
	else
		buf_printf(e->out, "%s(", kernel_info(k->kernel)->symbol);
	unit_put_arguments(e, k->buffers, k->n_buffers, &comma);
	unit_put_arguments(e, s.buffers, s.n_buffers, &comma);
	for (uint32_t i = 0; i < r->n_fields; i++)
		buf_printf(e->out, ", %s", r->fields[i].type == FIELD_place ? place_number(e, stmt) : text_dim(e, k->dims[i]));
	unit_put_symbols(e, &s, &comma);
	if (kernel_fails(k->kernel))
		buf_puts(e->out, ", run");
	buf_puts(e->out, ");\n");
}

/* Declares the arguments of a call. */
static void unit_open_call(struct text_printer *e, const struct loop_call *c)
{
	unit_put_line(e, "{");
	e->depth++;
	put_buffer_array(e, "void *", "of_call", c->buffers, c->n_buffers);
	put_dim_array(e, "sizes", c->dims, c->n_dims);
}

static void close_call(struct text_printer *e)
{
	e->depth--;
	unit_put_line(e, "}");
}

static void unit_put_call(const struct text_printer *e, const struct loop_call *c)
{
	const char *slots = c->slot == LOOP_NONE ? "NULL" : arena_printf(e->scratch, "(const struct tri_slot *)slots[%u].at", c->slot);
	text_tabs(e->out, e->depth);
	buf_printf(e->out, "%s(run, of_call, %s, sizes, scratch + %s);\n", c->callee, slots, text_dim(e, e->f->scratch));
}

static void unit_call(struct text_printer *e, const struct loop_call *c)
{
	unit_open_call(e, c);
	unit_put_call(e, c);
	close_call(e);
}

static void unit_branch(struct text_printer *e, const struct loop_branch *b)
{
	unit_put_line(e, arena_printf(e->scratch, "if (*(const uint8_t *)(%s))", buffer_place(e, b->condition)));
	unit_call(e, &b->calls[0]);
	unit_put_line(e, "else");
	unit_call(e, &b->calls[1]);
}

static const char *buffer_size(const struct text_printer *e, uint32_t buffer)
{
	const struct hir_type *t = &e->f->buffers[buffer].type;
	const char *text = arena_printf(e->scratch, "%zu", dtype_size(t->elem));
	for (uint32_t k = 0; k < t->rank; k++)
		text = arena_printf(e->scratch, "%s * %s", text, text_dim(e, t->dims[k]));
	return arena_printf(e->scratch, "(size_t)(%s)", text);
}

/* Each iteration reads what the one before wrote: the carried buffers change places. At the end the results are where the first one read. */
static void unit_iterate(struct text_printer *e, const struct loop_iterate *s)
{
	const struct loop_call *body = &s->body;
	uint32_t first = body->n_buffers - s->n_carried, condition = body->buffers[first - 1];
	for (uint32_t k = 0; k < s->n_carried; k++)
		unit_put_line(e, arena_printf(e->scratch, "memcpy(%s, %s, %s);", buffer_place(e, body->buffers[k]),
					      buffer_place(e, s->initial[k]), buffer_size(e, body->buffers[k])));
	unit_open_call(e, body);
	unit_put_line(e, arena_printf(e->scratch, "int goes_on = *(const uint8_t *)(%s) != 0;", buffer_place(e, s->condition)));
	unit_put_line(e, "while (goes_on && !run->code) {");
	e->depth++;
	unit_put_call(e, body);
	for (uint32_t k = 0; k < s->n_carried; k++)
		unit_put_line(e, arena_printf(e->scratch, "tri_swap(&of_call[%u], &of_call[%u]);", k, first + k));
	unit_put_line(e, arena_printf(e->scratch, "goes_on = *(const uint8_t *)(%s) != 0;", buffer_place(e, condition)));
	e->depth--;
	unit_put_line(e, "}");
	for (uint32_t k = 0; k < s->n_carried; k++) {
		const char *at = buffer_place(e, body->buffers[k]);
		unit_put_line(e, arena_printf(e->scratch, "if (of_call[%u] != (void *)(%s))", k, at));
		unit_put_line(e, arena_printf(e->scratch, "\tmemcpy(%s, of_call[%u], %s);", at, k, buffer_size(e, body->buffers[k])));
	}
	close_call(e);
}

/* The values as tensors. */
static void unit_put_values(struct text_printer *e, const struct loop_effect *s)
{
	uint32_t at = 0;
	unit_put_line(e, s->n_buffers ? "const tri_tensor values[] = {" : "const tri_tensor *values = NULL;");
	for (uint32_t k = 0; k < s->n_buffers; k++) {
		uint32_t rank = s->kinds[k] & 15u;
		text_tabs(e->out, e->depth + 1);
		buf_printf(e->out, "{(void *)(%s), {", buffer_place(e, s->buffers[k]));
		for (uint32_t d = 0; d < rank; d++)
			buf_printf(e->out, "%s%s", d ? ", " : "", text_dim(e, s->dims[at++]));
		buf_printf(e->out, "%s}, %u, %u},\n", rank ? "" : "0", rank, s->kinds[k] >> 4);
	}
	if (s->n_buffers)
		unit_put_line(e, "};");
}

static void unit_text_put(void *text, const char *s, size_t n) { buf_put(text, s, n); }

/* The text of an assertion; with its placeholders if it has values, which are known only in the run. */
static const char *unit_assertion_text(struct arena *a, const struct loop_effect *s)
{
	struct buf text = {0};
	struct format_out out = {unit_text_put, &text};
	if (s->n_buffers > 1)
		return s->text;
	format_template(s->text, NULL, &out);
	const char *copy = arena_strndup(a, text.at, text.len);
	buf_free(&text);
	return copy;
}

const char *c_effect_text(struct arena *a, const struct loop_effect *x)
{
	const char *text = x->text;
	if (x->where)
		text = arena_printf(a, "%s: %s", x->where, *text ? unit_assertion_text(a, x) : "the assertion fails");
	return c_initializer(a, text);
}

static void unit_effect(struct text_printer *e, const struct loop_effect *s)
{
	if (s->where)
		unit_put_line(e, arena_printf(e->scratch, "if (!*(const uint8_t *)(%s)) {", buffer_place(e, s->buffers[0])));
	else
		unit_put_line(e, "{");
	e->depth++;
	unit_put_line(e, arena_printf(e->scratch, "static const char text[] = %s;", c_effect_text(e->scratch, s)));
	if (s->where) {
		unit_put_line(e, "tri_fail(run, TRI_ERR_ASSERT, 0, 0, 0, text);");
	} else {
		unit_put_values(e, s);
		unit_put_line(e, arena_printf(e->scratch, "tri_print(run, text, values, %u);", s->n_buffers));
	}
	close_call(e);
}

static void statement(struct text_printer *e, uint32_t stmt)
{
	const struct loop_stmt *s = &e->f->stmts[stmt];
	switch (s->kind) {
	case STMT_NEST:
	case STMT_BLOCK: launch_own(e, stmt); return;
	case STMT_KERNEL: call_kernel(e, stmt); return;
	case STMT_CALL: unit_call(e, &s->u.call); return;
	case STMT_BRANCH: unit_branch(e, &s->u.branch); return;
	case STMT_LOOP: unit_iterate(e, &s->u.loop); return;
	case STMT_EFFECT: unit_effect(e, &s->u.effect); return;
	}
}

/* ---- functions ---- */

static void declare_symbols(const struct text_printer *e)
{
	for (uint32_t k = 0; k < dims_syms(e->f->dims); k++) {
		unit_put_line(e, arena_printf(e->scratch, "const int64_t n%u = n[%u];", k, k));
		unit_put_line(e, arena_printf(e->scratch, "(void)n%u;", k));
	}
}

const char *c_size_error(struct arena *a, uint32_t kind)
{
	static const char *const texts[] = {
#define SIZE_ERROR(id, word, text) text,
#include "backend/runtime/abi/size_errors.def"
#undef SIZE_ERROR
	};
	return c_literal(a, texts[kind]);
}

static void put_checks(struct text_printer *e)
{
	e->checks_sizes = true;
	for (uint32_t k = 0; k < e->f->n_checks; k++) {
		const struct loop_check *c = &e->f->checks[k];
		unit_put_line(e, arena_printf(e->scratch, "if (%s < 0) {", text_dim(e, c->least)));
		unit_put_line(e, arena_printf(e->scratch, "\ttri_fail(run, TRI_ERR_SHAPE, 0, 0, %s, %s);",
					      place_number(e, e->f->n_stmts + k), c_size_error(e->scratch, c->kind)));
		unit_put_line(e, "\treturn;");
		unit_put_line(e, "}");
	}
	e->checks_sizes = false;
}

static void put_scratch(struct text_printer *e)
{
	buf_printf(e->out, SCRATCH_HEAD "\n{\n", e->f->symbol);
	unit_put_line(e, "int64_t most = 0;");
	unit_put_line(e, "(void)n;");
	declare_symbols(e);
	e->checks_sizes = true;
	for (uint32_t i = 0; i < e->f->n_stmts; i++) {
		const struct loop_stmt *s = &e->f->stmts[i];
		uint32_t n;
		const struct loop_call *calls = loop_stmt_calls(s, &n);
		for (uint32_t k = 0; k < n; k++) {
			unit_put_line(e, "{");
			e->depth++;
			put_dim_array(e, "sizes", calls[k].dims, calls[k].n_dims);
			unit_put_line(e, arena_printf(e->scratch, "most = tri_size_max(most, %s_scratch(sizes));", calls[k].callee));
			close_call(e);
		}
		if (s->kind == STMT_BLOCK)
			unit_put_line(e, arena_printf(e->scratch, "most = tri_size_max(most, %s);", text_dim(e, s->u.block.frame)));
	}
	unit_put_line(e, arena_printf(e->scratch, "return tri_size_add(most, %s);", text_dim(e, e->f->scratch)));
	e->checks_sizes = false;
	buf_puts(e->out, "}\n\n");
}

void c_unit_put(const struct loop_fn *f, struct buf *out)
{
	struct text_printer e = text_printer_new(&dialect_c11, f, 0, out);
	text_kernels(&dialect_c11, &(struct text_hooks){.source = c_source}, f, out);
	buf_printf(out, UNIT_HEAD "\n{\n", f->symbol);
	unit_put_line(&e, "(void)run, (void)io, (void)slots, (void)n, (void)scratch;");
	declare_symbols(&e);
	put_checks(&e);
	for (uint32_t i = 0; i < f->n_stmts; i++)
		statement(&e, i);
	buf_puts(out, "}\n\n");
	put_scratch(&e);
	arena_free(e.scratch);
}
