/* What earlier processes found out about definitions: files' checks in the project's store. */
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"
#include "builder/build/state.h"
#include "builder/store/store.h"
#include "frontend/frontend.h"

static hash128 key_of(const struct frontend *f, uint32_t file) { return store_key("checks", frontend_file_path(f, file)); }

void build_load_checks(struct build *b, struct model_job *m)
{
	struct frontend *f = m->frontend;
	if (m->kept || !b->project)
		return;
	for (uint32_t i = 0; i < frontend_files(f); i++) {
		size_t len;
		const char *record = frontend_checks_recorded(f, i) ? NULL : store_get(b->project, key_of(f, i), &len);
		if (record && len > sizeof b->compiler && memcmp(record, &b->compiler, sizeof b->compiler) == 0)
			frontend_read_checks(f, i, record + sizeof b->compiler, len - sizeof b->compiler);
	}
	frontend_verify_checks(f);
}

/* Only of sources of which there is nothing to say: a warning would not be given again. */
void build_save_checks(struct build *b)
{
	struct map written = {0};
	for (uint32_t i = 0; i < b->n_models && diags_count(b->diags) == 0; i++) {
		struct frontend *f = b->models[i].frontend;
		for (uint32_t k = 0; k < frontend_files(f) && !b->models[i].failed; k++) {
			struct buf record = {0};
			if (frontend_checks_recorded(f, k) || !map_put(&written, key_of(f, k), 1))
				continue;
			buf_put(&record, &b->compiler, sizeof b->compiler);
			frontend_write_checks(f, k, &record);
			store_put(b->project, key_of(f, k), record.at, record.len);
			buf_free(&record);
		}
	}
	map_free(&written);
}
