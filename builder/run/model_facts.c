#include "builder/run/model_facts.h"
#include "base/arena.h"
#include "base/os.h"
#include "builder/profile/profile.h"

void model_facts_add_device(struct profile *p, const tri_profile *sums)
{
	double kernels = 0, runs, units = 0;
	for (uint32_t i = 0; sums && i < sums->n_entries; i++)
		if (sums->entries[i].launch.work_items) {
			kernels += (double)sums->entries[i].wall_ns;
			units = sums->entries[i].launch.compute_units;
		}
	if (kernels <= 0 || sums->wall_ns <= 0 || !sums->runs)
		return;
	double wall = (double)sums->wall_ns, to = (double)sums->to_device_ns, from = (double)sums->from_device_ns;
	runs = (double)sums->runs;
	profile_add_fact(p, "compute_units", units);
	profile_add_fact(p, "device.run_ns", wall / runs);
	profile_add_fact(p, "device.kernels_ns", kernels / runs);
	profile_add_fact(p, "utilisation", kernels / wall);
	profile_add_fact(p, "transfer.share", (to + from) / wall);
	profile_add_fact(p, "transfer.to_device_ns", to / runs);
	profile_add_fact(p, "transfer.to_device_bytes", (double)sums->to_device_bytes / runs);
	profile_add_fact(p, "transfer.from_device_ns", from / runs);
	profile_add_fact(p, "transfer.from_device_bytes", (double)sums->from_device_bytes / runs);
}

int64_t model_facts_clock(void)
{
	enum { ROUNDS = 8, READS = 32 };
	int64_t least = INT64_MAX;
	for (int i = 0; i < ROUNDS; i++) {
		int64_t began = os_now_ns(), ns;
		for (int k = 1; k < READS; k++)
			os_now_ns();
		ns = (os_now_ns() - began) / READS;
		least = ns < least ? ns : least;
	}
	return least;
}

void model_facts_add_weights(struct profile *p, const tri_model_desc *d)
{
	for (uint32_t i = 0; i < d->n_weights; i++) {
		const tri_weight_desc *w = &d->weights[i];
		struct profile_weight x = {.name = arena_strdup(p->arena, w->name),
					   .layout = arena_strdup(p->arena, w->layout),
					   .form = arena_strdup(p->arena, w->form),
					   .elements = 1,
					   .zeros = (double)w->zeros,
					   .bytes = (double)w->bytes};
		for (int32_t k = 0; k < w->rank; k++)
			x.elements *= (double)w->shape[k];
		vec_push(&p->weights, x);
	}
}
