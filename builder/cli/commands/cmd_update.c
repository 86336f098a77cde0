#include <string.h>
#include "base/diag.h"
#include "base/print.h"
#include "builder/build/load.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/manifest/manifest.h"

static void print_dependency(const struct dependency *dependency)
{
	if (!dependency->old_commit)
		print(stdout, "%s  %.12s  (new)\n", dependency->name, dependency->commit);
	else if (strcmp(dependency->old_commit, dependency->commit) != 0)
		print(stdout, "%s  %.12s → %.12s\n", dependency->name, dependency->old_commit, dependency->commit);
	else
		print(stdout, "%s  %.12s  (unchanged)\n", dependency->name, dependency->commit);
}

static enum status update_check_names(const struct dependencies *all, const struct options *o)
{
	for (uint32_t i = 0; i < o->n_operands; i++) {
		bool known = false;
		for (uint32_t k = 0; k < all->n && !known; k++)
			known = strcmp(all->at[k].name, o->operands[i]) == 0;
		if (!known)
			return fail_usage("there is no dependency `%s`; `trib update` without a name updates all", o->operands[i]);
	}
	return STATUS_OK;
}

static enum status update_show(const struct dependencies *all, const struct options *o)
{
	for (uint32_t i = 0; i < all->n && !o->quiet; i++)
		print_dependency(&all->at[i]);
	if (!all->n && !o->quiet)
		print(stdout, "no dependencies in tri.build\n");
	return update_check_names(all, o);
}

enum status cmd_update(const struct options *o)
{
	struct loaded_project l;
	enum status s = project_load(&l, o, LOAD_DEPENDENCIES);
	if (s == STATUS_OK)
		s = update_show(&l.project.dependencies, o);
	return project_unload(&l, s);
}
