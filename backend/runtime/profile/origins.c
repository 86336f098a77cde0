#include "backend/runtime/profile/origins.h"
#include <stdio.h>
#include <string.h>
#include "backend/runtime/model.h"
#include "backend/runtime/profile/index_operations.h"

const tri_origin *tri_origin_in_project(const tri_model_desc *d, const tri_origin *o)
{
	const char *file = d->texts + o->file;
	while (file[0] == 's' && file[1] == 't' && file[2] == 'd' && file[3] == '/' && o->inlined_at != TRI_NONE) {
		o = &d->origins[o->inlined_at];
		file = d->texts + o->file;
	}
	return o;
}

static const tri_origin *origins_index_of(const tri_model_desc *d, const tri_statement *s)
{
	for (uint32_t k = 0; k < s->n_origins; k++) {
		const tri_origin *o = &d->origins[d->members[s->first_origin + k]];
		if (tri_is_index_operation(d->texts + o->operation))
			return o;
	}
	return s->n_origins ? &d->origins[d->members[s->first_origin]] : NULL;
}

/* NULL: it is not known. */
static const tri_origin *find_index(const tri_model_desc *d, uint64_t place)
{
	uint32_t statement = (uint32_t)place, tag = (uint32_t)(place >> 32);
	for (uint32_t k = 0; place && k < d->n_units; k++) {
		const tri_unit_desc *u = &d->units[k];
		if (u->tag != tag || statement >= u->n_statements)
			continue;
		const tri_origin *o = origins_index_of(d, &d->statements[u->first_statement + statement]);
		return o ? tri_origin_in_project(d, o) : NULL;
	}
	return NULL;
}

const char *tri_place_line(const tri_model_desc *d, uint64_t place, char out[TRI_LINE])
{
	const tri_origin *o = find_index(d, place);
	out[0] = 0;
	if (o)
		snprintf(out, TRI_LINE, "%.100s:%u: ", d->texts + o->file, (unsigned)o->line);
	return out;
}

int tri_error_index(tri_error *err, const tri_model_desc *d, int64_t index, int64_t bound, uint64_t place)
{
	char line[TRI_LINE];
	return tri_error_set(err, TRI_ERR_RANGE, "%sindex %lld is out of range: it must be at least 0 and less than %lld",
			     tri_place_line(d, place, line), (long long)index, (long long)bound);
}
