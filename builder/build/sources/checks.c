#include "builder/build/sources/checks.h"
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/store/store.h"
#include "frontend/frontend.h"

static hash128 checks_key_of(const struct frontend *f, uint32_t file) { return store_key("checks", frontend_file_path(f, file)); }

void checks_load(struct build_context *c, struct model_job *m)
{
	struct frontend *f = m->frontend;
	if (m->is_warm || !c->stores.project)
		return;
	for (uint32_t i = 0; i < frontend_files(f); i++) {
		size_t len;
		const char *record = frontend_checks_recorded(f, i) ? NULL : store_get(c->stores.project, checks_key_of(f, i), &len);
		if (record && len > sizeof c->stores.compiler && memcmp(record, &c->stores.compiler, sizeof c->stores.compiler) == 0)
			frontend_read_checks(f, i, record + sizeof c->stores.compiler, len - sizeof c->stores.compiler);
	}
	frontend_verify_checks(f);
}

void checks_save(struct diags *diags, const struct stores *stores, const struct project *p)
{
	struct map written = {0};
	for (uint32_t i = 0; i < p->n_models && diags_count(diags) == 0; i++) {
		struct frontend *f = p->models[i].frontend;
		for (uint32_t k = 0; k < frontend_files(f) && !p->models[i].failed; k++) {
			struct buf record = {0};
			if (frontend_checks_recorded(f, k) || !map_put(&written, checks_key_of(f, k), 1))
				continue;
			buf_put(&record, &stores->compiler, sizeof stores->compiler);
			frontend_write_checks(f, k, &record);
			store_put(stores->project, checks_key_of(f, k), record.at, record.len);
			buf_free(&record);
		}
	}
	map_free(&written);
}
