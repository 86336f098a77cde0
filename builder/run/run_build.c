#include "builder/run/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/manifest/backends.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"

enum emit run_emit_of(const struct model_spec *spec, const char *device)
{
	enum emit wanted = emit_of_device(device);
	for (enum emit e = 0; e < EMIT_COUNT && !(spec->emit >> wanted & 1) && spec->has_fallback && !emit_has_devices(wanted); e++)
		if (spec->emit >> e & 1 && emit_has_devices(e))
			return e;
	return wanted;
}

bool run_check_device(const struct run_options *options)
{
	const char *colon = options->device ? strchr(options->device, ':') : NULL;
	bool ok = !options->device || emit_of_device(options->device) < EMIT_COUNT || run_on_reference(options);
	if (ok && colon)
		ok = device_is_foreign(options->device) && colon[1];
	if (!ok)
		print(stderr,
		      "trib: --device takes cpu, opencl, the number of a device in `trib devices`, opencl:NAME with a part of its name, or reference\n");
	return ok;
}

bool run_on_reference(const struct run_options *options) { return options->device && strcmp(options->device, "reference") == 0; }

/* The options of `trib build` for these models. It names no models if these are all. */
static struct options run_build_options(struct arena *a, const struct build_spec *spec, const struct options *o)
{
	struct options build = *o;
	uint32_t n;
	const char **names = ARENA_ARRAY(a, const char *, spec->n_models + 1);
	for (uint32_t i = 0; i < spec->n_models; i++)
		names[i] = spec->models[i].name;
	manifest_names(a, spec->manifest, BLOCK_MODEL, &n);
	build.operands = names;
	build.n_operands = n == spec->n_models ? 0 : spec->n_models;
	build.quiet = true;
	return build;
}

/* The models may have been built alone, or with all others. */
static void warn_if_stale(const struct options *build)
{
	struct buf why = {0};
	struct options all = *build;
	all.n_operands = 0;
	enum build_age age = build_age(build, &why);
	if (age != BUILD_CURRENT && build->n_operands) {
		enum build_age of_all = build_age(&all, &why);
		age = of_all == BUILD_UNKNOWN ? age : of_all;
	}
	if (age == BUILD_STALE)
		print(stderr, "trib: warning: the library is stale: %s\n", why.at ? why.at : "its inputs changed");
	buf_free(&why);
}

enum status run_build_first(struct arena *a, const struct build_spec *spec, const struct options *o)
{
	struct options build = run_build_options(a, spec, o);
	build.unread = true;
	char *text = NULL;
	size_t len = 0;
	if (o->run.no_build) {
		warn_if_stale(&build);
		return STATUS_OK;
	}
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return STATUS_ENVIRONMENT;
	enum status s = build_run(&build, out, stderr);
	fclose(out);
	if (s != STATUS_OK && o->json > 0)
		print_bytes(stdout, text, len);
	free(text);
	return s;
}

/* "write `emit = library header opencl` in its block in tri.build" */
static void advise_emit(const struct model_spec *spec, enum emit wanted)
{
	uint32_t n;
	const char *const *names = emit_names(&n);
	struct buf b = {0};
	for (uint32_t i = 0; i < n; i++)
		if (spec->emit >> i & 1 || i == wanted)
			buf_printf(&b, " %s", names[i]);
	print(stderr, "trib: model `%s` is built without %s: write `emit =%s` in its block in tri.build\n", spec->name, emit_what(wanted),
	      b.at);
	buf_free(&b);
}

const char *run_library_path(struct arena *a, const struct model_spec *spec, const struct options *o, enum status *s)
{
	struct file_stamp st;
	enum emit wanted = run_emit_of(spec, o->run.device);
	const char *path = emit_path(a, wanted, 0, spec);
	if (!(spec->emit >> wanted & 1) && !o->run.no_build) {
		advise_emit(spec, wanted);
		*s = STATUS_USAGE;
		return NULL;
	}
	if (os_stamp(path, &st))
		return path;
	if (spec->emit >> wanted & 1)
		print(stderr, "trib: there is no %s: run `trib build %s` first\n", path, spec->name);
	else
		advise_emit(spec, wanted);
	*s = STATUS_ENVIRONMENT;
	return NULL;
}
