/* Builds the object of one model: packed weights, weight tables, the descriptor of tri.h and the functions of the generated header. */
#include "backend/link/model/model.h"
#include "backend/link/elf/section_builder.h"
#include "backend/link/model/model_desc.h"
#include "backend/link/model/model_lines.h"
#include "backend/link/model/model_names.h"
#include "backend/link/model/model_trits.h"
#include "backend/link/elf/object.h"
#include "backend/link/elf/thunk_x86_64.h"
#include "backend/loops/ir/loops.h"
#include "backend/runtime/model.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "frontend/hir/hir.h"

struct model_builder {
	struct arena *a;
	struct object *o;
	const struct model_input *in;
	const struct model_weights *w;
	const struct model_info *info;
	const struct model_backend *backend;
	struct section_builder strings;
	uint32_t *blobs, *tables; /* symbols */
	uint32_t outside;         /* symbol of the struct tri_weights, if there is a weight file */
};

_Static_assert(sizeof(void *) == 8, "addresses are 64 bits in the descriptor");
_Static_assert((int)TRI_BOOL == (int)DT_BOOL && (int)TRI_TRIT == (int)DT_TRIT && (int)TRI_INT64 == (int)DT_INT64 &&
		       (int)TRI_FLOAT64 == (int)DT_FLOAT64 && (int)TRI_UINT8 == (int)DT_UINT8,
	       "element types are copied");

uint32_t *model_blob_symbols(struct object *o, const struct model_weights *w)
{
	uint32_t *symbols = ARENA_ARRAY(o->arena, uint32_t, w->n_blobs + 1), all = OBJ_UNDEFINED;
	for (uint32_t i = 0; i < w->n_blobs; i++) {
		const struct model_blob *b = &w->blobs[i];
		if (b->bytes) {
			uint32_t s = object_section(o, SECTION_RODATA, ".rodata.weight", b->bytes, b->len, MODEL_BLOB_ALIGN);
			symbols[i] = object_symbol(o, "", s, 0, b->len, false, false);
			continue;
		}
		if (all == OBJ_UNDEFINED)
			all = object_section(o, SECTION_WEIGHTS, ".weights", NULL, w->size, MODEL_BLOB_ALIGN);
		symbols[i] = object_symbol(o, "", all, b->offset, b->len, false, false);
	}
	return symbols;
}

static void put_weights(struct model_builder *m)
{
	m->blobs = model_blob_symbols(m->o, m->w);
	m->tables = ARENA_ARRAY(m->a, uint32_t, m->w->n_tables);
	for (uint32_t i = 0; i < m->w->n_tables; i++) { /* all symbols first: tables refer to each other */
		uint32_t s = object_section(m->o, SECTION_RELRO, ".data.rel.ro.table", NULL, 0, 8);
		m->tables[i] = object_symbol(m->o, "", s, 0, 0, false, false);
	}
	for (uint32_t i = 0; i < m->w->n_tables; i++) {
		const struct model_table *t = &m->w->tables[i];
		struct section_builder b = {m->o, {0}, m->o->symbols[m->tables[i]].section, m->tables[i]};
		for (uint32_t k = 0; k < t->plan->n_slots; k++)
			section_put_address(&b, t->slots[k].is_table ? m->tables[t->slots[k].index] : m->blobs[t->slots[k].index], 0);
		section_end(&b, 8);
	}
}

static uint32_t put_first_slots(struct model_builder *m)
{
	struct section_builder b = section_begin(m->o, SECTION_RODATA, ".rodata.tables", NULL);
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->w->n_tables; n += m->w->tables[i++].plan->n_slots)
		buf_u32(&b.bytes, n);
	buf_u32(&b.bytes, n);
	return section_end(&b, sizeof(uint32_t));
}

