#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build.h"
#include "builder/cli/command.h"
#include "builder/library.h"
#include "builder/main_run.h"
#include "builder/project.h"
#include "builder/reference.h"
#include "builder/run.h"
#include "frontend/dtype.h"

static enum status complain(const char *text, enum status s)
{
	fprintf(stderr, "trib: %s\n", text);
	return s;
}

/* Builds the model that the options name, but for its code, in a folder of its own. */
static const char *lazy_library(struct arena *a, const struct options *o, enum status *s)
{
	struct build_spec spec;
	struct options build = *o;
	char *text = NULL;
	size_t len;
	*s = project_read(a, o, &spec);
	if (*s != STATUS_OK)
		return NULL;
	if (spec.n_models != 1) {
		*s = complain("the manifest has several models: which one?", STATUS_USAGE);
		return NULL;
	}
	FILE *quiet = open_memstream(&text, &len);
	build.models = &spec.models[0].name;
	build.n_models = 1;
	build.emit = "library";
	build.out = LAZY_FOLDER;
	*s = quiet ? build_run(&build, quiet, stderr) : STATUS_ENVIRONMENT;
	if (quiet)
		fclose(quiet);
	free(text);
	return *s == STATUS_OK ? arena_printf(a, LAZY_FOLDER "/lib%s.so", spec.models[0].name) : NULL;
}

/* A path as it is; a model's name through the manifest. */
static const char *library_path(struct arena *a, const struct options *o, enum status *s)
{
	const char *word = o->n_models ? o->models[0] : "";
	size_t n = strlen(word);
	struct build_spec spec;
	const char *suffix = o->device && strncmp(o->device, "opencl", 6) == 0 ? "_opencl" : "";
	if (n > 4 && strcmp(word + n - 4, ".tri") == 0) {
		*s = complain(arena_printf(a, "`%s` is a source: its main block is run with `trib run --main %s`", word, word), STATUS_USAGE);
		return NULL;
	}
	if (o->lazy)
		return lazy_library(a, o, s);
	if (strchr(word, '/') || (n > 3 && strcmp(word + n - 3, ".so") == 0))
		return word;
	*s = project_read(a, o, &spec);
	if (*s != STATUS_OK)
		return NULL;
	if (spec.n_models != 1) {
		*s = complain("the manifest has several models: which one?", STATUS_USAGE);
		return NULL;
	}
	word = spec.models[0].name;
	const char *path = arena_printf(a, "%s/lib%s%s.so", spec.models[0].out, word, suffix);
	struct file_stamp st;
	if (os_stamp(path, &st))
		return path;
	*s = complain(arena_printf(a, "there is no %s: run `trib build %s` first", path, word), STATUS_ENVIRONMENT);
	return NULL;
}

static int find_entry(struct arena *a, const tri_model_desc *d, const char *name, struct buf *error)
{
	const char **names = ARENA_ARRAY(a, const char *, d->n_entries + 1);
	for (uint32_t i = 0; i < d->n_entries; i++)
		names[i] = d->entries[i].name;
	return run_find_entry(a, names, d->n_entries, name, error);
}

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

/* Runs it as often as asked. False: *error is filled. */
static bool run_times(struct arena *a, const tri_model_desc *d, uint32_t entry, struct run_io *io, const struct options *o, tri_error *error)
{
	int n = o->repeat > 0 ? o->repeat : 1;
	tri_options opt = {.size = sizeof opt, .threads = (uint32_t)(o->threads > 0 ? o->threads : 0)};
	const char *colon = o->device ? strchr(o->device, ':') : NULL;
	int64_t *times = ARENA_ARRAY(a, int64_t, n);
	opt.device = colon ? colon + 1 : NULL;
	struct tri_model *m = d->open(&opt, error);
	bool ok = m != NULL;
	for (int i = 0; ok && i < n && !os_interrupted(); i++) {
		int64_t t = os_now_ns();
		ok = d->run(m, entry, io->tensors, error) == TRI_OK;
		times[i] = os_now_ns() - t;
	}
	if (m)
		d->close(m);
	if (ok && o->repeat > 0) {
		qsort(times, (size_t)n, sizeof *times, by_value);
		printf("median %.4f ms, fastest %.4f ms of %d runs\n", (double)times[n / 2] / 1e6, (double)times[0] / 1e6, n);
	}
	return ok;
}

/* Not the model's fault, nor that of its inputs. */
static bool is_worlds(int32_t code) { return code == TRI_ERR_DEVICE || code == TRI_ERR_WEIGHTS || code == TRI_ERR_COMPILE; }

static enum status run_library(struct arena *a, const struct library *lib, const struct options *o)
{
	struct run_io io;
	struct buf why = {0};
	tri_error error = {0};
	int entry = find_entry(a, lib->desc, o->entry, &why);
	enum status s = STATUS_USAGE;
	if (entry < 0)
		complain(why.at, s);
	else if (!run_check_names(a, &lib->desc->entries[entry], o, &why))
		complain(why.at, s);
	else if (!run_prepare(a, &lib->desc->entries[entry], o, &io, &why))
		s = complain(why.at, STATUS_FAILED);
	else if (!run_times(a, lib->desc, (uint32_t)entry, &io, o, &error))
		s = complain(arena_printf(a, "the model failed: %s", error.message), is_worlds(error.code) ? STATUS_ENVIRONMENT : STATUS_FAILED);
	else if (!run_publish(&io, o, &why))
		s = complain(why.at, STATUS_ENVIRONMENT);
	else
		s = STATUS_OK;
	if (s == STATUS_OK)
		run_print_outputs(&io);
	buf_free(&why);
	return s;
}

static bool known_device(const char *d)
{
	if (d && strncmp(d, "opencl:", 7) == 0)
		return d[7] && d[7 + strspn(d + 7, "0123456789")] == 0;
	return !d || strcmp(d, "cpu") == 0 || strcmp(d, "reference") == 0 || strcmp(d, "opencl") == 0;
}

enum status cmd_run(const struct options *o)
{
	struct library lib;
	const char *error;
	enum status s = STATUS_ENVIRONMENT;
	if (o->main)
		return main_run(o);
	if (o->n_models > 1)
		return complain("`trib run` wants one model or library; its inputs are given as --input NAME=FILE", STATUS_USAGE);
	if (!known_device(o->device))
		return complain("--device wants cpu, opencl, opencl:I with a number of `trib devices`, or reference", STATUS_USAGE);
	if (o->device && strcmp(o->device, "reference") == 0)
		return reference_run(o);
	struct arena *a = arena_new(0);
	const char *path = library_path(a, o, &s);
	if (path && !library_open(a, path, &lib, &error)) {
		s = complain(error, STATUS_ENVIRONMENT);
	} else if (path) {
		s = run_library(a, &lib, o);
		library_close(&lib);
	}
	arena_free(a);
	return s;
}
