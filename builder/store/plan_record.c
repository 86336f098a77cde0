#include "builder/store/plan_record.h"
#include "base/arena.h"
#include "builder/store/serializer.h"

static void serialize_slots(struct serializer *s, struct plan_record *r)
{
	serialize_array(s, &r->plan.slots, &r->plan.n_slots, sizeof *r->plan.slots);
	if (!s->out)
		r->callees = ARENA_ARRAY(s->arena, hash128, r->plan.n_slots + 1);
	for (uint32_t i = 0; i < r->plan.n_slots && s->ok; i++) {
		struct slot *slot = &r->plan.slots[i];
		serialize_enum(s, &slot->kind, SLOT_TABLE + 1);
		serialize_enum(s, &slot->layout, LAYOUT_COUNT);
		serialize_u32(s, &slot->first_output);
		serialize_u32(s, &slot->n_args);
		serialize_hash(s, &r->callees[i]);
	}
}

static void serialize_output(struct serializer *s, const struct build_fn_interface *interface, struct build_fn_output *output)
{
	serialize_u32(s, &output->weight);
	serialize_bool(s, &output->is_transposed);
	serialize_u32(s, &output->piece);
	serialize_u32(s, &output->nth);
	serialize_enum(s, &output->elem, DT_COUNT);
	serialize_u8(s, &output->rank);
	s->ok &= output->rank <= HIR_MAX_RANK;
	s->ok &= output->weight == PLAN_NONE ? output->piece < interface->n_pieces
					     : output->weight < interface->n_weights && output->piece == PLAN_NONE;
	for (uint32_t d = 0; s->ok && d < output->rank; d++)
		serialize_u64(s, (uint64_t *)&output->dims[d]);
}

static void serialize_interface(struct serializer *s, struct build_fn_interface *interface)
{
	serialize_array(s, &interface->piece_of, &interface->n_weights, sizeof *interface->piece_of);
	for (uint32_t i = 0; i < interface->n_weights && s->ok; i++)
		serialize_u32(s, &interface->piece_of[i]);
	serialize_array(s, &interface->pieces, &interface->n_pieces, sizeof *interface->pieces);
	for (uint32_t i = 0; i < interface->n_pieces && s->ok; i++)
		serialize_hash(s, &interface->pieces[i]);
	for (uint32_t i = 0; i < interface->n_weights; i++)
		s->ok &= interface->piece_of[i] == PLAN_NONE || interface->piece_of[i] < interface->n_pieces;
	serialize_array(s, &interface->outputs, &interface->n_outputs, sizeof *interface->outputs);
	for (uint32_t i = 0; i < interface->n_outputs && s->ok; i++)
		serialize_output(s, interface, &interface->outputs[i]);
}

static void serialize_table(struct serializer *s, struct plan_record *r)
{
	struct origins *t = r->plan.origins.table;
	serialize_array(s, &r->origin_units, &t->n_units, sizeof *r->origin_units);
	for (uint32_t i = 0; i < t->n_units && s->ok; i++)
		serialize_hash(s, &r->origin_units[i]);
	serialize_array(s, &t->list, &t->n, sizeof *t->list);
	for (uint32_t i = 0; i < t->n && s->ok; i++) {
		serialize_u32(s, &t->list[i].unit);
		serialize_u32(s, &t->list[i].node);
		serialize_u32(s, &t->list[i].inlined_at);
		s->ok &= t->list[i].unit < t->n_units && (t->list[i].inlined_at == ORIGIN_NONE || t->list[i].inlined_at < i);
	}
}

static void serialize_origins(struct serializer *s, struct plan_record *r)
{
	struct plan_origins *o = &r->plan.origins;
	if (!s->out)
		o->table = ARENA_NEW(s->arena, struct origins);
	struct origins *t = o->table;
	serialize_table(s, r);
	serialize_array(s, &t->members, &t->n_members, sizeof *t->members);
	for (uint32_t i = 0; i < t->n_members && s->ok; i++) {
		serialize_u32(s, &t->members[i]);
		s->ok &= t->members[i] < t->n;
	}
	serialize_array(s, &t->starts, &t->n_sets, sizeof *t->starts);
	for (uint32_t i = 0; i <= t->n_sets && s->ok; i++) {
		serialize_u32(s, &t->starts[i]);
		s->ok &= t->starts[i] <= t->n_members &&
			 (i == 0 || (t->starts[i] >= t->starts[i - 1] && t->starts[i] - t->starts[i - 1] <= MOST_ORIGINS));
	}
	serialize_array(s, &o->statements, &o->n, sizeof *o->statements);
	for (uint32_t i = 0; i < o->n && s->ok; i++) {
		serialize_str(s, &o->statements[i].name);
		serialize_u32(s, &o->statements[i].origins);
		serialize_u8(s, &o->statements[i].kind);
		serialize_u8(s, &o->statements[i].ceiling);
		s->ok &= o->statements[i].origins < t->n_sets;
	}
}

void plan_record_serialize(struct serializer *s, struct plan_record *r)
{
	hash128 *const hashes[] = {&r->identity, &r->code, &r->compiler, &r->target, &r->plan.build_fn_hash, &r->plan.run_fn_hash};
	for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
		serialize_hash(s, hashes[i]);
	serialize_u8(s, &r->opt);
	serialize_u64(s, &r->decided);
	serialize_array(s, &r->parts, &r->n_parts, sizeof *r->parts);
	for (uint32_t k = 0; k < r->n_parts && s->ok; k++) {
		serialize_enum(s, &r->parts[k].kind, PART_KIND_COUNT);
		serialize_str(s, &r->parts[k].name);
		serialize_hash(s, &r->parts[k].identity);
		serialize_hash(s, &r->parts[k].code);
		serialize_u64(s, &r->parts[k].facts);
		serialize_u64(s, &r->parts[k].decided);
	}
	serialize_slots(s, r);
	serialize_interface(s, &r->plan.interface);
	serialize_origins(s, r);
}

hash128 plan_record_key(hash128 compiler, hash128 target, uint8_t opt, hash128 unit, hash128 code)
{
	return hash_combine(hash_combine(hash_combine(compiler, target), (hash128){opt, 0}), hash_combine(unit, code));
}
