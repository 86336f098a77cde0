/* Lays out the weight tables of all unit instances. A value known at build time is a parameter or an output of a build_fn. Its hash
 * covers the parameters' contents and the build functions that it is computed by. So tables are laid out, and packed weights are found
 * in the cache, before anything is computed. The missing weights are computed in parts (model_pack.c). */
#include <stdlib.h>
#include <string.h>
#include "backend/link/model/layout_weights.h"
#include "backend/link/model/model.h"
#include "base/arena.h"
#include "base/bug.h"
#include "frontend/hir/hir.h"

#define WEIGHT_FORMAT 6u /* raise it when a layout's bytes change */
enum { TRANSPOSED = 1 };

static hash128 hash_pair(uint64_t a, uint64_t b) { return hash_bytes((uint64_t[]){a, b}, 16); }

static uint32_t model_weights_find_root(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

/* Output o of the build_fn. An output that is an argument is that argument's value. */
static struct value output_value(struct evaluation *e, uint32_t o)
{
	const struct build_fn_output *out = &e->plan->interface.outputs[o];
	if (out->weight == PLAN_NONE)
		return (struct value){hash_combine(e->piece_hashes[out->piece], hash_pair(out->nth, 0)), VALUE_COMPUTED, o, e, false};
	struct value v = e->args[out->weight];
	v.is_transposed ^= out->is_transposed;
	return v;
}

static hash128 value_hash(const struct value *v) { return v->is_transposed ? hash_combine(v->hash, hash_pair(TRANSPOSED, 0)) : v->hash; }

struct tensor value_type(const struct model_input *in, const struct value *v)
{
	struct tensor out;
	if (v->param != VALUE_COMPUTED) {
		out = in->params[v->param];
	} else {
		const struct build_fn_output *o = &v->maker->plan->interface.outputs[v->output];
		out = (struct tensor){.elem = o->elem, .rank = o->rank};
		memcpy(out.dims, o->dims, o->rank * sizeof *o->dims);
	}
	return v->is_transposed ? tensor_transposed(&out) : out;
}

static uint32_t node_of(const struct value *v) { return v->maker->first_node + v->maker->plan->interface.outputs[v->output].piece; }

/* ---- blobs ---- */

static hash128 blob_key(const struct value *v, const struct tensor *t, enum layout layout)
{
	hash128 key = hash_combine(value_hash(v), hash_pair(WEIGHT_FORMAT, layout));
	if (v->param != VALUE_COMPUTED) { /* the hash of a computed value covers its type, that of a parameter only its bytes */
		key = hash_combine(key, hash_pair(t->elem, t->rank));
		key = hash_combine(key, hash_bytes(t->dims, t->rank * sizeof *t->dims));
	}
	return key;
}

/* True if the value is computed from the initial value of a parameter. */
static bool is_initial(const struct weight_layout *w, const struct value *v)
{
	if (v->param != VALUE_COMPUTED)
		return w->in->is_initial && w->in->is_initial[v->param];
	return v->maker->is_initial[v->maker->plan->interface.outputs[v->output].piece];
}

static uint32_t add_blob(struct weight_layout *w, const struct plan *plan, const struct value *v, enum layout layout)
{
	struct tensor t = value_type(w->in, v);
	hash128 key = blob_key(v, &t, layout);
	uint64_t found;
	if (map_get(&w->blobs, key, &found))
		return (uint32_t)found;
	map_put(&w->blobs, key, w->blob_list.len);
	struct model_blob blob = {
		.key = key, .len = layout_packed_size(layout, &t), .unit = plan->unit, .elem = t.elem, .is_initial = is_initial(w, v)};
	if (layout_has_indices(layout))
		memcpy(blob.indexed, t.dims, sizeof blob.indexed);
	vec_push(&w->blob_list, blob);
	vec_push(&w->sources, ((struct blob_source){*v, layout}));
	return w->blob_list.len - 1;
}

/* ---- tables ---- */

static uint32_t lay_out_table(struct weight_layout *w, const struct hir_unit *u, const struct value *args, uint32_t n_args);

static struct model_slot lay_out_slot(struct weight_layout *w, struct evaluation *e, const struct slot *s)
{
	if (s->kind != SLOT_TABLE) {
		struct value v = output_value(e, s->first_output);
		return (struct model_slot){false, add_blob(w, e->plan, &v, s->layout)};
	}
	struct value *args = ARENA_ARRAY(w->a, struct value, s->n_args + 1);
	for (uint32_t i = 0; i < s->n_args; i++)
		args[i] = output_value(e, s->first_output + i);
	return (struct model_slot){true, lay_out_table(w, s->callee, args, s->n_args)};
}

/* Adds a node for each piece and joins it with the pieces whose results it reads. */
static void add_nodes(struct weight_layout *w, struct evaluation *e)
{
	const struct build_fn_interface *interface = &e->plan->interface;
	e->first_node = w->groups.len;
	e->piece_hashes = ARENA_ARRAY(w->a, hash128, interface->n_pieces + 1);
	e->is_initial = ARENA_ARRAY(w->a, bool, interface->n_pieces + 1);
	for (uint32_t i = 0; i < interface->n_pieces; i++) {
		vec_push(&w->groups, e->first_node + i);
		e->piece_hashes[i] = interface->pieces[i];
	}
	for (uint32_t i = 0; i < interface->n_weights; i++) {
		const struct value *v = &e->args[i];
		uint32_t piece = interface->piece_of[i];
		if (piece == PLAN_NONE)
			continue;
		e->piece_hashes[piece] = hash_combine(e->piece_hashes[piece], value_hash(v));
		e->is_initial[piece] |= is_initial(w, v);
		if (v->param == VALUE_COMPUTED)
			w->groups.at[model_weights_find_root(w->groups.at, e->first_node + piece)] =
				model_weights_find_root(w->groups.at, node_of(v));
	}
}

static struct evaluation *add_evaluation(struct weight_layout *w, const struct hir_unit *u, const struct value *args, uint32_t n_args)
{
	uint64_t unit;
	struct evaluation *e = ARENA_NEW(w->a, struct evaluation);
	BUG_ON(!map_get(&w->plans, map_key_u64((uintptr_t)u), &unit));
	e->plan = w->in->plans[unit];
	e->args = args;
	BUG_ON(!e->plan || e->plan->interface.n_weights != n_args);
	e->hash = hash_combine(e->plan->build_fn_hash, hash_pair(n_args, 0));
	for (uint32_t i = 0; i < n_args; i++)
		e->hash = hash_combine(e->hash, value_hash(&args[i]));
	e->outputs = ARENA_ARRAY(w->a, struct stream_result, e->plan->interface.n_outputs + 1);
	add_nodes(w, e);
	return e;
}

/* Returns the index of the table of u for these build-time values. */
static uint32_t lay_out_table(struct weight_layout *w, const struct hir_unit *u, const struct value *args, uint32_t n_args)
{
	uint64_t found;
	struct evaluation *e = add_evaluation(w, u, args, n_args);
	const struct plan *plan = e->plan;
	hash128 key = hash_combine(hash_combine(e->hash, u->identity), plan->run_fn_hash);
	if (map_get(&w->tables, key, &found))
		return (uint32_t)found;
	struct model_slot *slots = ARENA_ARRAY(w->a, struct model_slot, plan->n_slots + 1);
	for (uint32_t i = 0; i < plan->n_slots; i++)
		slots[i] = lay_out_slot(w, e, &plan->slots[i]);
	map_put(&w->tables, key, w->table_list.len);
	vec_push(&w->table_list, ((struct model_table){plan, slots}));
	return w->table_list.len - 1;
}

static uint32_t entry_table(struct weight_layout *w, const struct hir_entry *e)
{
	struct value *args = ARENA_ARRAY(w->a, struct value, e->unit->n_inputs + 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < e->unit->n_inputs; i++)
		if (e->params[i] != HIR_NONE)
			args[n++] = (struct value){w->in->param_hashes[e->params[i]], e->params[i], 0, NULL, false};
	return lay_out_table(w, e->unit, args, n);
}

/* Numbers the groups in the order of their first blob. A parameter that is not changed is a part by itself. */
static void number_parts(struct weight_layout *w, struct model_weights *out)
{
	uint32_t *part_of = ARENA_ARRAY(w->a, uint32_t, w->groups.len + 1);
	for (uint32_t i = 0; i < out->n_blobs; i++) {
		const struct value *v = &w->sources.at[i].value;
		if (v->param != VALUE_COMPUTED) {
			out->blobs[i].part = out->n_parts++;
			continue;
		}
		uint32_t *part = &part_of[model_weights_find_root(w->groups.at, node_of(v))];
		if (!*part)
			*part = ++out->n_parts;
		out->blobs[i].part = *part - 1;
	}
}

static void place_blobs(struct model_weights *out, bool large)
{
	for (uint32_t i = 0; i < out->n_blobs; i++) {
		if ((out->blobs[i].len >= MODEL_LARGE_BLOB) != large)
			continue;
		out->blobs[i].offset = out->size;
		out->size += (out->blobs[i].len + MODEL_BLOB_ALIGN - 1) / MODEL_BLOB_ALIGN * MODEL_BLOB_ALIGN;
	}
}

static void store_layout(struct weight_layout *w, struct model_weights *out)
{
	out->n_tables = w->table_list.len;
	out->n_blobs = w->blob_list.len;
	out->tables = ARENA_ARRAY(w->a, struct model_table, out->n_tables + 1);
	out->blobs = ARENA_ARRAY(w->a, struct model_blob, out->n_blobs + 1);
	struct blob_source *sources = ARENA_ARRAY(w->a, struct blob_source, out->n_blobs + 1);
	for (uint32_t i = 0; i < out->n_tables; i++)
		out->tables[i] = w->table_list.at[i];
	for (uint32_t i = 0; i < out->n_blobs; i++) {
		out->blobs[i] = w->blob_list.at[i];
		sources[i] = w->sources.at[i];
	}
	place_blobs(out, true);
	place_blobs(out, false);
	number_parts(w, out);
	out->sources = sources;
}

struct model_weights *model_layout_weights(struct arena *a, const struct model_input *in)
{
	struct weight_layout w = {.a = a, .in = in};
	struct model_weights *out = ARENA_NEW(a, struct model_weights);
	out->entry_tables = ARENA_ARRAY(a, uint32_t, in->program->n_entries + 1);
	for (uint32_t i = 0; i < in->program->n_units; i++)
		map_put(&w.plans, map_key_u64((uintptr_t)in->program->units[i]), i);
	for (uint32_t i = 0; i < in->program->n_entries; i++)
		out->entry_tables[i] = entry_table(&w, &in->program->entries[i]);
	store_layout(&w, out);
	vec_free(&w.table_list);
	vec_free(&w.blob_list);
	vec_free(&w.sources);
	vec_free(&w.groups);
	map_free(&w.plans);
	map_free(&w.tables);
	map_free(&w.blobs);
	return out;
}
