/* Builds several times in one process, which retains state between builds, like `trib watch`. `warm FLAG…` accepts the flags of `trib
 * build` and builds once for each line it reads. The output of a build ends with a line "done STATUS". */
#include <stdio.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/build/session/fragments.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/session/warm.h"
#include "builder/build/started_build.h"
#include "builder/cli/args.h"

int main(int argc, char **argv)
{
	struct arena *a = arena_new(0);
	struct buf error = {0};
	struct args args;
	if (!args_parse(a, argc, argv, &args, &error))
		return fprintf(stderr, "%s\n", error.at), 2;
	struct session session = {.fragments = fragments_new(), .warm = warm_new()};
	for (char line[8]; fgets(line, sizeof line, stdin);) {
		struct build *b = build_start(&session, &args.options);
		enum status s = b->status;
		build_end(b);
		printf("done %d\n", (int)s);
		fflush(stdout);
	}
	session_free(&session);
	arena_free(a);
	return 0;
}