/* Describes the tables as numbers. The runtime makes addresses of them when it maps the file. */
static void put_weight_file(struct model_builder *m)
{
	struct section_builder b = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.weights", NULL),
			       blobs = section_begin(m->o, SECTION_RODATA, ".rodata.blobs", NULL);
	struct section_builder slots = section_begin(m->o, SECTION_RODATA, ".rodata.slots", NULL);
	for (uint32_t i = 0; i < m->w->n_blobs; i++) {
		buf_u64(&blobs.bytes, m->w->blobs[i].len);
		buf_u64(&blobs.bytes, (uint64_t)m->w->blobs[i].indexed[0]);
		buf_u64(&blobs.bytes, (uint64_t)m->w->blobs[i].indexed[1]);
	}
	for (uint32_t i = 0; i < m->w->n_tables; i++)
		for (uint32_t k = 0; k < m->w->tables[i].plan->n_slots; k++) {
			const struct model_slot *s = &m->w->tables[i].slots[k];
			buf_u32(&slots.bytes, s->index | (s->is_table ? TRI_SLOT_TABLE : 0));
		}
	section_put_string(&b, &m->strings, m->w->file->name);
	buf_u64(&b.bytes, m->w->file->size);
	buf_put(&b.bytes, &m->w->file->digest, 16);
	buf_u32(&b.bytes, m->w->n_blobs);
	buf_u32(&b.bytes, m->w->n_tables);
	section_put_address(&b, section_end(&blobs, sizeof(struct tri_blob)), 0);
	section_put_address(&b, put_first_slots(m), 0);
	section_put_address(&b, section_end(&slots, sizeof(uint32_t)), 0);
	m->outside = section_end(&b, sizeof(struct tri_weights));
}

static void put_io(struct model_builder *m, struct section_builder *b, struct section_builder *steps, const struct hir_unit *u,
		   const struct model_io *io)
{
	section_put_string(b, &m->strings, io->name);
	buf_u32(&b->bytes, (uint32_t)io->type->elem);
	buf_u32(&b->bytes, io->type->rank);
	for (uint32_t k = 0; k < TRI_MAX_RANK; k++)
		if (k < io->type->rank) {
			section_put_dim(b, steps, NULL, u->dims, io->type->dims[k]);
		} else {
			section_put_null(b);
			buf_u64(&b->bytes, 0);
		}
}

static uint32_t put_code(struct model_builder *m, uint32_t entry)
{
	const struct hir_unit *u = m->in->program->entries[entry].unit;
	struct section_builder b = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.code", NULL);
	section_put_address(&b, object_symbol(m->o, u->symbol, OBJ_UNDEFINED, 0, 0, true, true), 0);
	section_put_address(&b, object_symbol(m->o, arena_printf(m->a, "%s_scratch", u->symbol), OBJ_UNDEFINED, 0, 0, true, true), 0);
	if (m->w->file) {
		section_put_null(&b);
		section_put_address(&b, m->outside, 0);
		buf_u64(&b.bytes, m->w->entry_tables[entry]);
	} else {
		section_put_address(&b, m->tables[m->w->entry_tables[entry]], 0);
		section_put_null(&b);
		buf_u64(&b.bytes, 0);
	}
	return section_end(&b, sizeof(struct tri_entry_code));
}

static uint32_t runtime_symbol(struct model_builder *m, const char *name)
{
	return object_symbol(m->o, name, OBJ_UNDEFINED, 0, 0, true, true);
}

bool model_state_grows(const struct model_input *in, const struct hir_entry *e, uint32_t k)
{
	uint32_t i = 0;
	while (in->program->units[i] != e->unit)
		i++;
	struct argument_layouts l = ir_program_layouts(in->plans[i] ? in->plans[i]->options.program : NULL, e->unit);
	return argument_grows(l, e->unit->n_outputs - e->n_states_out + k) != IR_NONE;
}

