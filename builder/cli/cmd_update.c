#include <string.h>
#include "base/diag.h"
#include "builder/build/state.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/manifest/manifest.h"

static void print_dependency(const struct dependency *d)
{
	if (!d->old_commit)
		printf("%s  %.12s  (new)\n", d->name, d->commit);
	else if (strcmp(d->old_commit, d->commit) != 0)
		printf("%s  %.12s → %.12s\n", d->name, d->old_commit, d->commit);
	else
		printf("%s  %.12s  (unchanged)\n", d->name, d->commit);
}

static enum status check_names(const struct build *b)
{
	const struct dependencies *all = &b->dependencies;
	for (uint32_t i = 0; i < b->options->n_models; i++) {
		bool known = false;
		for (uint32_t k = 0; k < all->n && !known; k++)
			known = strcmp(all->at[k].name, b->options->models[i]) == 0;
		if (!known)
			return say_usage("no dependency is called `%s`; `trib update` without a name renews them all",
					 b->options->models[i]);
	}
	return STATUS_OK;
}

static enum status print(struct build *b, void *ctx)
{
	const struct dependencies *all = &b->dependencies;
	(void)ctx;
	for (uint32_t i = 0; i < all->n && !b->options->quiet; i++)
		print_dependency(&all->at[i]);
	if (!all->n && !b->options->quiet)
		printf("no dependencies in tri.build\n");
	return check_names(b);
}

enum status cmd_update(const struct options *o) { return build_visit_dependencies(o, print, NULL); }
