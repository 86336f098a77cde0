/* bench-check-run OTHER run MODEL [FLAG]…: builds the model of the project in the folder OTHER as `trib bench` does, and compares it with the sources of
 * this project: so the check of `trib bench` sees wrong code. Prints the report; the exit code is that of the check. */
#include <stdio.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/build/build.h"
#include "builder/build/session/status.h"
#include "builder/cli/args.h"
#include "builder/manifest/options.h"
#include "builder/run/bench_check.h"

struct other {
	struct arena *arena;
	const struct options *options;
	const char *folder;
};

/* A bench_build. */
static const char *build_other(void *ctx, uint32_t unit_entries, enum status *s)
{
	const struct other *o = ctx;
	struct options build = *o->options;
	char here[4096];
	build.emit = "library";
	build.out = unit_entries ? "units" : "whole";
	build.unit_entries = unit_entries;
	build.action = 0;
	build.quiet = true;
	*s = STATUS_ENVIRONMENT;
	if (!getcwd(here, sizeof here) || chdir(o->folder) != 0)
		return NULL;
	*s = build_run(&build, stderr, stderr);
	if (chdir(here) != 0 || *s != STATUS_OK)
		return NULL;
	return arena_printf(o->arena, "%s/%s/lib%s.so", o->folder, build.out, build.operands[0]);
}

static enum status check(struct arena *a, int argc, char **argv)
{
	struct args args;
	struct buf report = {0};
	enum status s = STATUS_USAGE;
	if (argc < 4 || !args_parse(a, argc - 1, argv + 1, &args, &report)) {
		fprintf(stderr, "usage: bench-check-run OTHER run MODEL [FLAG]…\n%s\n", report.at ? report.at : "");
	} else {
		struct other other = {a, &args.options, argv[1]};
		const char *library = build_other(&other, 0, &s);
		s = library ? bench_check(a, &args.options, library, build_other, &other, &report) : s;
		puts(report.at ? report.at : "");
	}
	buf_free(&report);
	return s;
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new(0);
	enum status s = check(a, argc, argv);
	arena_free(a);
	return (int)s;
}
