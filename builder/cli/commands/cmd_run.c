#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/path.h"
#include "builder/build/build.h"
#include "builder/build/model/model.h"
#include "builder/build/session/folders.h"
#include "builder/build/session/status.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/cli/project.h"
#include "builder/run/drivers.h"
#include "builder/run/run.h"

/* Builds the named model without code, in a folder of its own. */
static const char *lazy_library(struct arena *a, const struct options *o, const struct model_spec *spec, enum status *s)
{
	struct options build = *o;
	char *text = NULL;
	size_t len;
	FILE *quiet = open_memstream(&text, &len);
	build.operands = &spec->name;
	build.n_operands = 1;
	build.emit = "library";
	build.out = LAZY_FOLDER;
	build.unread = true;
	*s = quiet ? build_run(&build, quiet, stderr) : STATUS_ENVIRONMENT;
	if (quiet)
		fclose(quiet);
	free(text);
	return *s == STATUS_OK ? arena_printf(a, LAZY_FOLDER "/lib%s.so", spec->name) : NULL;
}

/* The named model, or the only one. NULL: an error was printed. */
static const struct model_spec *run_find_model(struct arena *a, const struct options *o, struct build_spec *spec, enum status *s)
{
	*s = project_read(a, o, spec);
	if (*s != STATUS_OK)
		return NULL;
	if (spec->n_models == 1)
		return &spec->models[0];
	*s = fail_usage("tri.build has several models: name one, as in `trib run %s`", spec->models[0].name);
	return NULL;
}

static enum status run_project(struct arena *a, const struct options *o)
{
	struct build_spec spec;
	struct options of_model = *o;
	enum status s;
	const struct model_spec *m = run_find_model(a, o, &spec, &s);
	if (!m)
		return s;
	of_model.run.device = o->run.device ? o->run.device : "cpu";
	if (run_on_reference(&o->run) && o->profile_out)
		return fail_usage("--profile-out measures compiled code, and not the reference interpreter");
	if (run_on_reference(&o->run)) {
		of_model.operands = &m->name;
		of_model.n_operands = 1;
		return reference_visit(&of_model, reference_interpret, run_once, (void *)(uintptr_t)o);
	}
	if (!o->lazy && (s = run_build_first(a, &spec, o)) != STATUS_OK)
		return s;
	const char *path = o->lazy ? lazy_library(a, o, m, &s) : run_library_path(a, m, &of_model, &s);
	return path ? run_visit_library(a, path, m->name, &of_model, run_once, (void *)(uintptr_t)o) : s;
}

enum status cmd_run(const struct options *given)
{
	struct options with_profile = *given;
	const struct options *o = &with_profile;
	if (o->profile_out)
		with_profile.profile_hook = 1;
	const char *word = o->n_operands ? o->operands[0] : "";
	if (o->run.main)
		return main_run(o);
	if (!run_check_device(&o->run))
		return STATUS_USAGE;
	drivers_supervise(o->run.device ? o->run.device : word); /* libraries of OpenCL are called NAME_opencl.so */
	struct arena *a = arena_new(0);
	enum status s;
	if (path_has_extension(word, "tri"))
		s = fail_usage("`%s` is a source: run its main block with `trib run --main %s`", word, word);
	else if ((strchr(word, '/') || path_has_extension(word, "so")) && !o->lazy && !run_on_reference(&o->run))
		s = run_visit_library(a, word, NULL, o, run_once, (void *)(uintptr_t)o);
	else
		s = run_project(a, o);
	arena_free(a);
	return s;
}
