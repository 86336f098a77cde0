#include "builder/profile/targets.h"
#include <string.h>

const struct target targets[TARGET_CLASSES] = {
#define TARGET(id, name, parameters, layers, ns, bytes, model, entry, file) {name, parameters, layers, ns, bytes, model, entry, file},
#include "builder/profile/targets.def"
};

bool target_class_parse(const char *text, enum target_class *out)
{
	for (uint32_t i = 0; i < TARGET_CLASSES; i++)
		if (strcmp(text, targets[i].name) == 0) {
			*out = (enum target_class)i;
			return true;
		}
	return false;
}

enum target_class target_class_of(const struct scaling_model *m)
{
	uint32_t c = 0;
	while (c + 1 < TARGET_CLASSES &&
	       (m->size[SIZE_PARAMETERS] > targets[c].most_parameters || m->size[SIZE_LAYERS] > targets[c].most_layers))
		c++;
	return (enum target_class)c;
}

bool target_time_holds(const struct target_row *r) { return r->model.cost.least_wall_ns <= targets[target_class_of(&r->model)].wall_ns; }

bool target_memory_holds(const struct target_row *r)
{
	const struct scaling_cost *c = &r->model.cost;
	double bytes = c->private_dirty_bytes > 0 ? c->private_dirty_bytes : c->peak_bytes;
	return bytes <= targets[target_class_of(&r->model)].private_dirty_bytes;
}

bool targets_hold(const struct target_rows *t)
{
	bool hold = true;
	for (uint32_t i = 0; i < t->list.len; i++)
		hold = hold && target_time_holds(&t->list.at[i]) && target_memory_holds(&t->list.at[i]);
	return hold;
}
