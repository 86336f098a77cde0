/* The object of one model: packed weights, weight tables, the descriptor of tri.h and the functions of the generated header. Every array is a section
 * of its own, so that addresses in it are plain relocations against the other arrays' symbols. */
#include "backend/link/model.h"
#include "backend/link/block.h"
#include "backend/link/model_desc.h"
#include "backend/link/model_names.h"
#include "backend/link/object.h"
#include "backend/link/thunk_x86_64.h"
#include "backend/runtime/model.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "frontend/hir/hir.h"

struct maker {
	struct arena *a;
	struct object *o;
	const struct model_input *in;
	const struct model_weights *w;
	const struct model_info *info;
	const struct model_backend *backend;
	struct block strings;
	uint32_t *blobs, *tables; /* symbols */
	uint32_t outside;         /* symbol of the struct tri_weights, where there is a weight file */
};

_Static_assert(sizeof(void *) == 8, "addresses are 64 bits in the descriptor");
_Static_assert((int)TRI_DIM_CONST == (int)DIM_PUSH_CONST && (int)TRI_DIM_SYM == (int)DIM_PUSH_SYM && (int)TRI_DIM_ADD == (int)DIM_OP_ADD &&
		       (int)TRI_DIM_MUL == (int)DIM_OP_MUL && (int)TRI_DIM_FLOORDIV == (int)DIM_OP_FLOORDIV &&
		       (int)TRI_DIM_MOD == (int)DIM_OP_MOD,
	       "dimension programs are copied");
_Static_assert((int)TRI_BOOL == (int)DT_BOOL && (int)TRI_TRIT == (int)DT_TRIT && (int)TRI_INT64 == (int)DT_INT64 &&
		       (int)TRI_FLOAT64 == (int)DT_FLOAT64,
	       "element types are copied");

static void make_inside(struct maker *m)
{
	m->blobs = ARENA_ARRAY(m->a, uint32_t, m->w->n_blobs);
	m->tables = ARENA_ARRAY(m->a, uint32_t, m->w->n_tables);
	for (uint32_t i = 0; i < m->w->n_blobs; i++) {
		const struct model_blob *blob = &m->w->blobs[i];
		uint32_t s = object_section(m->o, SECTION_RODATA, ".rodata.weight", blob->bytes ? blob->bytes : "", blob->len, 64);
		m->blobs[i] = object_symbol(m->o, "", s, 0, blob->len, false, false);
	}
	for (uint32_t i = 0; i < m->w->n_tables; i++) { /* first all symbols: tables refer to one another */
		uint32_t s = object_section(m->o, SECTION_RELRO, ".data.rel.ro.table", NULL, 0, 8);
		m->tables[i] = object_symbol(m->o, "", s, 0, 0, false, false);
	}
	for (uint32_t i = 0; i < m->w->n_tables; i++) {
		const struct model_table *t = &m->w->tables[i];
		struct block b = {m->o, {0}, m->o->symbols[m->tables[i]].section, m->tables[i]};
		for (uint32_t k = 0; k < t->plan->n_slots; k++)
			block_address(&b, t->slots[k].is_table ? m->tables[t->slots[k].index] : m->blobs[t->slots[k].index], 0);
		block_end(&b, 8);
	}
}

static uint32_t first_slots(struct maker *m)
{
	struct block b = block_new(m->o, SECTION_RODATA, ".rodata.tables", NULL);
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->w->n_tables; n += m->w->tables[i++].plan->n_slots)
		buf_u32(&b.bytes, n);
	buf_u32(&b.bytes, n);
	return block_end(&b, sizeof(uint32_t));
}

