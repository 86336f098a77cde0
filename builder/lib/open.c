/* tri_open_lazy: lets trib build the model without code. */
#include "builder/build/build.h"
#include "builder/build/model/model.h"
#include "builder/build/session/folders.h"
#include "builder/lib/tri_lazy.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/lib/host.h"
#include "builder/run/library.h"

struct opened {
	tri_lazy_model open; /* first: the caller's pointer */
	struct library library;
};

struct request {
	const char *folder, *name;
	struct arena *a;
	const char *path; /* of the library; NULL if the build failed */
	const char *error;
};

/* A spelling of the path that is unique for this version of the library. The loader takes equal paths for the same library, even if the
 * file was replaced. */
static const char *own_name(struct request *r, const char *path)
{
	struct stat st;
	struct buf b = {0};
	char *full = realpath(path, NULL);
	const char *own = NULL;
	if (full && stat(full, &st) == 0) {
		buf_put(&b, full, (size_t)(strrchr(full, '/') + 1 - full));
		for (uint64_t bits = st.st_ino; bits; bits >>= 1)
			buf_puts(&b, bits & 1 ? ".//" : "./");
		buf_puts(&b, strrchr(full, '/') + 1);
		own = arena_strdup(r->a, b.at);
	}
	buf_free(&b);
	free(full);
	return own;
}

/* The first error message, after its position if it has one. */
static const char *first_error(struct request *r, const char *text)
{
	const char *at = strstr(text, "error");
	at = at ? at : text;
	size_t len = strcspn(at, "\n");
	const char *place = at + len + strspn(at + len, "\n ");
	if (strncmp(place, "--> ", 4) != 0)
		return arena_printf(r->a, "%.*s", (int)len, at);
	place += 4;
	return arena_printf(r->a, "%.*s: %.*s", (int)strcspn(place, "\n"), place, (int)len, at);
}

static void open_build(struct request *r)
{
	const char *message,
		*argv[] = {NULL, "build", "--lazy", "--emit=library", "--out=" LAZY_FOLDER, "-C", r->folder, "--", r->name, NULL};
	if (host_run_trib(r->a, argv, NULL, 0, &message))
		r->path = own_name(r, arena_printf(r->a, "%s/" LAZY_FOLDER "/lib%s.so", r->folder, r->name));
	if (!r->path)
		r->error = *message ? first_error(r, message) : strerror(errno);
}

static struct opened *open_library(struct request *r)
{
	struct opened *m = calloc(1, sizeof *m);
	if (!m) {
		r->error = "out of memory";
		return NULL;
	}
	if (library_open(r->a, r->path, &m->library, &r->error))
		return m;
	free(m);
	return NULL;
}

static void open_say(tri_error *err, enum tri_code code, const char *text)
{
	if (!err)
		return;
	err->code = (int32_t)code;
	snprintf(err->message, sizeof err->message, "%s", text ? text : "no reason given");
}

__attribute__((visibility("default"))) tri_lazy_model *tri_open_lazy(const char *folder, const char *name, const tri_options *opt,
								     tri_error *err)
{
	if (!folder || !name) {
		open_say(err, TRI_ERR_ARGUMENT, folder ? "`name` is NULL" : "`folder` is NULL");
		return NULL;
	}
	struct request r = {.folder = folder, .name = name, .a = arena_new(0)};
	if (getauxval(AT_SECURE)) /* a project can name programs to run and files to write */
		r.error = "a process with raised privileges (setuid) builds no project: build it before, and open its library";
	else
		open_build(&r);
	struct opened *m = r.path ? open_library(&r) : NULL;
	if (m) {
		m->open.desc = m->library.desc;
		m->open.model = m->open.desc->open(opt, err);
	} else {
		open_say(err, TRI_ERR_COMPILE, r.error);
	}
	if (m && !m->open.model) {
		tri_close_lazy(&m->open);
		m = NULL;
	}
	arena_free(r.a);
	return m ? &m->open : NULL;
}

__attribute__((visibility("default"))) void tri_close_lazy(tri_lazy_model *m)
{
	struct opened *o = (struct opened *)m;
	if (!o)
		return;
	if (m->model)
		o->library.desc->close(m->model);
	library_close(&o->library);
	free(o);
}
