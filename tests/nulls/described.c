/* What a library says of itself: NULL only where the header allows it. */
#include "nulls.h"

static void described_tensor(struct subject *s, const tri_io_desc *t)
{
	FILLED(tri_io_desc, t, name, 1);
	for (int32_t k = 0; k < t->rank; k++)
		FILLED(tri_dim_desc, &t->dims[k], steps, 1);
}

static void described_entry(struct subject *s, const tri_entry_desc *e)
{
	FILLED(tri_entry_desc, e, name, 1);
	FILLED(tri_entry_desc, e, inputs, e->n_inputs);
	FILLED(tri_entry_desc, e, outputs, e->n_outputs);
	FILLED(tri_entry_desc, e, dim_names, e->n_dims);
	for (int32_t i = 0; i < e->n_dims; i++)
		CHECK(e->dim_names[i]);
	OK("tri_entry_desc.dim_names[]");
	FILLED(tri_entry_desc, e, code, 1);
	FILLED(tri_entry_desc, e, states_in, e->n_states_in);
	FILLED(tri_entry_desc, e, states_out, e->n_states_out);
	FILLED(tri_entry_desc, e, states_grow, 0);
	for (int32_t i = 0; i < e->n_inputs; i++)
		described_tensor(s, &e->inputs[i]);
	for (int32_t i = 0; i < e->n_outputs; i++)
		described_tensor(s, &e->outputs[i]);
}

static void described_parts(struct subject *s)
{
	const tri_model_desc *d = s->desc;
	for (uint32_t i = 0; i < d->n_entries; i++)
		described_entry(s, &d->entries[i]);
	for (uint32_t i = 0; i < d->n_states; i++) {
		FILLED(tri_state_desc, &d->states[i], name, 1);
		FILLED(tri_state_desc, &d->states[i], initial, 0);
	}
	for (uint32_t i = 0; i < d->n_units; i++) {
		FILLED(tri_unit_desc, &d->units[i], name, 1);
		FILLED(tri_unit_desc, &d->units[i], key, 1);
	}
	for (uint32_t i = 0; i < d->n_weights; i++) {
		FILLED(tri_weight_desc, &d->weights[i], name, 1);
		FILLED(tri_weight_desc, &d->weights[i], layout, 1);
		FILLED(tri_weight_desc, &d->weights[i], form, 1);
	}
}

void described(struct subject *s)
{
	const tri_model_desc *d = s->desc;
	FILLED(tri_model_desc, d, name, 1);
	FILLED(tri_model_desc, d, version, 1);
	FILLED(tri_model_desc, d, compiler, 1);
	FILLED(tri_model_desc, d, target, 1);
	FILLED(tri_model_desc, d, backend, 1);
	FILLED(tri_model_desc, d, commit, 1);
	FILLED(tri_model_desc, d, entries, d->n_entries);
	FILLED(tri_model_desc, d, units, d->n_units);
	FILLED(tri_model_desc, d, statements, 1);
	FILLED(tri_model_desc, d, origins, 1);
	FILLED(tri_model_desc, d, members, 1);
	FILLED(tri_model_desc, d, texts, 1);
	FILLED(tri_model_desc, d, states, d->n_states);
	FILLED(tri_model_desc, d, capacities, d->n_capacities);
	FILLED(tri_model_desc, d, weights, d->n_weights);
	FILLED(tri_model_desc, d, profiling, 1); /* with `profile = true` */
	FILLED(tri_model_desc, d, open, 1);
	FILLED(tri_model_desc, d, run, 1);
	FILLED(tri_model_desc, d, run_async, 1);
	FILLED(tri_model_desc, d, close, 1);
	FILLED(tri_model_desc, d, reset, 1);
	FILLED(tri_model_desc, d, state_save, 1);
	FILLED(tri_model_desc, d, state_load, 1);
	FILLED(tri_model_desc, d, profile, 1);
	FILLED(tri_model_desc, d, profile_reset, 1);
	FILLED(tri_model_desc, d, device, 1);
	FILLED(tri_model_desc, d, engine, 1);
	FILLED(tri_model_desc, d, fallback, 0); /* without `fallback = cpu` */
	described_parts(s);
}
