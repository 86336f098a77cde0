#include "builder/store/plan_record.h"
#include "base/arena.h"
#include "base/buf.h"
#include "builder/store/serialize.h"

static void put_slots(struct buf *b, const struct plan_record *r)
{
	buf_u32(b, r->plan.n_slots);
	for (uint32_t i = 0; i < r->plan.n_slots; i++) {
		const struct slot *s = &r->plan.slots[i];
		buf_u8(b, (uint8_t)s->kind);
		buf_u8(b, (uint8_t)s->layout);
		buf_u32(b, s->first_output);
		buf_u32(b, s->n_args);
		serialize_hash(b, r->callees[i]);
	}
}

static void take_slots(struct arena *a, struct deserializer *w, struct plan_record *r)
{
	r->plan.n_slots = deserialize_count(w, 26);
	r->plan.slots = ARENA_ARRAY(a, struct slot, r->plan.n_slots + 1);
	r->callees = ARENA_ARRAY(a, hash128, r->plan.n_slots + 1);
	for (uint32_t i = 0; i < r->plan.n_slots; i++) {
		struct slot *s = &r->plan.slots[i];
		s->kind = (enum slot_kind)deserialize_u8(w);
		s->layout = (enum layout)deserialize_u8(w);
		s->first_output = deserialize_u32(w);
		s->n_args = deserialize_u32(w);
		r->callees[i] = deserialize_hash(w);
		w->ok &= s->kind <= SLOT_TABLE && s->layout < LAYOUT_COUNT;
	}
}

static void put_interface(struct buf *b, const struct build_fn_interface *f)
{
	buf_u32(b, f->n_weights);
	for (uint32_t i = 0; i < f->n_weights; i++)
		buf_u32(b, f->piece_of[i]);
	buf_u32(b, f->n_pieces);
	for (uint32_t i = 0; i < f->n_pieces; i++)
		serialize_hash(b, f->pieces[i]);
	buf_u32(b, f->n_outputs);
	for (uint32_t i = 0; i < f->n_outputs; i++) {
		const struct build_fn_output *o = &f->outputs[i];
		buf_u32(b, o->weight);
		buf_u32(b, o->piece);
		buf_u32(b, o->nth);
		buf_u8(b, (uint8_t)o->elem);
		buf_u8(b, o->rank);
		for (uint32_t d = 0; d < o->rank; d++)
			buf_u64(b, (uint64_t)o->dims[d]);
	}
}

static void take_output(struct deserializer *w, const struct build_fn_interface *f, struct build_fn_output *o)
{
	o->weight = deserialize_u32(w);
	o->piece = deserialize_u32(w);
	o->nth = deserialize_u32(w);
	o->elem = (dtype)deserialize_u8(w);
	o->rank = deserialize_u8(w);
	w->ok &= o->elem < DT_COUNT && o->rank <= HIR_MAX_RANK;
	w->ok &= o->weight == PLAN_NONE ? o->piece < f->n_pieces : o->weight < f->n_weights && o->piece == PLAN_NONE;
	for (uint32_t d = 0; w->ok && d < o->rank; d++)
		o->dims[d] = (int64_t)deserialize_u64(w);
}

static void take_interface(struct arena *a, struct deserializer *w, struct build_fn_interface *f)
{
	f->n_weights = deserialize_count(w, 4);
	f->piece_of = ARENA_ARRAY(a, uint32_t, f->n_weights + 1);
	for (uint32_t i = 0; i < f->n_weights; i++)
		f->piece_of[i] = deserialize_u32(w);
	f->n_pieces = deserialize_count(w, 16);
	f->pieces = ARENA_ARRAY(a, hash128, f->n_pieces + 1);
	for (uint32_t i = 0; i < f->n_pieces; i++)
		f->pieces[i] = deserialize_hash(w);
	for (uint32_t i = 0; i < f->n_weights; i++)
		w->ok &= f->piece_of[i] == PLAN_NONE || f->piece_of[i] < f->n_pieces;
	f->n_outputs = deserialize_count(w, 14);
	f->outputs = ARENA_ARRAY(a, struct build_fn_output, f->n_outputs + 1);
	for (uint32_t i = 0; w->ok && i < f->n_outputs; i++)
		take_output(w, f, &f->outputs[i]);
}

void plan_record_put(struct buf *b, const struct plan_record *r)
{
	const hash128 hashes[] = {r->identity, r->code, r->compiler, r->plan.build_fn_hash, r->plan.run_fn_hash};
	for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
		serialize_hash(b, hashes[i]);
	buf_u8(b, r->opt);
	buf_u32(b, r->n_parts);
	for (uint32_t k = 0; k < r->n_parts; k++) {
		buf_u8(b, (uint8_t)r->parts[k].kind);
		serialize_str(b, r->parts[k].name);
		serialize_hash(b, r->parts[k].identity);
		serialize_hash(b, r->parts[k].code);
		buf_u64(b, r->parts[k].facts);
	}
	put_slots(b, r);
	put_interface(b, &r->plan.interface);
}

void plan_record_take(struct arena *a, struct deserializer *w, struct plan_record *r)
{
	hash128 *const hashes[] = {&r->identity, &r->code, &r->compiler, &r->plan.build_fn_hash, &r->plan.run_fn_hash};
	for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
		*hashes[i] = deserialize_hash(w);
	r->opt = deserialize_u8(w);
	r->n_parts = deserialize_count(w, 46);
	r->parts = ARENA_ARRAY(a, struct unit_part, r->n_parts + 1);
	for (uint32_t k = 0; k < r->n_parts && w->ok; k++) {
		r->parts[k].kind = (enum part_kind)deserialize_u8(w);
		w->ok &= r->parts[k].kind < PART_KIND_COUNT;
		r->parts[k].name = deserialize_str(w);
		r->parts[k].identity = deserialize_hash(w);
		r->parts[k].code = deserialize_hash(w);
		r->parts[k].facts = deserialize_u64(w);
	}
	take_slots(a, w, r);
	take_interface(a, w, &r->plan.interface);
}

hash128 plan_record_key(hash128 compiler, uint8_t opt, hash128 identity, hash128 code)
{
	return hash_combine(hash_combine(compiler, (hash128){opt, 0}), hash_combine(identity, code));
}