/* The tables as numbers: addresses come when the file is mapped. */
static void make_outside(struct maker *m)
{
	struct block b = block_new(m->o, SECTION_RELRO, ".data.rel.ro.weights", NULL),
		     sizes = block_new(m->o, SECTION_RODATA, ".rodata.sizes", NULL);
	struct block slots = block_new(m->o, SECTION_RODATA, ".rodata.slots", NULL);
	for (uint32_t i = 0; i < m->w->n_blobs; i++)
		buf_u64(&sizes.bytes, m->w->blobs[i].len);
	for (uint32_t i = 0; i < m->w->n_tables; i++)
		for (uint32_t k = 0; k < m->w->tables[i].plan->n_slots; k++) {
			const struct model_slot *s = &m->w->tables[i].slots[k];
			buf_u32(&slots.bytes, s->index | (s->is_table ? TRI_SLOT_TABLE : 0));
		}
	block_string(&b, &m->strings, m->w->file->name);
	buf_u64(&b.bytes, m->w->file->size);
	buf_put(&b.bytes, &m->w->file->digest, 16);
	buf_u32(&b.bytes, m->w->n_blobs);
	buf_u32(&b.bytes, m->w->n_tables);
	block_address(&b, block_end(&sizes, sizeof(uint64_t)), 0);
	block_address(&b, first_slots(m), 0);
	block_address(&b, block_end(&slots, sizeof(uint32_t)), 0);
	m->outside = block_end(&b, sizeof(struct tri_weights));
}

static void put_dim(struct maker *m, struct block *b, struct block *steps, const struct dims *dims, dim x)
{
	struct dim_step none, *program;
	uint32_t n = dim_program(dims, x, &none, 0);
	program = ARENA_ARRAY(m->a, struct dim_step, n);
	dim_program(dims, x, program, n);
	block_address(b, steps->symbol, steps->bytes.len);
	buf_u32(&b->bytes, n);
	buf_u32(&b->bytes, 0);
	for (uint32_t i = 0; i < n; i++) {
		buf_u32(&steps->bytes, (uint32_t)program[i].op);
		buf_u32(&steps->bytes, 0);
		buf_u64(&steps->bytes, (uint64_t)program[i].value);
	}
}

static void put_io(struct maker *m, struct block *b, struct block *steps, const struct hir_unit *u, const struct model_io *io)
{
	block_string(b, &m->strings, io->name);
	buf_u32(&b->bytes, (uint32_t)io->type->elem);
	buf_u32(&b->bytes, io->type->rank);
	for (uint32_t k = 0; k < TRI_MAX_RANK; k++)
		if (k < io->type->rank) {
			put_dim(m, b, steps, u->dims, io->type->dims[k]);
		} else {
			block_null(b);
			buf_u64(&b->bytes, 0);
		}
}

static uint32_t make_code(struct maker *m, uint32_t entry)
{
	const struct hir_unit *u = m->in->program->entries[entry].unit;
	struct block b = block_new(m->o, SECTION_RELRO, ".data.rel.ro.code", NULL);
	block_address(&b, object_symbol(m->o, u->symbol, OBJ_UNDEFINED, 0, 0, true, true), 0);
	block_address(&b, object_symbol(m->o, arena_printf(m->a, "%s_scratch", u->symbol), OBJ_UNDEFINED, 0, 0, true, true), 0);
	if (m->w->file) {
		block_null(&b);
		block_address(&b, m->outside, 0);
		buf_u64(&b.bytes, m->w->entry_tables[entry]);
	} else {
		block_address(&b, m->tables[m->w->entry_tables[entry]], 0);
		block_null(&b);
		buf_u64(&b.bytes, 0);
	}
	return block_end(&b, sizeof(struct tri_entry_code));
}

static void put_entry(struct maker *m, struct block *entries, uint32_t i)
{
	const struct hir_entry *e = &m->in->program->entries[i];
	struct block io = block_new(m->o, SECTION_RELRO, ".data.rel.ro.io", NULL),
		     steps = block_new(m->o, SECTION_RODATA, ".rodata.dims", NULL);
	struct block names = block_new(m->o, SECTION_RELRO, ".data.rel.ro.names", NULL);
	uint32_t n, n_inputs, n_dims = dims_syms(e->unit->dims);
	struct model_io *list = model_io_list(m->a, e, &n, &n_inputs);
	for (uint32_t k = 0; k < n; k++)
		put_io(m, &io, &steps, e->unit, &list[k]);
	for (uint32_t k = 0; k < n_dims; k++)
		block_string(&names, &m->strings, dims_sym_name(e->unit->dims, k));
	block_string(entries, &m->strings, e->name);
	block_address(entries, io.symbol, 0);
	block_address(entries, io.symbol, n_inputs * sizeof(tri_io_desc));
	buf_u32(&entries->bytes, n_inputs);
	buf_u32(&entries->bytes, n - n_inputs);
	block_address(entries, names.symbol, 0);
	buf_u32(&entries->bytes, n_dims);
	buf_u32(&entries->bytes, 0);
	block_address(entries, m->backend->codes[i], 0);
	block_end(&io, sizeof(tri_io_desc));
	block_end(&steps, sizeof(tri_dim_step));
	block_end(&names, sizeof(char *));
}

