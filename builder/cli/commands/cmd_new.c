#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/cli/project.h"
#include "builder/cli/print.h"

/* "mynet" of "mynet/" */
static const char *without_slashes(struct arena *a, const char *dir)
{
	size_t n = strlen(dir);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	return arena_strndup(a, dir, n);
}

enum status cmd_new(const struct options *o)
{
	struct stat st;
	const char *why;
	if (o->n_operands != 1)
		return fail_usage("`trib new` needs a name for the project and its folder");
	struct arena *a = arena_new(0);
	const char *dir = without_slashes(a, o->operands[0]), *name = path_base(dir), *id = project_identifier(a, name, &why);
	enum status s = STATUS_OK;
	if (!id)
		s = fail_usage("`%s` cannot be the name of a project: %s", name, why);
	else if (lstat(dir, &st) == 0)
		s = fail_usage("`%s` already exists; `trib init %s` creates a project in an existing folder", dir, dir);
	else if (!os_mkdirs(dir) || chdir(dir) != 0)
		s = fail_environment("cannot create `%s`: %s", dir, strerror(errno));
	else if ((s = project_write(a, name, id, o)) == STATUS_OK && !o->quiet)
		print(stdout, "created project %s; try `cd %s && trib run`, or `trib test`\n", name, dir);
	arena_free(a);
	return s;
}