static void put_state_lists(struct model_builder *m, struct section_builder *entries, const struct hir_entry *e)
{
	struct section_builder list = section_begin(m->o, SECTION_RODATA, ".rodata.entry_states", NULL);
	for (uint32_t i = 0; i < e->n_states_in; i++)
		buf_u32(&list.bytes, e->states_in[i]);
	for (uint32_t i = 0; i < e->n_states_out; i++)
		buf_u32(&list.bytes, e->states_out[i]);
	for (uint32_t i = 0; i < e->n_states_out; i++)
		buf_u32(&list.bytes, model_state_grows(m->in, e, i));
	section_put_address(entries, list.symbol, 0);
	section_put_address(entries, list.symbol, e->n_states_in * sizeof(uint32_t));
	buf_u32(&entries->bytes, e->n_states_in);
	buf_u32(&entries->bytes, e->n_states_out);
	section_put_address(entries, list.symbol, (e->n_states_in + e->n_states_out) * sizeof(uint32_t));
	section_end(&list, sizeof(uint32_t));
}

static void model_put_state(struct model_builder *m, struct section_builder *b, uint32_t i)
{
	const struct hir_state *s = &m->in->program->states[i];
	const struct tensor *t = &m->in->initial_states[i];
	section_put_string(b, &m->strings, s->name);
	buf_u32(&b->bytes, (uint32_t)s->type.elem);
	buf_u32(&b->bytes, s->type.rank);
	for (uint32_t k = 0; k < TRI_MAX_RANK; k++) {
		int64_t size = 0;
		if (k < s->type.rank)
			dim_is_const(s->dims, s->type.dims[k], &size);
		buf_u64(&b->bytes, (uint64_t)size);
	}
	buf_u32(&b->bytes, s->axis);
	buf_u32(&b->bytes, s->capacity);
	if (!t->data) {
		section_put_null(b);
		return;
	}
	size_t n = (size_t)tensor_bytes(t);
	uint32_t section = object_section(m->o, SECTION_RODATA, ".rodata.state", t->data, n, MODEL_BLOB_ALIGN);
	section_put_address(b, object_symbol(m->o, "", section, 0, n, false, false), 0);
}

#define FALLBACK_DESC "tri_fallback_desc"

/* Adds NAME_function to the descriptor, or NULL if it is not wanted. */
static void model_put_function(struct model_builder *m, struct section_builder *desc, bool wanted, const char *function)
{
	const char *name = arena_printf(m->a, "%s_%s", m->info->name, function), *code = arena_printf(m->a, "tri_model_%s", function);
	if (wanted && m->info->role != MODEL_FALLBACK)
		section_put_address(desc, thunk_jump(m->o, name, runtime_symbol(m, code)), 0);
	else
		section_put_null(desc);
}

/* Adds the states, their capacities and their functions to the descriptor. */
static void model_put_states(struct model_builder *m, struct section_builder *desc)
{
	const struct hir_program *p = m->in->program;
	struct section_builder states = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.states", NULL);
	struct section_builder capacities = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.capacities", NULL);
	for (uint32_t i = 0; i < p->n_states; i++)
		model_put_state(m, &states, i);
	for (uint32_t i = 0; i < p->n_capacities; i++) {
		section_put_string(&capacities, &m->strings, p->capacities[i].name);
		buf_u64(&capacities.bytes, (uint64_t)m->in->capacities[i]);
	}
	section_put_address(desc, section_end(&states, sizeof(tri_state_desc)), 0);
	section_put_address(desc, section_end(&capacities, sizeof(tri_capacity)), 0);
	buf_u32(&desc->bytes, p->n_capacities);
	buf_u32(&desc->bytes, 0);
	model_put_function(m, desc, p->n_states > 0, "reset");
	model_put_function(m, desc, p->n_states > 0, "state_save");
	model_put_function(m, desc, p->n_states > 0, "state_load");
}