static uint32_t make_units(struct maker *m)
{
	struct block b = block_new(m->o, SECTION_RELRO, ".data.rel.ro.units", NULL);
	for (uint32_t i = 0; i < m->in->program->n_units; i++) {
		char hex[33];
		hash_hex(m->info->unit_keys[i], hex);
		block_string(&b, &m->strings, m->in->program->units[i]->name);
		block_string(&b, &m->strings, hex);
	}
	return block_end(&b, sizeof(tri_unit_desc));
}

static uint32_t runtime_symbol(struct maker *m, const char *name) { return object_symbol(m->o, name, OBJ_UNDEFINED, 0, 0, true, true); }

/* The descriptor and the functions, which refer to each other. */
static void make_desc(struct maker *m)
{
	const struct model_info *info = m->info;
	struct block desc = block_new(m->o, SECTION_RELRO, ".data.rel.ro.desc", arena_printf(m->a, "%s_desc", info->name));
	struct block entries = block_new(m->o, SECTION_RELRO, ".data.rel.ro.entries", NULL);
	uint32_t run = runtime_symbol(m, "tri_model_run");
	for (uint32_t i = 0; i < m->in->program->n_entries; i++) {
		put_entry(m, &entries, i);
		thunk_run(m->o, arena_printf(m->a, "%s_run", model_entry_prefix(m->a, m->in->program, info->name, i)), run, i);
	}
	buf_u32(&desc.bytes, TRI_ABI);
	buf_u32(&desc.bytes, m->in->program->n_entries);
	buf_u32(&desc.bytes, m->in->program->n_units);
	buf_u32(&desc.bytes, 0);
	const char *texts[] = {info->name, info->version, info->compiler, info->target, m->backend->name, info->commit};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		block_string(&desc, &m->strings, texts[i]);
	buf_u32(&desc.bytes, info->dirty);
	buf_u32(&desc.bytes, 0);
	block_address(&desc, block_end(&entries, sizeof(tri_entry_desc)), 0);
	block_address(&desc, make_units(m), 0);
	block_address(&desc, thunk_open(m->o, arena_printf(m->a, "%s_open", info->name), runtime_symbol(m, "tri_model_open"), desc.symbol),
		      0);
	block_address(&desc, run, 0);
	block_address(&desc, thunk_jump(m->o, arena_printf(m->a, "%s_close", info->name), runtime_symbol(m, "tri_model_close")), 0);
	BUG_ON(desc.bytes.len != sizeof(tri_model_desc));
	block_end(&desc, 8);
	object_symbol(m->o, TRI_DESC_SYMBOL, m->o->symbols[desc.symbol].section, 0, sizeof(tri_model_desc), true, false);
}

static void describe(struct maker *m, const struct model_backend *backend)
{
	m->backend = backend;
	make_desc(m);
	block_end(&m->strings, 1);
}

void model_describe(struct object *o, const struct model_input *in, const struct model_info *info, const struct model_backend *backend)
{
	struct maker m = {.a = o->arena, .o = o, .in = in, .info = info};
	m.strings = block_new(m.o, SECTION_RODATA, ".rodata.strings", NULL);
	describe(&m, backend);
}

struct object *model_object(struct arena *a, const struct model_input *in, const struct model_weights *w, const struct model_info *info)
{
	struct maker m = {.a = a, .o = object_new(a, "model"), .in = in, .w = w, .info = info};
	uint32_t *codes = ARENA_ARRAY(a, uint32_t, in->program->n_entries + 1);
	m.strings = block_new(m.o, SECTION_RODATA, ".rodata.strings", NULL);
	if (w->file)
		make_outside(&m);
	else
		make_inside(&m);
	for (uint32_t i = 0; i < in->program->n_entries; i++)
		codes[i] = make_code(&m, i);
	describe(&m, &(struct model_backend){"cpu", codes});
	return m.o;
}
