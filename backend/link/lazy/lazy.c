#include "backend/link/lazy/lazy.h"
#include <string.h>
#include "backend/link/elf/section_builder.h"
#include "backend/link/elf/object.h"
#include "backend/link/elf/thunk_x86_64.h"
#include "backend/loops/ir/loops.h"
#include "backend/loops/ir/serialize.h"
#include "backend/runtime/abi/lazy.h"
#include "base/arena.h"
#include "base/map.h"

_Static_assert(sizeof(struct tri_lazy_slot) == 24 && sizeof(struct tri_lazy_unit) == 104 && sizeof(struct tri_lazy_call) == 24 &&
		       sizeof(struct tri_lazy_library) == 96,
	       "written field by field below");

struct lazy_builder {
	struct arena *a;
	struct object *o;
	const struct lazy_unit *in;
	uint32_t n;
	const struct loop_fn **loops;
	struct map by_symbol; /* of units */
	struct section_builder strings, steps, dims, calls, units, slots, symbols;
	uint32_t library;                                                      /* symbol */
	bool effects, by_columns, kernels[KERNEL_COUNT], filled[KERNEL_COUNT]; /* without and with a prologue */
	const char *error;
};

/* ---- dimensions: programs that the runtime evaluates ---- */

static uint32_t stack_depth(const struct dim_step *steps, uint32_t n)
{
	uint32_t top = 0, most = 0;
	for (uint32_t i = 0; i < n; i++) {
		top = steps[i].op == DIM_PUSH_CONST || steps[i].op == DIM_PUSH_SYM ? top + 1 : top - 1;
		most = top > most ? top : most;
	}
	return most;
}

static void lazy_put_dim(struct lazy_builder *m, const struct dims *d, dim x)
{
	uint32_t n = dim_program(d, x, NULL, 0);
	struct dim_step *program = ARENA_ARRAY(m->a, struct dim_step, n);
	dim_program(d, x, program, n);
	if (stack_depth(program, n) > TRI_LAZY_MOST_DIMS)
		m->error = "a dimension is nested too deeply for a lazy library";
	section_put_dim(&m->dims, &m->steps, NULL, d, x);
}

/* ---- units ---- */

static void lazy_put_call(struct lazy_builder *m, const struct loop_fn *f, const struct loop_call *s)
{
	uint64_t callee;
	if (!map_get(&m->by_symbol, map_key_str(s->callee), &callee)) {
		m->error = arena_printf(m->a, "%s calls %s, which is missing", f->symbol, s->callee);
		return;
	}
	if (s->n_dims > TRI_LAZY_MOST_DIMS)
		m->error = arena_printf(m->a, "%s has too many dynamic dimensions for a lazy library", s->callee);
	section_put_address(&m->calls, m->units.symbol, callee * sizeof(struct tri_lazy_unit));
	section_put_address(&m->calls, m->dims.symbol, m->dims.bytes.len);
	buf_u64(&m->calls.bytes, s->n_dims);
	for (uint32_t k = 0; k < s->n_dims; k++)
		lazy_put_dim(m, f->dims, s->dims[k]);
}

static uint32_t put_calls(struct lazy_builder *m, const struct loop_fn *f)
{
	size_t before = m->calls.bytes.len;
	for (uint32_t i = 0; i < f->n_stmts; i++) {
		const struct loop_stmt *s = &f->stmts[i];
		m->effects |= s->kind == STMT_EFFECT;
		if (s->kind == STMT_KERNEL) {
			(s->u.kernel.prologue ? m->filled : m->kernels)[s->u.kernel.kernel] = true;
			m->by_columns |= s->u.kernel.epilogue && loop_epilogue_by_columns(s->u.kernel.epilogue);
		}
		uint32_t n;
		const struct loop_call *calls = loop_stmt_calls(s, &n);
		for (uint32_t k = 0; k < n; k++)
			lazy_put_call(m, f, &calls[k]);
	}
	return (uint32_t)((m->calls.bytes.len - before) / sizeof(struct tri_lazy_call));
}

static uint32_t lazy_import_symbol(struct lazy_builder *m, const char *name)
{
	return object_symbol(m->o, name, OBJ_UNDEFINED, 0, 0, true, true);
}

/* Adds the stubs of a unit and its slot, which holds functions of the runtime at first. */
static void put_stubs(struct lazy_builder *m, uint32_t i, uint32_t run, uint32_t scratch)
{
	const char *symbol = m->in[i].symbol;
	uint64_t slot = m->slots.bytes.len, unit = i * sizeof(struct tri_lazy_unit);
	thunk_slot(m->o, symbol, m->slots.symbol, slot);
	thunk_slot(m->o, arena_printf(m->a, "%s_scratch", symbol), m->slots.symbol, slot + 8);
	section_put_address(&m->slots, thunk_first_run(m->o, arena_printf(m->a, "%s_first", symbol), run, m->units.symbol, unit), 0);
	section_put_address(&m->slots,
			    thunk_first_scratch(m->o, arena_printf(m->a, "%s_scratch_first", symbol), scratch, m->units.symbol, unit), 0);
	buf_u64(&m->slots.bytes, TRI_LAZY_ABSENT);
}

