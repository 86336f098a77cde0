/* The functions of tri_build.h. */
#include "builder/build/build.h"
#include "builder/build/session/status.h"
#include "builder/lib/tri_build.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/lib/build_events.h"
#include "builder/lib/build_request.h"
#include "builder/lib/builder_process.h"

#define EXPORTED __attribute__((visibility("default")))

enum { MOST_STARTS = 3 };

struct tri_builder {
	char *folder;
	struct arena *results; /* of the last run */
	pthread_mutex_t lock;  /* guards the members below; the running thread changes `process` with it, and reads it without */
	bool busy, cancelled;
	struct builder_process process;
};

/* One run. */
struct run {
	tri_builder *builder;
	tri_build_options options;
	tri_build_summary summary;
	struct build_events events;
	struct buf request;
	char *profile_folder; /* temporary; NULL: none */
	const char *profile_path;
};

/* ---- the profile ---- */

/* False: errno. */
static bool build_choose_profile(struct run *r)
{
	char name[] = "/tmp/trib-profile-XXXXXX";
	if (r->options.profile_file)
		r->profile_path = path_join(r->events.arena, r->builder->folder, r->options.profile_file);
	else if (r->options.profile)
		r->profile_folder = mkdtemp(name) ? arena_strdup(r->events.arena, name) : NULL;
	else
		return true;
	if (r->profile_folder)
		r->profile_path = path_join(r->events.arena, r->profile_folder, "profile.json");
	return r->profile_path;
}

static void take_profile(struct run *r)
{
	char *text;
	size_t len;
	if (r->options.profile && r->profile_path && os_read_file(r->profile_path, SIZE_MAX, &text, &len)) {
		r->summary.profile = arena_strndup(r->events.arena, text, len);
		r->summary.profile_bytes = len;
		free(text);
	}
	if (r->profile_folder)
		os_remove_tree(r->profile_folder);
}

/* ---- the run ---- */

static int32_t lib_build_end(struct run *r, enum tri_build_code code, const char *message)
{
	r->summary.code = (int32_t)code;
	r->summary.message = message;
	return (int32_t)code;
}

static const char *first_line(struct run *r, const char *text) { return arena_strndup(r->events.arena, text, strcspn(text, "\n")); }

/* The process ignores a cancel that comes before a request, so none is sent after one. False: cancelled, or errno. */
static bool send_request(const struct run *r, bool *cancelled)
{
	tri_builder *b = r->builder;
	pthread_mutex_lock(&b->lock);
	*cancelled = b->cancelled;
	bool ok = !*cancelled && builder_process_send(&b->process, r->request.at, r->request.len);
	pthread_mutex_unlock(&b->lock);
	return ok;
}

static int32_t end_with_status(struct run *r, int32_t status)
{
	const char *why = r->events.first_error;
	switch (status) {
	case STATUS_OK: return lib_build_end(r, TRI_BUILD_OK, "");
	case STATUS_FAILED: return lib_build_end(r, TRI_BUILD_FAILED, why ? why : "warnings are denied");
	case STATUS_USAGE: return lib_build_end(r, TRI_BUILD_USAGE, why ? why : "a value of the options is not valid");
	case STATUS_INTERRUPTED: return lib_build_end(r, TRI_BUILD_CANCELLED, "the build was cancelled");
	default: return lib_build_end(r, TRI_BUILD_ENVIRONMENT, why ? why : "the build failed");
	}
}

/* The process has gone. The next run starts another. */
static int32_t end_without_process(struct run *r)
{
	tri_builder *b = r->builder;
	const char *said = first_line(r, builder_process_messages(&b->process, r->events.arena));
	pthread_mutex_lock(&b->lock);
	builder_process_stop(&b->process);
	bool cancelled = b->cancelled;
	pthread_mutex_unlock(&b->lock);
	if (cancelled)
		return end_with_status(r, STATUS_INTERRUPTED);
	return lib_build_end(r, TRI_BUILD_ENVIRONMENT,
			     arena_printf(r->events.arena, "the process that builds has ended%s%s", *said ? ": " : "", said));
}

/* A process that meets a damaged store starts again without it, and gets the request again. */
static int32_t converse(struct run *r)
{
	const char *line;
	size_t len;
	int32_t status;
	bool cancelled;
	for (int starts = 0; starts < MOST_STARTS; starts++) {
		enum build_event event = EVENT_OTHER;
		bool sent = send_request(r, &cancelled);
		if (cancelled)
			return end_with_status(r, STATUS_INTERRUPTED);
		if (!sent && errno == EMSGSIZE)
			return lib_build_end(r, TRI_BUILD_USAGE, "the options are too long");
		while (event == EVENT_OTHER && builder_process_read(&r->builder->process, &line, &len))
			event = build_events_take(&r->events, line, len, &status);
		if (event == EVENT_ENDED)
			return end_with_status(r, status);
		if (event == EVENT_OTHER)
			break;
	}
	return end_without_process(r);
}

/* Starts a process unless there is a usable one. */
static bool start_process(tri_builder *b, struct arena *a, const char **error)
{
	if (builder_process_is_usable(&b->process))
		return true;
	pthread_mutex_lock(&b->lock);
	builder_process_stop(&b->process);
	bool ok = builder_process_start(&b->process, a, b->folder, error);
	pthread_mutex_unlock(&b->lock);
	return ok;
}

