/* Models of hand-made units: each unit is an entry of one OpenCL library, which is linked, loaded and run on the first device. */
#ifndef TRIB_TESTS_OPENCL_FIXTURE_H
#define TRIB_TESTS_OPENCL_FIXTURE_H
#include "tests/unit/unit.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"
#include "backend/link/elf/link.h"
#include "backend/link/model/model.h"
#include "backend/link/elf/object.h"
#include "backend/loops/ir/loops.h"
#include "backend/plan/plan.h"
#include "backend/runtime/abi/tri.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/vec.h"
#include "gpu/opencl.h"
#include "tests/unit/backend/plan_loops.h"

enum { MAX_UNITS = 512, MAX_IO = 48, MAX_SLOTS = 4 };

/* A unit; entry of the same number. */
struct unit {
	struct arena *a;
	struct ir_fn *f;
	struct plan plan;
	struct hir_unit core;
	struct loop_fn *loops, *wide;
	struct tensor slots[MAX_SLOTS]; /* host tensors of the SLOT_DATA slots */
	dim n;                          /* its only symbol, N */
};

struct model {
	struct arena *a;
	struct unit *units[MAX_UNITS];
	uint32_t n_units;
	void *library;
	const tri_model_desc *desc;
	struct tri_model *open;
	char path[160], cache[128];
};

static inline struct unit *unit_new(struct model *m, const char *name)
{
	struct unit *u = ARENA_NEW(m->a, struct unit);
	struct dims *d = dims_new(m->a);
	u->a = m->a;
	u->n = dim_new_sym(d, "N");
	u->f = ir_fn_new(m->a, arena_printf(m->a, "%s_%u", name, m->n_units), d);
	u->f->inputs = ARENA_ARRAY(m->a, struct hir_type, MAX_IO);
	u->f->outputs = ARENA_ARRAY(m->a, ir_ref, MAX_IO);
	u->f->weights = ARENA_ARRAY(m->a, struct hir_type, MAX_SLOTS);
	u->plan.slots = ARENA_ARRAY(m->a, struct slot, MAX_SLOTS);
	m->units[m->n_units++] = u;
	return u;
}

/* The type of this shape; -1 means N. */
static inline struct hir_type type_of(struct unit *u, dtype elem, uint32_t rank, const int64_t *dims)
{
	struct hir_type t = {.elem = elem, .rank = (uint8_t)rank};
	for (uint32_t k = 0; k < rank; k++)
		t.dims[k] = dims[k] < 0 ? u->n : dim_const(u->f->dims, dims[k]);
	return t;
}
#define TYPE(u, elem, ...) type_of(u, elem, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static inline ir_ref unit_input(struct unit *u, struct hir_type t)
{
	u->f->inputs[u->f->n_inputs] = t;
	ir_ref r = ir_emit(u->f, OP_INPUT, &t, NULL, 0, ORIGINS_NONE);
	ir_set_number(u->f, r, (struct ir_number){u->f->n_inputs++});
	return r;
}
static inline ir_ref unit_weight(struct unit *u, struct hir_type t, enum layout layout, const void *data)
{
	uint32_t s = u->plan.n_slots++;
	struct tensor *h = &u->slots[s];
	h->elem = t.elem;
	h->rank = t.rank;
	for (uint32_t k = 0; k < t.rank; k++)
		assert_true(dim_is_const(u->f->dims, t.dims[k], &h->dims[k]));
	h->data = (void *)data;
	u->plan.slots[s] = (struct slot){.kind = SLOT_DATA, .layout = layout, .type = t};
	u->f->weights[u->f->n_weights++] = t;
	ir_ref r = ir_emit(u->f, OP_WEIGHT, &t, NULL, 0, ORIGINS_NONE);
	ir_set_number(u->f, r, (struct ir_number){s});
	ir_at(u->f, r)->layout = (uint8_t)layout;
	return r;
}
static inline void unit_output(struct unit *u, ir_ref v) { u->f->outputs[u->f->n_outputs++] = v; }
static inline ir_ref op_n(struct unit *u, enum ir_op op, struct hir_type t, uint32_t n, const ir_ref *args)
{
	return ir_emit(u->f, op, &t, args, n, ORIGINS_NONE);
}
#define OP_(u, op, type, ...) op_n(u, op, type, sizeof((ir_ref[]){__VA_ARGS__}) / sizeof(ir_ref), (ir_ref[]){__VA_ARGS__})

