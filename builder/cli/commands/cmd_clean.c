#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/cli/project.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/outputs.h"
#include "builder/weights/triw.h"

static bool remove_tree(const char *path)
{
	if (os_remove_tree(path))
		return true;
	print(stderr, "trib: cannot remove all of `%s`: %s\n", path, strerror(errno));
	return false;
}

/* Removes the default folder as a whole. In a folder that the manifest names, removes only the outputs of builds. */
static bool clean_model(struct arena *a, const struct model_spec *s)
{
	if (strcmp(s->out, "build") == 0)
		return remove_tree("build");
	if (!s->out_named && !outputs_is_inside(a, s->out)) {
		print(stderr, "trib: `%s` is outside the project and is left unchanged; `trib clean --out %s` cleans it\n", s->out, s->out);
		return true;
	}
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		for (uint32_t k = 0; k < emit_files(e); k++)
			if (!emit_is_shared(e, k) || s->emit >> e & 1)
				unlink(emit_path(a, e, k, s));
	triw_sweep(a, s->out, s->name, NULL, 0);
	rmdir(s->out);
	return true;
}

enum status cmd_clean(const struct options *o)
{
	struct arena *a = arena_new(0);
	struct build_spec spec;
	struct options all = *o;
	all.n_operands = 0;
	enum status s = project_read(a, &all, &spec);
	bool ok = s == STATUS_OK;
	for (uint32_t i = 0; ok && i < spec.n_models; i++)
		ok = clean_model(a, &spec.models[i]);
	ok = ok && remove_tree(".trib");
	arena_free(a);
	return s == STATUS_OK && !ok ? STATUS_ENVIRONMENT : s;
}
