#include "base/arena.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/build.h"
#include "builder/build/model/model.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/cache/config.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/cli/project.h"
#include "builder/manifest/single_file.h"
#include "builder/query/affected.h"
#include "builder/serve/client.h"

static void print_unaffected(const char *const *names, uint32_t n, const struct options *o)
{
	print(stdout, "not affected since %s:", o->since);
	for (uint32_t i = 0; i < n; i++)
		print(stdout, "%s %s", i ? "," : "", names[i]);
	print(stdout, "\n");
}

/* Builds the models that changed, and lists the others. */
static enum status build_since(const struct options *o)
{
	struct since s;
	struct options some = *o;
	enum status status = since_open(&s, o, stderr);
	if (status == STATUS_OK) {
		const char **models = ARENA_ARRAY(s.arena, const char *, s.affected->n_models + 1);
		const char **unaffected = ARENA_ARRAY(s.arena, const char *, s.affected->n_models + 1);
		uint32_t n = 0, n_out = 0;
		for (uint32_t i = 0; i < s.affected->n_models; i++) {
			const struct affected_model *m = &s.affected->models[i];
			if (!since_wants(o, m->name))
				continue;
			if (m->n_why)
				models[n++] = m->name;
			else
				unaffected[n_out++] = m->name;
		}
		some.operands = models;
		some.n_operands = n;
		if (o->json > 0)
			since_print_json(&s, o, stdout);
		else if (n_out)
			print_unaffected(unaffected, n_out, o);
		if (!n && o->json <= 0)
			print(stdout, "trib: nothing to build\n");
		if (n)
			status = build_run(&some, stdout, stderr);
	}
	since_close(&s);
	return status;
}

/* True if the settings allow a server. The build has reported errors in them. */
static bool server_is_enabled(const struct options *o)
{
	struct arena *a = arena_new(0);
	struct cache_config c;
	bool wanted = project_cache_config(a, o, &c) == STATUS_OK && c.at[SETTING_SERVER].number;
	arena_free(a);
	return wanted;
}

static bool ask_server(void *client, int lock, enum status *s) { return client_build(client, lock, s); }

/* Builds in the project's build server if there is one. If this process had to load the code generator itself, starts a server for the
 * next build. */
static enum status build_build(const struct options *o)
{
	struct client client = {.argv = o->argv, .presence = SERVER_PRESENT};
	struct session session = {0};
	if (client_can_use_server(o)) {
		session.elsewhere = ask_server;
		session.ctx = &client;
	}
	enum status s = build_run_in(&session, o, stdout, stderr);
	bool start = !single_file_requested(o) && session.generators && client.presence == SERVER_ABSENT && s != STATUS_INTERRUPTED;
	session_free(&session);
	if (start && server_is_enabled(o)) /* a failure has no effect on builds */
		client_start_server(o->jobs);
	return s;
}

/* A given flag that is only for FILE.tri; NULL if there is none. */
static const char *flag_of_file(const struct options *o)
{
	return o->entry ? "--entry" : o->weights ? "--weights" : o->n_inputs ? "--input" : NULL;
}

/* An operand that is a file but not the only one, or not a FILE.tri; NULL if there is none. */
static const char *stray_file(const struct options *o)
{
	struct file_stamp st;
	for (uint32_t i = 0; i < o->n_operands && !single_file_requested(o); i++)
		if (single_file_requested(&(struct options){.operands = &o->operands[i], .n_operands = 1}) ||
		    (!os_stamp("tri.build", &st) && os_stamp(o->operands[i], &st)))
			return o->operands[i];
	return NULL;
}

enum status cmd_build(const struct options *o)
{
	const char *flag = flag_of_file(o);
	const char *stray = stray_file(o);
	bool file = single_file_requested(o);
	if (stray)
		return fail_usage(o->n_operands > 1 ? "`trib build` takes one FILE.tri alone, or models of a project, but not also `%s`"
						    : "`trib build` takes a FILE.tri: the name of `%s` does not end in `.tri`",
				  stray);
	if (flag && !file)
		return fail_usage("`trib build` takes %s only with a FILE.tri; for a project, set it in tri.build", flag);
	if (file && o->since)
		return fail_usage("`trib build --since` takes models of a project, not a file");
	return o->since ? build_since(o) : build_build(o);
}
