#include "builder/profile/scaling.h"
#include "base/arena.h"

bool scaling_line(const struct scaling *s, enum scaling_size against, bool memory, struct line *out)
{
	double *x = ARENA_ARRAY(s->arena, double, s->models.len + 1), *y = ARENA_ARRAY(s->arena, double, s->models.len + 1);
	uint32_t n = 0;
	bool differ = false;
	for (uint32_t i = 0; i < s->models.len; i++) {
		const struct scaling_model *m = &s->models.at[i];
		if (!m->is_measured)
			continue;
		x[n] = m->size[against];
		y[n] = memory ? m->cost.peak_bytes : m->cost.wall_ns;
		differ = differ || x[n] != x[0];
		n++;
	}
	if (n < 3 || !differ)
		return false;
	*out = statistics_line(x, y, n);
	return true;
}
