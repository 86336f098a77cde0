#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/print.h"
#include "builder/cli/args.h"
#include "builder/cli/flags.h"
#include "builder/manifest/single_file.h"
#include "builder/run/run_input.h"

#define MANIFEST "tri.build"

static bool works_on_project(const struct args *args)
{
	enum works_in w = command_table[args->command].works_in;
	if (args->command == COMMAND_BUILD && single_file_requested(&args->options))
		return false;
	if (args->command == COMMAND_DEVICES && args->options.kernels)
		return true;
	return w == WORKS_IN_PROJECT || (w == WORKS_IN_FILES && !args->options.n_operands);
}

/* In a folder shared by users, such as /tmp, only a manifest of this user is trusted. */
static bool is_trusted(struct arena *a, const char *folder)
{
	struct stat dir, manifest;
	if (stat(folder, &dir) != 0 || stat(path_join(a, folder, MANIFEST), &manifest) != 0)
		return false;
	bool shared = (dir.st_mode & S_ISVTX) && (dir.st_mode & S_IWOTH);
	return S_ISREG(manifest.st_mode) && (!shared || manifest.st_uid == geteuid());
}

/* The nearest folder above `from` with a manifest; NULL if there is none. */
static const char *locate_project_above(struct arena *a, const char *from)
{
	const char *dir = from;
	while (dir[0] == '/' && dir[1]) {
		dir = path_dir(a, dir);
		if (is_trusted(a, dir))
			return dir;
	}
	return NULL;
}

static bool rebase_operands(struct arena *a, struct options *o, const char *from)
{
	const char **list = ARENA_ARRAY(a, const char *, o->n_operands + 1);
	bool any = false;
	for (uint32_t i = 0; i < o->n_operands; i++) {
		bool path = strchr(o->operands[i], '/') || path_has_extension(o->operands[i], "so") ||
			    path_has_extension(o->operands[i], "tri") || path_has_extension(o->operands[i], "json");
		list[i] = path ? path_normal(a, path_join(a, from, o->operands[i])) : o->operands[i];
		any |= path;
	}
	if (o->n_operands)
		o->operands = list;
	return any;
}

/* False for generated values, such as `random`. */
static bool locate_is_file(const char *value)
{
	struct buf error = {0};
	struct run_source source;
	bool file = run_source_parse(value, &source, &error) && source.kind == SOURCE_FILE;
	buf_free(&error);
	return file;
}

/* Rebases the files of a list of "x=FILE". */
static bool rebase_files(struct arena *a, const char *const **list, uint32_t n, const char *from)
{
	const char **out = ARENA_ARRAY(a, const char *, n + 1);
	bool any = false;
	for (uint32_t i = 0; i < n; i++) {
		const char *word = (*list)[i], *eq = strchr(word, '=');
		out[i] = word;
		if (eq && locate_is_file(eq + 1)) {
			const char *path = path_normal(a, path_join(a, from, eq + 1));
			out[i] = arena_printf(a, "%.*s=%s%s", (int)(eq - word), word, locate_is_file(path) ? "" : "./", path);
			any = true;
		}
	}
	*list = out;
	return any;
}

/* Joins relative paths of the command's flags to `from`. True if there was one. */
static bool rebase_flags(struct arena *a, struct args *args, const char *from)
{
	struct options *o = &args->options;
	bool any = rebase_files(a, &o->inputs, o->n_inputs, from);
	any |= rebase_files(a, &o->run.outputs, o->run.n_outputs, from);
	for (uint32_t i = 0; i < N_FLAGS; i++) {
		const struct flag *f = &flag_table[i];
		if ((f->kind != FLAG_PATH && f->kind != FLAG_PROGRAM) || !flag_is_of(f, args->command, (enum action)o->action))
			continue; /* commands share members */
		const char **value = (const char **)(void *)((char *)o + f->member);
		if (!*value || **value == '/' || (f->kind == FLAG_PROGRAM && !strchr(*value, '/')))
			continue;
		*value = path_normal(a, path_join(a, from, *value));
		any = true;
	}
	return any;
}

static void locate_move_up(struct arena *a, struct args *args)
{
	char *here = getcwd(NULL, 0);
	const char *root = here ? locate_project_above(a, here) : NULL;
	if (!root || chdir(root) != 0) {
		free(here);
		return; /* the command reports the missing manifest */
	}
	const char *from = path_normal(a, here + (root[1] ? strlen(root) + 1 : 1));
	free(here);
	bool operands = args->command != COMMAND_CONFIG && rebase_operands(a, &args->options, from);
	args->options.moved = rebase_flags(a, args, from) || operands;
}

bool change_to_project(struct arena *a, struct args *args)
{
	const char *directory = args->options.directory;
	if (directory && chdir(directory) != 0) {
		print(stderr, "trib: cannot work in `%s`: %s\n", directory, strerror(errno));
		return false;
	}
	if (works_on_project(args) && access(MANIFEST, F_OK) != 0)
		locate_move_up(a, args);
	return true;
}