static int32_t lib_build_run(struct run *r)
{
	const char *wrong = build_request_check(&r->options, r->events.arena), *error;
	if (wrong)
		return lib_build_end(r, TRI_BUILD_USAGE, wrong);
	if (!build_choose_profile(r))
		return lib_build_end(r, TRI_BUILD_ENVIRONMENT,
				     arena_printf(r->events.arena, "cannot make a folder in /tmp: %s", strerror(errno)));
	build_request_put(&r->options, r->profile_path, &r->request);
	bool ok = start_process(r->builder, r->events.arena, &error);
	int32_t code = ok ? converse(r) : lib_build_end(r, TRI_BUILD_ENVIRONMENT, error);
	take_profile(r);
	return code;
}

/* Reads a struct of any version of the header. */
static bool build_read_options(tri_build_options *out, const tri_build_options *opt)
{
	*out = (tri_build_options){.size = sizeof *out};
	if (!opt)
		return true;
	if (opt->size < sizeof opt->size)
		return false;
	memcpy(out, opt, opt->size < sizeof *out ? opt->size : sizeof *out);
	return true;
}

static void write_summary(tri_build_summary *out, const tri_build_summary *from)
{
	if (!out)
		return;
	uint32_t size = out->size;
	memcpy(out, from, size < sizeof *from ? size : sizeof *from);
	out->size = size;
}

static bool lib_build_begin(tri_builder *b)
{
	pthread_mutex_lock(&b->lock);
	bool ok = !b->busy;
	b->busy = true;
	b->cancelled = ok ? false : b->cancelled;
	pthread_mutex_unlock(&b->lock);
	return ok;
}

EXPORTED int32_t tri_builder_run(tri_builder *b, const tri_build_options *opt, tri_build_summary *out)
{
	struct run r = {.builder = b, .summary = {.size = sizeof r.summary, .message = ""}};
	int32_t code;
	if (!b || !lib_build_begin(b)) {
		code = b ? lib_build_end(&r, TRI_BUILD_BUSY, "this builder is building already")
			 : lib_build_end(&r, TRI_BUILD_USAGE, "the builder is NULL");
		write_summary(out, &r.summary);
		return code;
	}
	arena_free(b->results);
	b->results = arena_new(0);
	r.events = (struct build_events){.arena = b->results, .options = &r.options, .summary = &r.summary};
	code = build_read_options(&r.options, opt) ? lib_build_run(&r)
						   : lib_build_end(&r, TRI_BUILD_USAGE, "`size` of the options is not set");
	buf_free(&r.request);
	write_summary(out, &r.summary);
	pthread_mutex_lock(&b->lock);
	b->busy = false;
	pthread_mutex_unlock(&b->lock);
	return code;
}

EXPORTED void tri_builder_cancel(tri_builder *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	if (b->busy && !b->cancelled && b->process.requests >= 0)
		builder_process_send(&b->process, "c", 1);
	b->cancelled |= b->busy;
	pthread_mutex_unlock(&b->lock);
}

/* ---- opening and closing ---- */

static void build_say(tri_error *err, enum tri_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void build_say(tri_error *err, enum tri_code code, const char *format, ...)
{
	va_list args;
	if (!err)
		return;
	err->code = (int32_t)code;
	va_start(args, format);
	vsnprintf(err->message, sizeof err->message, format, args);
	va_end(args);
}

static bool is_project(struct arena *a, const char *folder, tri_error *err)
{
	if (!folder)
		build_say(err, TRI_ERR_ARGUMENT, "`folder` is NULL");
	else if (getauxval(AT_SECURE)) /* a project can name programs to run and files to write */
		build_say(err, TRI_ERR_COMPILE, "a process with raised privileges (setuid) builds no project");
	else if (access(folder, X_OK) != 0)
		build_say(err, TRI_ERR_ARGUMENT, "cannot open `%s`: %s", folder, strerror(errno));
	else if (access(path_join(a, folder, "tri.build"), R_OK) != 0)
		build_say(err, TRI_ERR_ARGUMENT, "there is no tri.build in `%s`, or it cannot be read", folder);
	else
		return true;
	return false;
}

/* With a process. NULL: *err. */
static tri_builder *open_builder(struct arena *a, const char *folder, tri_error *err)
{
	const char *error;
	tri_builder *b = alloc_zeroed(sizeof *b);
	*b = (tri_builder){.folder = realpath(folder, NULL), .process = NO_BUILDER_PROCESS};
	pthread_mutex_init(&b->lock, NULL);
	if (!b->folder)
		build_say(err, TRI_ERR_ARGUMENT, "cannot open `%s`: %s", folder, strerror(errno));
	else if (start_process(b, a, &error))
		return b;
	else
		build_say(err, TRI_ERR_COMPILE, "%s", error);
	tri_builder_close(b);
	return NULL;
}

EXPORTED tri_builder *tri_builder_open(const char *folder, tri_error *err)
{
	struct arena *a = arena_new(0);
	tri_builder *b = is_project(a, folder, err) ? open_builder(a, folder, err) : NULL;
	arena_free(a);
	return b;
}

EXPORTED void tri_builder_close(tri_builder *b)
{
	if (!b)
		return;
	builder_process_stop(&b->process);
	arena_free(b->results);
	pthread_mutex_destroy(&b->lock);
	free(b->folder);
	free(b);
}
