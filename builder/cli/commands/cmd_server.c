/* trib server: the project's build server. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/print.h"
#include "builder/cache/config.h"
#include "builder/cli/args.h"
#include "builder/cli/print.h"
#include "builder/cli/project.h"
#include "builder/serve/client.h"
#include "builder/serve/embedded.h"
#include "builder/serve/server.h"

#define SECOND_NS INT64_C(1000000000)

static bool no_server_runs(void) { return errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR; }

static enum status no_answer(void)
{
	return fail_environment("the server does not answer (%s): it is building or stopped; `trib build` works without it",
				strerror(errno ? errno : EPIPE));
}

static enum status print_status(void)
{
	struct server_state s;
	char size[32];
	if (!client_state(&s)) {
		if (!no_server_runs())
			return no_answer();
		print(stdout, "trib: no server runs in this project\n");
		return STATUS_OK;
	}
	print(stdout, "pid       %lld%s\nmemory    %s\nbuilds    %llu\nidle      %.0f s of %.0f\n", (long long)s.pid,
	      s.warm ? "" : ", warming up", print_size(s.resident, size), (unsigned long long)s.served, (double)s.idle_ns / 1e9,
	      (double)s.limit_ns / 1e9);
	return STATUS_OK;
}

static enum status server_stop(void)
{
	if (client_stop())
		return STATUS_OK;
	if (!no_server_runs())
		return no_answer();
	print(stdout, "trib: no server runs in this project\n");
	return STATUS_OK;
}

static bool parse_build(struct arena *a, int argc, char **argv, struct options *out)
{
	struct args args;
	struct buf error = {0};
	bool ok = args_parse(a, argc, argv, &args, &error) && args.command == COMMAND_BUILD && !args.options.help && !args.options.version;
	buf_free(&error);
	*out = args.options;
	return ok;
}

static enum status commands_server_run(struct arena *a, const struct options *o)
{
	struct cache_config c;
	struct options all = *o;
	enum status read = project_cache_config(a, o, &c);
	if (read != STATUS_OK)
		return read;
	all.n_operands = 0;
	const struct server_options s = {
		.prepare = &all, .idle_ns = (int64_t)c.at[SETTING_SERVER_IDLE].number * SECOND_NS, .parse = parse_build};
	enum status status = server_run(&s);
	return status == STATUS_OK ? status : fail_environment("this project cannot have a server: %s", strerror(errno));
}

enum status cmd_server(const struct options *o)
{
	if (access("tri.build", F_OK) != 0)
		return fail_usage("there is no tri.build here or in a folder above: a server belongs to a project");
	if (o->action == ACTION_SERVER_STATUS)
		return print_status();
	if (o->action == ACTION_SERVER_START)
		return client_start_server(o->jobs) ? STATUS_OK : fail_environment("cannot start the server: %s", strerror(errno));
	if (o->action == ACTION_SERVER_STOP)
		return server_stop();
	if (o->action == ACTION_SERVER_EMBED)
		return embedded_run(parse_build);
	struct arena *a = arena_new(0);
	enum status s = commands_server_run(a, o);
	arena_free(a);
	return s;
}
