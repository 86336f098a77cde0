#include "builder/cli/locate.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/path.h"
#include "builder/cli/args.h"
#include "builder/manifest/single_file.h"

#define MANIFEST "tri.build"

/* PROJECT, the default: works on the project around the current folder. FILES: only without operands. HERE: never. */
enum place { PLACE_PROJECT, PLACE_FILES, PLACE_HERE };
static const enum place places[COMMAND_COUNT] = {
	[COMMAND_CHECK] = PLACE_FILES, [COMMAND_FMT] = PLACE_FILES,    [COMMAND_NEW] = PLACE_HERE,     [COMMAND_INIT] = PLACE_HERE,
	[COMMAND_LSP] = PLACE_HERE,    [COMMAND_DEVICES] = PLACE_HERE, [COMMAND_VERSION] = PLACE_HERE,
};

static bool works_on_project(const struct args *args)
{
	enum place p = places[args->command];
	if (args->command == COMMAND_BUILD && single_file_requested(&args->options))
		return false;
	return p == PLACE_PROJECT || (p == PLACE_FILES && !args->options.n_models);
}

/* In a folder that users share, as /tmp is, a manifest of somebody else is not ours. */
static bool is_trusted(struct arena *a, const char *folder)
{
	struct stat dir, manifest;
	if (stat(folder, &dir) != 0 || stat(path_join(a, folder, MANIFEST), &manifest) != 0)
		return false;
	bool shared = (dir.st_mode & S_ISVTX) && (dir.st_mode & S_IWOTH);
	return S_ISREG(manifest.st_mode) && (!shared || manifest.st_uid == geteuid());
}

/* The nearest folder above `from` with a manifest; NULL: there is none. */
static const char *project_above(struct arena *a, const char *from)
{
	const char *dir = from;
	while (dir[0] == '/' && dir[1]) {
		dir = path_dir(a, dir);
		if (is_trusted(a, dir))
			return dir;
	}
	return NULL;
}

static bool looks_like_path(const char *word)
{
	size_t n = strlen(word);
	return strchr(word, '/') || (n > 3 && strcmp(word + n - 3, ".so") == 0) || (n > 4 && strcmp(word + n - 4, ".tri") == 0);
}

static bool rebase_operands(struct arena *a, struct options *o, const char *from)
{
	const char **list = ARENA_ARRAY(a, const char *, o->n_models + 1);
	bool any = false;
	for (uint32_t i = 0; i < o->n_models; i++) {
		bool path = looks_like_path(o->models[i]);
		list[i] = path ? path_normal(a, path_join(a, from, o->models[i])) : o->models[i];
		any |= path;
	}
	if (o->n_models)
		o->models = list;
	return any;
}

static void move_up(struct arena *a, struct args *args)
{
	char *here = getcwd(NULL, 0);
	const char *root = here ? project_above(a, here) : NULL;
	if (!root || chdir(root) != 0) {
		free(here);
		return; /* the command tells that there is no manifest */
	}
	const char *from = path_normal(a, here + (root[1] ? strlen(root) + 1 : 1));
	free(here);
	bool operands = args->command != COMMAND_CONFIG && rebase_operands(a, &args->options, from);
	args->options.moved = args_rebase(a, args, from) || operands;
}

bool locate(struct arena *a, struct args *args)
{
	const char *directory = args->options.directory;
	if (directory && chdir(directory) != 0) {
		fprintf(stderr, "trib: cannot work in `%s`: %s\n", directory, strerror(errno));
		return false;
	}
	if (works_on_project(args) && access(MANIFEST, F_OK) != 0)
		move_up(a, args);
	return true;
}