static void model_put_entry(struct model_builder *m, struct section_builder *entries, uint32_t i)
{
	const struct hir_entry *e = &m->in->program->entries[i];
	struct section_builder io = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.io", NULL),
			       steps = section_begin(m->o, SECTION_RODATA, ".rodata.dims", NULL);
	struct section_builder names = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.names", NULL);
	uint32_t n, n_inputs, n_dims = dims_syms(e->unit->dims);
	struct model_io *list = model_io_list(m->a, e, &n, &n_inputs);
	for (uint32_t k = 0; k < n; k++)
		put_io(m, &io, &steps, e->unit, &list[k]);
	for (uint32_t k = 0; k < n_dims; k++)
		section_put_string(&names, &m->strings, dims_sym_name(e->unit->dims, k));
	section_put_string(entries, &m->strings, e->name);
	section_put_address(entries, io.symbol, 0);
	section_put_address(entries, io.symbol, n_inputs * sizeof(tri_io_desc));
	buf_u32(&entries->bytes, n_inputs - e->n_states_in);
	buf_u32(&entries->bytes, n - n_inputs - e->n_states_out);
	section_put_address(entries, names.symbol, 0);
	buf_u32(&entries->bytes, n_dims);
	buf_u32(&entries->bytes, 0);
	section_put_address(entries, m->backend->codes[i], 0);
	put_state_lists(m, entries, e);
	section_end(&io, sizeof(tri_io_desc));
	section_end(&steps, sizeof(tri_dim_step));
	section_end(&names, sizeof(char *));
}

/* Adds the units and where their code comes from to the descriptor. */
static void put_units(struct model_builder *m, struct section_builder *desc)
{
	struct section_builder b = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.units", NULL);
	struct model_lines lines = model_lines_begin(m->o);
	for (uint32_t i = 0; i < m->in->program->n_units; i++) {
		char hex[33];
		hash_hex(m->info->unit_keys[i], hex);
		section_put_string(&b, &m->strings, m->in->program->units[i]->name);
		section_put_string(&b, &m->strings, hex);
		model_lines_put(&lines, m->in->lines ? m->in->lines[i] : NULL, loops_unit_tag(m->in->program->units[i]->symbol), &b.bytes);
		if (m->info->profile_hook && m->backend->calls_hook && m->in->plans[i])
			thunk_profile(m->o, arena_printf(m->a, "%s_profile", m->in->program->units[i]->symbol),
				      runtime_symbol(m, "tri_profile_end"), b.symbol, i * sizeof(tri_unit_desc));
	}
	section_put_address(desc, section_end(&b, sizeof(tri_unit_desc)), 0);
	model_lines_end(&lines, desc);
}

static void model_put_profile(struct model_builder *m, struct section_builder *desc)
{
	model_put_function(m, desc, m->info->profile_hook, "profile");
	model_put_function(m, desc, m->info->profile_hook, "profile_reset");
	if (m->info->profile_hook)
		section_put_address(desc, runtime_symbol(m, "tri_profiling"), 0);
	else
		section_put_null(desc);
}

/* Adds NAME_run and NAME_run_async of an entry, and NAME_ENTRY_run. */
static void model_put_run(struct model_builder *m, uint32_t i)
{
	const char *prefix = model_entry_prefix(m->a, m->in->program, m->info->name, i);
	thunk_run(m->o, arena_printf(m->a, "%s_run", prefix), runtime_symbol(m, "tri_model_run"), i);
	thunk_run(m->o, arena_printf(m->a, "%s_run_async", prefix), runtime_symbol(m, "tri_model_run_async"), i);
}

/* Adds the functions that take the descriptor or an entry. */
static void model_put_calls(struct model_builder *m, struct section_builder *desc)
{
	bool wanted = m->info->role != MODEL_FALLBACK;
	if (!wanted) {
		section_put_null(desc);
		section_put_null(desc);
	} else {
		const char *open = arena_printf(m->a, "%s_open", m->info->name);
		section_put_address(desc, thunk_open(m->o, open, runtime_symbol(m, "tri_model_open"), desc->symbol), 0);
		section_put_address(desc, runtime_symbol(m, "tri_model_run"), 0);
	}
	for (uint32_t i = 0; wanted && i < m->in->program->n_entries; i++)
		model_put_run(m, i);
	model_put_function(m, desc, wanted, "close");
}

