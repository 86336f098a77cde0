/* The dependencies of a build: fetched where they are not yet, and seen through links. */
#include "base/diag.h"
#include "builder/build/state.h"
#include "builder/deps/checkout.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"

static void say(void *build, const char *what, const char *of)
{
	struct build *b = build;
	if (build_tells(b))
		fprintf(b->err, "trib: %s %s\n", what, of);
}

bool build_find_dependencies(struct build *b, const struct manifest *m, enum dependency_mode mode)
{
	struct checkouts c;
	struct dependency_options r = {.arena = b->session,
				       .sources = b->sources,
				       .host = {build_load, b},
				       .manifest = m,
				       .mode = mode,
				       .checkouts = &c,
				       .diags = b->diags};
	if (!manifest_find(m, BLOCK_DEPENDENCY, NULL))
		return true;
	if (!checkouts_open(&c, b->session, b->sources, m, b->options, b->diags))
		return false;
	c.report = say;
	c.ctx = b;
	if (mode == DEPENDENCY_UPDATE) {
		r.names = b->options->models;
		r.n_names = b->options->n_models;
	} else if (b->options->locked) {
		r.mode = DEPENDENCY_LOCKED;
	}
	bool ok = dependencies_resolve(&r, &b->dependencies);
	inputs_note(b->inputs, LOCK_FILE, NULL); /* as it is now: it may have been written */
	for (uint32_t i = 0; i < diags_count(b->diags); i++)
		b->environment |= diags_at(b->diags, i)->code == DIAG_FETCH;
	return ok;
}

bool build_update_dependencies(struct build *b)
{
	const struct manifest *m = manifest_read(b->session, (struct frontend_host){build_load, b}, "tri.build", b->diags);
	return diags_errors(b->diags) == 0 && build_find_dependencies(b, m, DEPENDENCY_UPDATE);
}
