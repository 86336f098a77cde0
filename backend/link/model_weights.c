/* The weight tables of all unit instances. A value known at build time is a parameter, or an output of a unit's slice; it is named by the hash of what it is
 * computed from (parameters' contents, slices passed through), so that packed weights are found in the cache without computing anything. Slices run
 * only when a packed tensor that depends on them is missing, and at most once an instance. */
#include <stdlib.h>
#include <string.h>
#include "backend/interp.h"
#include "backend/link/model.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/vec.h"
#include "frontend/core.h"

#define WEIGHT_FORMAT 1u /* raise it when a layout's bytes change */

struct evaluation;
struct value {
	hash128 hash;
	const struct tensor *tensor; /* NULL: output `output` of `maker` */
	struct evaluation *maker;
	uint32_t output;
};
/* A unit instance while its table is made: what it was given, and the outputs of its slice once they are needed. */
struct evaluation {
	const struct plan *plan;
	const struct value *args; /* plan->slice->n_weights */
	hash128 hash;             /* of the slice and the arguments */
	struct arena *memory;     /* NULL until it has run */
	struct tensor *outputs;
};
struct weigher {
	struct arena *a;
	const struct model_input *in;
	const struct weight_cache *cache;
	const char **error;
	struct map plans, tables, blobs, contents; /* unit address, instance hash, blob key, sample of the bytes -> index */
	VEC(struct model_table) table_list;
	VEC(struct model_blob) blob_list;
};

static bool fail(struct weigher *w, const struct core_unit *u, const char *what)
{
	*w->error = arena_printf(w->a, "%s: %s", u->name, what);
	return false;
}

static hash128 hash_pair(uint64_t a, uint64_t b) { return hash_bytes((uint64_t[]){a, b}, 16); }

/* ---- values ---- */

static bool evaluate(struct weigher *w, struct evaluation *e);

static const struct tensor *value_tensor(struct weigher *w, const struct value *v)
{
	if (v->tensor)
		return v->tensor;
	return evaluate(w, v->maker) ? &v->maker->outputs[v->output] : NULL;
}

static bool evaluate(struct weigher *w, struct evaluation *e)
{
	const struct ir_fn *slice = e->plan->slice;
	const char *error = "failed";
	if (e->memory)
		return true;
	struct tensor *weights = ARENA_ARRAY(w->a, struct tensor, slice->n_weights);
	for (uint32_t i = 0; i < slice->n_weights; i++) {
		const struct tensor *t = value_tensor(w, &e->args[i]);
		if (!t)
			return false;
		weights[i] = *t;
	}
	e->memory = arena_new(0);
	e->outputs = ARENA_ARRAY(e->memory, struct tensor, slice->n_outputs);
	int64_t *syms = ARENA_ARRAY(e->memory, int64_t, dims_syms(slice->dims)); /* nothing known at build time depends on them */
	return interp_run(slice, NULL, weights, syms, 0, e->memory, e->outputs, &error) || fail(w, e->plan->unit, error);
}

/* Output o of the slice; an argument handed on stays that argument. */
static struct value slice_value(struct evaluation *e, uint32_t o)
{
	const struct ir_inst *inst = ir_at(e->plan->slice, e->plan->slice->outputs[o]);
	if (inst->op == OP_WEIGHT)
		return e->args[inst->index];
	return (struct value){hash_combine(e->hash, hash_pair(o, 0)), NULL, e, o};
}

/* ---- blobs ---- */

static hash128 blob_key(const struct value *v, enum layout layout)
{
	hash128 key = hash_combine(v->hash, hash_pair(WEIGHT_FORMAT, layout));
	if (v->tensor) { /* the hash of a computed value covers its type, that of a parameter only its bytes */
		key = hash_combine(key, hash_pair(v->tensor->elem, v->tensor->rank));
		key = hash_combine(key, hash_bytes(v->tensor->dims, v->tensor->rank * sizeof *v->tensor->dims));
	}
	return key;
}

/* Packs v and gives the bytes to the cache. */
static const void *pack(struct weigher *w, const struct value *v, enum layout layout, hash128 key, size_t *len)
{
	const struct tensor *t = value_tensor(w, v);
	if (!t)
		return NULL;
	*len = layout_packed_size(layout, t);
	void *bytes = malloc(*len + 1);
	BUG_ON(!bytes);
	layout_pack(layout, t, bytes);
	const void *kept = w->cache ? w->cache->put(w->cache->ctx, key, bytes, *len) : NULL;
	if (!kept)
		kept = arena_strndup(w->a, bytes, *len);
	free(bytes);
	return kept;
}

/* Length, head and tail of the bytes; equality is decided by comparing. */
static hash128 sample(const void *bytes, size_t len)
{
	size_t end = len < 4096 ? len : 4096;
	return hash_combine(hash_pair(len, 0), hash_combine(hash_bytes(bytes, end), hash_bytes((const char *)bytes + len - end, end)));
}

