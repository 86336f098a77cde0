#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/cli/project.h"
#include "builder/cli/print.h"

static enum status init(struct arena *a, const struct options *o)
{
	struct file_stamp there;
	const char *why;
	char *here = getcwd(NULL, 0);
	if (!here)
		return fail_environment("cannot find the current folder: %s", strerror(errno));
	const char *name = path_base(arena_strdup(a, here)), *id = project_identifier(a, name, &why);
	free(here);
	if (os_stamp("tri.build", &there))
		return fail_usage("this folder already has a tri.build");
	if (!id)
		return fail_usage("`%s` cannot be the name of a project: %s; `trib new NAME` creates one in a new folder", name, why);
	enum status s = project_write(a, name, id, o);
	if (s == STATUS_OK && !o->quiet)
		print(stdout, "created project %s here; try `trib build`\n", name);
	return s;
}

enum status cmd_init(const struct options *o)
{
	struct file_stamp there;
	if (o->n_operands && !os_stamp(o->operands[0], &there) && errno == ENOENT)
		return fail_environment("there is no folder `%s`; `trib new %s` creates one", o->operands[0], o->operands[0]);
	if (o->n_operands && chdir(o->operands[0]) != 0)
		return fail_environment("cannot work in `%s`: %s", o->operands[0], strerror(errno));
	struct arena *a = arena_new(0);
	enum status s = init(a, o);
	arena_free(a);
	return s;
}
