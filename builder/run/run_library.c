#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/manifest/options.h"
#include "builder/run/library.h"
#include "builder/run/run.h"

struct opened {
	const tri_model_desc *desc;
	struct tri_model *model;
};

/* True for errors that neither the model nor its inputs cause. */
static bool is_environment(int32_t code) { return code == TRI_ERR_DEVICE || code == TRI_ERR_WEIGHTS || code == TRI_ERR_COMPILE; }

static enum status failure(const tri_error *e, struct buf *error)
{
	buf_printf(error, "the model failed: %s", e->message);
	return is_environment(e->code) ? STATUS_ENVIRONMENT : STATUS_FAILED;
}

static enum status run(void *ctx, uint32_t entry, tri_tensor *io, struct buf *error)
{
	const struct opened *m = ctx;
	tri_error e = {0};
	return m->desc->run(m->model, entry, io, &e) == TRI_OK ? STATUS_OK : failure(&e, error);
}

static void reset(void *ctx)
{
	const struct opened *m = ctx;
	if (m->desc->reset)
		m->desc->reset(m->model, NULL);
}

enum status run_visit_library(struct arena *a, const char *path, const char *name, const struct options *o, run_visitor *visit, void *ctx)
{
	struct library lib;
	struct opened m = {0};
	const char *why;
	const char *colon = o->device ? strchr(o->device, ':') : NULL;
	tri_options options = {
		.size = sizeof options, .threads = (uint32_t)(o->threads > 0 ? o->threads : 0), .device = colon ? colon + 1 : NULL};
	tri_error e = {0};
	struct buf error = {0};
	enum status s;
	if (!library_open(a, path, &lib, &why)) {
		fprintf(stderr, "trib: %s\n", why);
		return STATUS_ENVIRONMENT;
	}
	m.desc = lib.desc;
	m.model = lib.desc->open(&options, &e);
	if (m.model) {
		s = visit(a, &(struct run_model){name, lib.desc->entries, lib.desc->n_entries, run, reset, &m}, ctx);
		lib.desc->close(m.model);
	} else {
		s = failure(&e, &error);
		fprintf(stderr, "trib: %s\n", error.at);
	}
	buf_free(&error);
	library_close(&lib);
	return s;
}