static void lazy_put_unit(struct lazy_builder *m, uint32_t i)
{
	const struct lazy_unit *u = &m->in[i];
	const struct loop_fn *f = m->loops[i];
	hash128 digest = hash_bytes(u->loops, u->n_loops);
	uint32_t bytes = object_section(m->o, SECTION_RODATA, ".rodata.loops", u->loops, u->n_loops, 1);
	uint64_t calls = m->calls.bytes.len;
	struct buf *b = &m->units.bytes;
	uint32_t n_calls = put_calls(m, f);
	section_put_address(&m->units, m->library, 0);
	section_put_address(&m->units, m->slots.symbol, i * sizeof(struct tri_lazy_slot));
	section_put_string(&m->units, &m->strings, u->name);
	section_put_string(&m->units, &m->strings, u->symbol);
	section_put_address(&m->units, object_symbol(m->o, "", bytes, 0, u->n_loops, false, false), 0);
	buf_u64(b, u->n_loops);
	buf_put(b, &u->key, sizeof u->key);
	buf_put(b, &digest, sizeof digest);
	section_put_address(&m->units, m->dims.symbol, m->dims.bytes.len);
	lazy_put_dim(m, f->dims, f->scratch);
	section_put_address(&m->units, m->calls.symbol, calls);
	buf_u32(b, n_calls);
	buf_u8(b, u->opt);
	buf_u8(b, u->size);
	buf_u8(b, u->profile_hook);
	buf_u8(b, 0);
}

/* ---- the library ---- */

static void lazy_put_symbol(struct lazy_builder *m, const char *name)
{
	section_put_string(&m->symbols, &m->strings, name);
	section_put_address(&m->symbols, lazy_import_symbol(m, name), 0);
}

static void lazy_put_symbols(struct lazy_builder *m)
{
	lazy_put_symbol(m, "tri_fail");
	lazy_put_symbol(m, "tri_fail_at");
	lazy_put_symbol(m, "tri_failed");
	lazy_put_symbol(m, "tri_parallel");
	if (m->by_columns)
		lazy_put_symbol(m, "tri_epilogue_by_columns");
	if (m->effects) {
		lazy_put_symbol(m, "tri_print");
		lazy_put_symbol(m, "tri_assert");
	}
	for (uint32_t k = 0; k < KERNEL_COUNT; k++) {
		if (m->kernels[k])
			lazy_put_symbol(m, kernel_info((enum kernel)k)->symbol);
		if (m->filled[k])
			lazy_put_symbol(m, kernel_info((enum kernel)k)->prologue);
	}
	if (m->n && m->in[0].profile_hook)
		lazy_put_symbol(m, "tri_profile_begin");
	for (uint32_t i = 0; i < m->n; i++)
		if (m->in[i].profile_hook)
			lazy_put_symbol(m, arena_printf(m->a, "%s_profile", m->in[i].symbol));
}

static void put_library(struct lazy_builder *m, struct section_builder *b, const struct lazy_info *info)
{
	struct section_builder state = section_begin(m->o, SECTION_DATA, ".data.lazy", NULL);
	section_put_null(&state);
	buf_u32(&b->bytes, TRI_LAZY_ABI);
	buf_u32(&b->bytes, m->n);
	buf_u32(&b->bytes, (uint32_t)(m->symbols.bytes.len / sizeof(struct tri_lazy_symbol)));
	buf_u32(&b->bytes, info->vector_bytes);
	section_put_address(b, m->units.symbol, 0);
	section_put_address(b, m->symbols.symbol, 0);
	section_put_address(b, section_end(&state, sizeof(struct tri_lazy_state_of_library)), 0);
	section_put_string(b, &m->strings, info->libtrib);
	section_put_string(b, &m->strings, info->cpu);
	section_put_string(b, &m->strings, info->features);
	buf_put(&b->bytes, &info->build, sizeof info->build);
	buf_put(&b->bytes, &info->generator, sizeof info->generator);
}

static bool lazy_read_all(struct lazy_builder *m)
{
	m->loops = ARENA_ARRAY(m->a, const struct loop_fn *, m->n + 1);
	for (uint32_t i = 0; i < m->n; i++) {
		map_put(&m->by_symbol, map_key_str(m->in[i].symbol), i);
		m->loops[i] = loops_deserialize(m->a, m->in[i].loops, m->in[i].n_loops, &m->error);
		if (!m->loops[i])
			return false;
	}
	return true;
}

static void lazy_put_all(struct lazy_builder *m, const struct lazy_info *info)
{
	struct section_builder library = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.lazy", NULL);
	uint32_t run = lazy_import_symbol(m, "tri_lazy_run"), scratch = lazy_import_symbol(m, "tri_lazy_scratch");
	m->library = library.symbol;
	m->strings = section_begin(m->o, SECTION_RODATA, ".rodata.strings", NULL);
	m->steps = section_begin(m->o, SECTION_RODATA, ".rodata.steps", NULL);
	m->dims = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.dims", NULL);
	m->calls = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.calls", NULL);
	m->units = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.units", NULL);
	m->symbols = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.symbols", NULL);
	m->slots = section_begin(m->o, SECTION_DATA, ".data.slots", NULL);
	for (uint32_t i = 0; i < m->n; i++) {
		put_stubs(m, i, run, scratch);
		lazy_put_unit(m, i);
	}
	lazy_put_symbols(m);
	put_library(m, &library, info);
	section_end(&library, sizeof(struct tri_lazy_library));
	section_end(&m->strings, 1);
	section_end(&m->steps, sizeof(tri_dim_step));
	section_end(&m->dims, sizeof(tri_dim_desc));
	section_end(&m->calls, sizeof(struct tri_lazy_call));
	section_end(&m->units, sizeof(struct tri_lazy_unit));
	section_end(&m->symbols, sizeof(struct tri_lazy_symbol));
	section_end(&m->slots, sizeof(struct tri_lazy_slot));
}

struct object *lazy_object(struct arena *a, const struct lazy_unit *units, uint32_t n, const struct lazy_info *info, const char **error)
{
	struct lazy_builder m = {.a = a, .in = units, .n = n, .o = object_new(a, "lazy")};
	if (lazy_read_all(&m))
		lazy_put_all(&m, info);
	map_free(&m.by_symbol);
	*error = m.error;
	return m.error ? NULL : m.o;
}