/* Index of the blob with this key, sharing one with the same bytes. False: *error. */
static bool blob(struct weigher *w, const struct plan *plan, const struct value *v, enum layout layout, uint32_t *index)
{
	hash128 key = blob_key(v, layout);
	uint64_t found;
	size_t len = 0;
	if (map_get(&w->blobs, key, &found)) {
		*index = (uint32_t)found;
		return true;
	}
	const void *bytes = w->cache ? w->cache->get(w->cache->ctx, key, &len) : NULL;
	if (!bytes)
		bytes = pack(w, v, layout, key, &len);
	if (!bytes)
		return false;
	hash128 content = sample(bytes, len);
	bool seen = map_get(&w->contents, content, &found);
	if (seen && w->blob_list.at[found].len == len && memcmp(w->blob_list.at[found].bytes, bytes, len) == 0) {
		*index = (uint32_t)found;
	} else {
		*index = w->blob_list.len;
		vec_push(&w->blob_list, ((struct model_blob){key, bytes, len, plan->unit}));
		if (!seen)
			map_put(&w->contents, content, *index);
	}
	map_put(&w->blobs, key, *index);
	return true;
}

/* ---- tables ---- */

static bool table(struct weigher *w, const struct core_unit *u, const struct value *args, uint32_t n_args, uint32_t *index);

static bool fill_slot(struct weigher *w, struct evaluation *e, const struct slot *s, struct model_slot *out)
{
	out->is_table = s->kind == SLOT_TABLE;
	if (!out->is_table) {
		struct value v = slice_value(e, s->slice_output);
		return blob(w, e->plan, &v, s->layout, &out->index);
	}
	struct value *args = ARENA_ARRAY(w->a, struct value, s->n_args);
	for (uint32_t i = 0; i < s->n_args; i++)
		args[i] = slice_value(e, s->slice_output + i);
	return table(w, s->callee, args, s->n_args, &out->index);
}

/* Index of the table of u given these build-time values. */
static bool table(struct weigher *w, const struct core_unit *u, const struct value *args, uint32_t n_args, uint32_t *index)
{
	uint64_t found;
	BUG_ON(!map_get(&w->plans, map_key_u64((uintptr_t)u), &found));
	const struct plan *plan = w->in->plans[found];
	BUG_ON(!plan || plan->slice->n_weights != n_args);
	struct evaluation e = {.plan = plan, .args = args, .hash = hash_combine(plan->slice_hash, hash_pair(n_args, 0))};
	for (uint32_t i = 0; i < n_args; i++)
		e.hash = hash_combine(e.hash, args[i].hash);
	hash128 key = hash_combine(hash_combine(e.hash, u->identity), plan->run_hash);
	if (map_get(&w->tables, key, &found)) {
		*index = (uint32_t)found;
		return true;
	}
	struct model_slot *slots = ARENA_ARRAY(w->a, struct model_slot, plan->n_slots);
	bool ok = true;
	for (uint32_t i = 0; i < plan->n_slots && ok; i++)
		ok = fill_slot(w, &e, &plan->slots[i], &slots[i]);
	arena_free(e.memory);
	*index = w->table_list.len;
	vec_push(&w->table_list, ((struct model_table){plan, slots}));
	map_put(&w->tables, key, *index);
	return ok;
}

static bool entry_table(struct weigher *w, const struct core_entry *e, uint32_t *index)
{
	struct value *args = ARENA_ARRAY(w->a, struct value, e->unit->n_inputs);
	uint32_t n = 0;
	for (uint32_t i = 0; i < e->unit->n_inputs; i++)
		if (e->params[i] != CORE_NONE)
			args[n++] = (struct value){w->in->param_hashes[e->params[i]], &w->in->params[e->params[i]], NULL, 0};
	return table(w, e->unit, args, n, index);
}

struct model_weights *model_weigh(struct arena *a, const struct model_input *in, const struct weight_cache *cache, const char **error)
{
	struct weigher w = {.a = a, .in = in, .cache = cache, .error = error};
	struct model_weights *out = ARENA_NEW(a, struct model_weights);
	bool ok = true;
	out->entry_tables = ARENA_ARRAY(a, uint32_t, in->program->n_entries);
	for (uint32_t i = 0; i < in->program->n_units; i++)
		map_put(&w.plans, map_key_u64((uintptr_t)in->program->units[i]), i);
	for (uint32_t i = 0; i < in->program->n_entries && ok; i++)
		ok = entry_table(&w, &in->program->entries[i], &out->entry_tables[i]);
	out->n_tables = w.table_list.len;
	out->n_blobs = w.blob_list.len;
	out->tables = ARENA_ARRAY(a, struct model_table, out->n_tables);
	out->blobs = ARENA_ARRAY(a, struct model_blob, out->n_blobs);
	for (uint32_t i = 0; i < out->n_tables; i++)
		out->tables[i] = w.table_list.at[i];
	for (uint32_t i = 0; i < out->n_blobs; i++)
		out->blobs[i] = w.blob_list.at[i];
	vec_free(&w.table_list);
	vec_free(&w.blob_list);
	map_free(&w.plans);
	map_free(&w.tables);
	map_free(&w.blobs);
	map_free(&w.contents);
	return ok ? out : NULL;
}