/* Adds what runs the model. */
static void model_put_engine(struct model_builder *m, struct section_builder *desc)
{
	if (m->info->role == MODEL_FALLBACK)
		section_put_null(desc);
	else
		section_put_address(desc, runtime_symbol(m, "tri_model_run_async"), 0);
	model_put_function(m, desc, true, "device");
	if (m->info->role == MODEL_WITH_FALLBACK)
		section_put_address(desc, runtime_symbol(m, FALLBACK_DESC), 0);
	else
		section_put_null(desc);
	section_put_address(desc, runtime_symbol(m, m->backend->engine), 0);
}

/* Adds the descriptor and the functions, which refer to each other. */
static void put_desc(struct model_builder *m)
{
	const struct model_info *info = m->info;
	const char *name = info->role == MODEL_FALLBACK ? FALLBACK_DESC : arena_printf(m->a, "%s_desc", info->name);
	struct section_builder desc = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.desc", name);
	struct section_builder entries = section_begin(m->o, SECTION_RELRO, ".data.rel.ro.entries", NULL);
	for (uint32_t i = 0; i < m->in->program->n_entries; i++)
		model_put_entry(m, &entries, i);
	buf_u32(&desc.bytes, TRI_ABI);
	buf_u32(&desc.bytes, m->in->program->n_entries);
	buf_u32(&desc.bytes, m->in->program->n_units);
	buf_u32(&desc.bytes, m->in->program->n_states);
	const char *texts[] = {info->name, info->version, info->compiler, info->target, m->backend->name, info->commit};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		section_put_string(&desc, &m->strings, texts[i]);
	buf_u32(&desc.bytes, info->dirty);
	buf_u32(&desc.bytes, 0);
	section_put_address(&desc, section_end(&entries, sizeof(tri_entry_desc)), 0);
	put_units(m, &desc);
	model_put_calls(m, &desc);
	model_put_states(m, &desc);
	model_trits_put(&desc, &m->strings, info);
	model_put_profile(m, &desc);
	model_put_engine(m, &desc);
	BUG_ON(desc.bytes.len != sizeof(tri_model_desc));
	section_end(&desc, 8);
	if (info->role != MODEL_FALLBACK)
		object_symbol(m->o, TRI_DESC_SYMBOL, m->o->symbols[desc.symbol].section, 0, sizeof(tri_model_desc), true, false);
}

static void model_finish_desc(struct model_builder *m, const struct model_backend *backend)
{
	m->backend = backend;
	put_desc(m);
	section_end(&m->strings, 1);
}

void model_describe(struct object *o, const struct model_input *in, const struct model_info *info, const struct model_backend *backend)
{
	struct model_builder m = {.a = o->arena, .o = o, .in = in, .info = info};
	m.strings = section_begin(m.o, SECTION_RODATA, ".rodata.strings", NULL);
	model_finish_desc(&m, backend);
}

struct object *model_object(struct arena *a, const struct model_input *in, const struct model_weights *w, const struct model_info *info)
{
	struct model_builder m = {.a = a, .o = object_new(a, "model"), .in = in, .w = w, .info = info};
	uint32_t *codes = ARENA_ARRAY(a, uint32_t, in->program->n_entries + 1);
	m.strings = section_begin(m.o, SECTION_RODATA, ".rodata.strings", NULL);
	if (w->file)
		put_weight_file(&m);
	else
		put_weights(&m);
	for (uint32_t i = 0; i < in->program->n_entries; i++)
		codes[i] = put_code(&m, i);
	model_finish_desc(&m, &(struct model_backend){.name = "cpu", .engine = "tri_processor", .codes = codes, .calls_hook = true});
	return m.o;
}
