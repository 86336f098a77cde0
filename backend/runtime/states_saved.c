/* Saves and loads the states of an opened model. The header has a hash of what the states are and a checksum of the rest, so data of another
 * model and damaged data change nothing. */
#include <string.h>
#include "backend/runtime/model.h"
#include "backend/runtime/states_memory.h"
#include "backend/runtime/abi/triw.h"

#define MAGIC "TRISTATE"
enum { VERSION = 1 };

static uint64_t mix_bytes(uint64_t sum, const void *bytes, size_t n)
{
	char last[8] = {0};
	memcpy(last, (const char *)bytes + n / 8 * 8, n % 8);
	sum = triw_mix(sum, bytes, n / 8);
	return n % 8 ? triw_mix(sum, last, 1) : sum;
}

/* Hashes names, types and shapes of all states. */
static uint64_t hash_states(const tri_model_desc *desc)
{
	uint64_t h = desc->n_capacities;
	for (uint32_t i = 0; i < desc->n_states; i++) {
		const tri_state_desc *d = &desc->states[i];
		const int32_t form[] = {d->dtype, d->rank, d->axis, d->capacity};
		h = mix_bytes(h, d->name, strlen(d->name) + 1);
		h = mix_bytes(h, form, sizeof form);
		h = mix_bytes(h, d->shape, sizeof d->shape);
	}
	for (uint32_t i = 0; i < desc->n_capacities; i++)
		h = mix_bytes(h, desc->capacities[i].name, strlen(desc->capacities[i].name) + 1);
	return h;
}

uint64_t tri_saved_check(const struct tri_saved_header *h, const void *rest)
{
	struct tri_saved_header head = *h;
	head.check = 0;
	return mix_bytes(triw_mix(0, &head, sizeof head / 8), rest, h->size - sizeof head);
}

static uint64_t saved_bytes(const struct tri_states *s, const int64_t *lengths)
{
	uint64_t size = sizeof(struct tri_saved_header) + s->desc->n_capacities * sizeof *lengths;
	for (uint32_t i = 0; i < s->desc->n_states; i++)
		size += tri_state_bytes(s, i, lengths);
	return size;
}

static int no_states(tri_error *err) { return tri_error_set(err, TRI_ERR_ARGUMENT, "the model has no states"); }

int tri_states_save(const struct tri_states *s, void *to, uint64_t *size, tri_error *err)
{
	if (!s)
		return no_states(err);
	if (!size)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "size is NULL");
	struct tri_saved_header h = {.magic = MAGIC, .version = VERSION, .n_states = s->desc->n_states};
	uint64_t room = *size;
	*size = h.size = saved_bytes(s, s->length);
	if (!to)
		return TRI_OK;
	if (room < h.size)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "the states need %llu bytes, but there is room for %llu",
				     (unsigned long long)h.size, (unsigned long long)room);
	h.model = hash_states(s->desc);
	char *at = (char *)to + sizeof h;
	memcpy(at, s->length, s->desc->n_capacities * sizeof *s->length);
	at += s->desc->n_capacities * sizeof *s->length;
	for (uint32_t i = 0; i < s->desc->n_states; i++) {
		size_t n = tri_state_bytes(s, i, s->length);
		if (tri_state_read(s, s->memory[i].now, at, n, err) != TRI_OK)
			return TRI_ERR_DEVICE;
		at += n;
	}
	h.check = tri_saved_check(&h, (char *)to + sizeof h);
	memcpy(to, &h, sizeof h);
	return TRI_OK;
}

/* Checks all of the data. `lengths` are copied from it. */
static int check_saved(const struct tri_states *s, const void *from, uint64_t size, int64_t *lengths, tri_error *err)
{
	struct tri_saved_header h;
	uint64_t least = sizeof h + s->desc->n_capacities * sizeof *lengths;
	if (!from || size < least)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "these %llu bytes are no saved states", (unsigned long long)size);
	memcpy(&h, from, sizeof h);
	if (memcmp(h.magic, MAGIC, sizeof h.magic) != 0)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "this data is no saved states");
	if (h.version != VERSION)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "these states were saved in format %u, this library reads format %d",
				     (unsigned)h.version, VERSION);
	if (h.n_states != s->desc->n_states || h.model != hash_states(s->desc))
		return tri_error_set(err, TRI_ERR_ARGUMENT, "these states were saved by a model with other states");
	if (h.size != size || h.check != tri_saved_check(&h, (const char *)from + sizeof h))
		return tri_error_set(err, TRI_ERR_ARGUMENT, "the saved states are damaged or incomplete");
	memcpy(lengths, (const char *)from + sizeof h, s->desc->n_capacities * sizeof *lengths);
	for (uint32_t i = 0; i < s->desc->n_capacities; i++)
		if (lengths[i] < 0 || lengths[i] > s->most[i])
			return tri_error_set(err, TRI_ERR_CAPACITY, "the saved states have %.60s = %lld, but its capacity is %lld",
					     s->desc->capacities[i].name, (long long)lengths[i], (long long)s->most[i]);
	if (saved_bytes(s, lengths) != size)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "the saved states are damaged or incomplete");
	return TRI_OK;
}

int tri_states_load(struct tri_states *s, const void *from, uint64_t size, tri_error *err)
{
	if (!s)
		return no_states(err);
	int status = check_saved(s, from, size, s->after, err);
	if (status != TRI_OK)
		return status;
	const char *at = (const char *)from + sizeof(struct tri_saved_header) + s->desc->n_capacities * sizeof *s->length;
	for (uint32_t i = 0; i < s->desc->n_states; i++) {
		size_t n = tri_state_bytes(s, i, s->after);
		if (tri_state_write(s, s->memory[i].now, at, n, err) != TRI_OK)
			return TRI_ERR_DEVICE;
		at += n;
	}
	memcpy(s->length, s->after, s->desc->n_capacities * sizeof *s->length);
	return TRI_OK;
}