/* What the front end would have said about the unit. */
static inline void unit_core(struct unit *u)
{
	struct hir_unit *c = &u->core;
	*c = (struct hir_unit){.name = u->f->name,
			       .symbol = u->f->name,
			       .file = "test.tri",
			       .opt = -1,
			       .dims = u->f->dims,
			       .at = SPAN_NONE,
			       .n_inputs = u->f->n_inputs,
			       .n_outputs = u->f->n_outputs};
	c->inputs = ARENA_ARRAY(u->a, struct hir_input, MAX_IO);
	c->outputs = ARENA_ARRAY(u->a, struct hir_output, MAX_IO);
	c->nodes = ARENA_ARRAY(u->a, struct hir_node, 2 * MAX_IO);
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		c->inputs[i] = (struct hir_input){.name = arena_printf(u->a, "x%u", i), .type = u->f->inputs[i]};
		c->nodes[c->n_nodes++] = (struct hir_node){.kind = HIR_INPUT, .type = u->f->inputs[i], .index = i, .at = SPAN_NONE};
	}
	for (uint32_t i = 0; i < c->n_outputs; i++) {
		c->outputs[i] = (struct hir_output){.name = arena_printf(u->a, "out%u", i), .node = c->n_nodes};
		c->nodes[c->n_nodes++] =
			(struct hir_node){.kind = HIR_BUILTIN, .type = ir_at(u->f, u->f->outputs[i])->type, .at = SPAN_NONE};
	}
	u->plan.unit = c;
	u->plan.options.target = target_get(TARGET_OPENCL);
	u->plan.run_fn = u->f;
	u->plan.build_fn = ir_fn_new(u->a, "build_fn", dims_new(u->a));
	if (!u->loops) {
		struct buf why = {0};
		ir_mark_build_time(u->f);
		if (!ir_verify(u->f, &why))
			fail_msg("%s", why.at);
		u->loops = plan_loops(u->a, &u->plan);
		if (!loops_verify(u->loops, &why))
			fail_msg("%s", why.at);
		u->plan.options.target = target_get(TARGET_OPENCL_WIDE);
		u->wide = plan_loops(u->a, &u->plan);
		u->plan.options.target = target_get(TARGET_OPENCL);
		if (!loops_verify(u->wide, &why))
			fail_msg("%s", why.at);
		u->wide->first_statement = loops_next_statement(u->loops);
		buf_free(&why);
	}
}

