#include "builder/build/plan/unit_records.h"
#include <string.h>
#include "backend/link/backend.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/source.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/plan/compile.h"
#include "builder/build/session/context.h"
#include "builder/manifest/build_spec.h"
#include "builder/cache/cache.h"
#include "builder/manifest/options.h"
#include "builder/store/history.h"
#include "frontend/hir/hir.h"

static const struct unit_record *new_record(struct arena *arena, struct unit_job *j)
{
	if (j->new_record)
		return j->new_record;
	const struct variant *v = j->variant;
	const struct platform *p = &v->model->platform;
	const struct unit_summary *summary = v->model->summaries[j - v->units.jobs];
	j->new_record = ARENA_NEW(arena, struct unit_record);
	*j->new_record = (struct unit_record){.name = j->unit->name,
					      .file = j->unit->file,
					      .definition = j->unit->definition_name,
					      .backend = v->backend->name,
					      .tokens = j->unit->definition,
					      .key = j->key,
					      .target = v->target_id,
					      .cpu = v->target->name == p->target->name ? p->name : v->target->name,
					      .made = *j->plan_record,
					      .summary = *summary};
	return j->new_record;
}

/* The record of the last build if it is unchanged, so that it need not be written again. */
static const struct unit_record *current_record(struct arena *arena, struct unit_job *j)
{
	const struct unit_record *old = j->old_record;
	const struct hir_unit *u = j->unit;
	if (old && j->plan_record == &old->made && hash_eq(old->key, j->key) && hash_eq(old->tokens, u->definition) &&
	    hash_eq(old->target, j->variant->target_id) && strcmp(old->name, u->name) == 0 && strcmp(old->file, u->file) == 0)
		return old;
	return new_record(arena, j);
}

static uint32_t unit_records_line_of(const struct sources *s, span at)
{
	return at.source == SPAN_NO_SOURCE ? 0 : source_position(s, at.source, at.start).line;
}

struct why unit_explain(struct build_context *c, struct unit_job *j)
{
	const struct unit_record *new = new_record(c->arena, j);
	const struct unit_record *kin = history_of_definition(j->variant->model->history, new->file, new->definition, new->backend);
	struct why why = history_explain(c->arena, j->old_record, kin, new, unit_records_line_of(c->sources, j->unit->at));
	if (!c->request.options->dry_run)
		cache_count_compile(c->stores.cache, why.reason);
	return why;
}

static void save_model(struct arena *arena, struct store *store, const struct model_job *m)
{
	const struct unit_record **records =
		ARENA_ARRAY(arena, const struct unit_record *, (size_t)m->n_variants * m->program->n_units + 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_variants; i++)
		for (uint32_t k = 0; m->variants[i].units.jobs && k < m->program->n_units; k++) {
			struct unit_job *j = &m->variants[i].units.jobs[k];
			if (j->plan && j->compile && j->compile->object)
				records[n++] = current_record(arena, j);
		}
	history_save(store, m->spec->name, m->history, records, n);
}

void unit_records_save(struct arena *arena, struct store *store, const struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		if (!m->failed && !m->link.is_current && m->history)
			save_model(arena, store, m);
	}
}
