/* The dependencies of a build: fetched where they are absent, and seen through links. */
#include "base/diag.h"
#include "builder/build/context.h"
#include "builder/build/project.h"
#include "builder/deps/checkout.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/store/inputs.h"

static void print_progress(void *context, const char *what, const char *of)
{
	const struct build_context *c = context;
	if (request_is_chatty(&c->request))
		fprintf(c->request.err, "trib: %s %s\n", what, of);
}

bool project_find_dependencies(struct build_context *c, const struct manifest *m, enum dependency_mode mode, struct dependencies *out)
{
	struct checkouts checkouts;
	const struct options *o = c->request.options;
	struct dependency_options r = {.arena = c->arena,
				       .sources = c->sources,
				       .host = context_host(c),
				       .manifest = m,
				       .mode = mode,
				       .checkouts = &checkouts,
				       .diags = c->diags};
	if (!manifest_find(m, BLOCK_DEPENDENCY, NULL))
		return true;
	if (!checkouts_open(&checkouts, c->arena, c->sources, m, o, c->diags))
		return false;
	checkouts.report = print_progress;
	checkouts.ctx = c;
	if (mode == DEPENDENCY_UPDATE) {
		r.names = o->operands;
		r.n_names = o->n_operands;
	} else if (o->locked) {
		r.mode = DEPENDENCY_LOCKED;
	}
	bool ok = dependencies_resolve(&r, out);
	inputs_note(c->inputs, LOCK_FILE, NULL); /* it may have been written */
	for (uint32_t i = 0; i < diags_count(c->diags); i++)
		c->environment |= diags_at(c->diags, i)->code == DIAG_FETCH;
	return ok;
}

bool project_update_dependencies(struct build_context *c, struct dependencies *out)
{
	const struct manifest *m = manifest_read(c->arena, context_host(c), MANIFEST_FILE, c->diags);
	return diags_errors(c->diags) == 0 && project_find_dependencies(c, m, DEPENDENCY_UPDATE, out);
}