static inline void model_init(struct model *m)
{
	memset(m, 0, sizeof *m);
	m->a = arena_new(0);
	const char *tmp = getenv("TMPDIR");
	snprintf(m->cache, sizeof m->cache, "%.100s/trib-pocl-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(m->cache));
	setenv("POCL_CACHE_DIR", m->cache, 1);
}

static inline void model_end(struct model *m)
{
	if (m->open)
		m->desc->close(m->open);
	os_remove_tree(m->cache);
	arena_free(m->a); /* PoCL's threads outlive the model: the library stays loaded */
}

/* Blobs in the order of units and slots. */
static inline struct model_weights *model_weights_of(struct model *m)
{
	struct model_weights *w = ARENA_NEW(m->a, struct model_weights);
	w->tables = ARENA_ARRAY(m->a, struct model_table, MAX_UNITS);
	w->blobs = ARENA_ARRAY(m->a, struct model_blob, MAX_UNITS * MAX_SLOTS);
	w->entry_tables = ARENA_ARRAY(m->a, uint32_t, MAX_UNITS);
	for (uint32_t i = 0; i < m->n_units; i++) {
		struct unit *u = m->units[i];
		struct model_table *t = &w->tables[w->n_tables];
		w->entry_tables[i] = w->n_tables++;
		t->plan = &u->plan;
		t->slots = ARENA_ARRAY(m->a, struct model_slot, MAX_SLOTS);
		for (uint32_t s = 0; s < u->plan.n_slots; s++) {
			if (u->plan.slots[s].kind == SLOT_TABLE) { /* the callee is unit first_output */
				t->slots[s] = (struct model_slot){true, u->plan.slots[s].first_output};
				continue;
			}
			struct model_blob *b = &w->blobs[w->n_blobs];
			t->slots[s] = (struct model_slot){false, w->n_blobs++};
			b->len = layout_packed_size(u->plan.slots[s].layout, &u->slots[s]);
			b->bytes = arena_alloc(m->a, b->len + 1, 64);
			b->unit = &u->core;
			layout_pack(u->plan.slots[s].layout, &u->slots[s], (void *)b->bytes);
		}
	}
	return w;
}

static inline struct object *runtime_object_at(struct arena *a, uint32_t i)
{
	size_t len;
	const char *error = NULL, *name;
	const void *bytes = opencl_runtime_object(i, &name, &len);
	if (!bytes)
		return NULL;
	struct object *o = object_parse(a, name, bytes, len, &error);
	if (!o)
		fail_msg("%s", error);
	return o;
}

/* Links and loads. The first `entries` units are entries; the first `units` are units, the others lend their weights to further
 * instances only. */
static inline void model_build(struct model *m, uint32_t entries, uint32_t units)
{
	struct hir_program p = {.n_entries = entries, .n_units = units};
	const struct plan **plans = ARENA_ARRAY(m->a, const struct plan *, MAX_UNITS);
	const struct loop_fn **loops = ARENA_ARRAY(m->a, const struct loop_fn *, MAX_UNITS);
	const struct loop_fn **wide = ARENA_ARRAY(m->a, const struct loop_fn *, MAX_UNITS);
	p.entries = ARENA_ARRAY(m->a, struct hir_entry, MAX_UNITS);
	p.units = ARENA_ARRAY(m->a, struct hir_unit *, MAX_UNITS);
	for (uint32_t i = 0; i < m->n_units; i++) {
		unit_core(m->units[i]);
		uint32_t *params = ARENA_ARRAY(m->a, uint32_t, MAX_IO);
		memset(params, 0xff, MAX_IO * sizeof *params);
		p.units[i] = &m->units[i]->core;
		p.entries[i] = (struct hir_entry){m->units[i]->core.symbol, p.units[i], params, NULL, NULL, 0, 0};
		plans[i] = &m->units[i]->plan;
		loops[i] = m->units[i]->loops;
		wide[i] = m->units[i]->wide ? m->units[i]->wide : m->units[i]->loops;
	}
	static const hash128 keys[MAX_UNITS];
	struct model_input in = {.program = &p, .plans = plans};
	struct model_info info = {.name = "net", .version = "1", .compiler = "test", .target = "opencl", .commit = "", .unit_keys = keys};
	const struct opencl_units both = {{loops, wide}};
	VEC(struct object *) objects = {0};
	vec_push(&objects, opencl_model_object(m->a, &in, model_weights_of(m), &info, &both));
	for (struct object *o; (o = runtime_object_at(m->a, objects.len - 1));)
		vec_push(&objects, o);
	struct link_request r = {.soname = "libnet.so",
				 .objects = objects.at,
				 .n_objects = objects.len,
				 .needed = (const char *[]){"libm.so.6", "libc.so.6"},
				 .n_needed = 2};
	r.exports = model_exports(m->a, &in, &info, &r.n_exports);
	struct buf out = {0};
	const char *error = NULL;
	if (!link_shared(m->a, &r, &out, &error))
		fail_msg("%s", error);
	vec_free(&objects);
	snprintf(m->path, sizeof m->path, "%s/libnet.so", m->cache);
	assert_true(os_write_atomic(m->path, out.at, out.len, 0755, false));
	buf_free(&out);
	m->library = dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
	if (!m->library)
		fail_msg("%s", dlerror());
	m->desc = dlsym(m->library, "net_desc");
	assert_non_null(m->desc);
	assert_string_equal(m->desc->backend, "opencl");
}

static inline void model_open(struct model *m)
{
	tri_error err = {0};
	m->open = m->desc->open(NULL, &err);
	if (!m->open)
		fail_msg("%s", err.message);
}
#endif
