#include "builder/watch/watcher.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"
#include "builder/manifest/glob.h"
#include "builder/store/inputs.h"

struct folder_pattern {
	const char *part;
	bool last;
};
struct folder {
	const char *path;
	VEC(struct folder_pattern) patterns;
};
struct watched_folders {
	struct arena *a;
	VEC(struct folder) folders;
	struct map by_path; /* path → folders index */
	struct map names;   /* folder/name → enum folder_entry */
};

static struct folder *folder_at(struct watched_folders *p, const char *path)
{
	uint64_t at = p->folders.len;
	if (!map_get(&p->by_path, map_key_str(path), &at)) {
		map_put(&p->by_path, map_key_str(path), at);
		vec_push(&p->folders, ((struct folder){.path = arena_strdup(p->a, path)}));
	}
	return &p->folders.at[at];
}

static bool watched_folders_is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static hash128 watched_folders_name_key(struct arena *a, const char *folder, const char *name)
{
	arena_mark_t m = arena_mark(a);
	hash128 key = map_key_str(arena_printf(a, "%s/%s", folder, name));
	arena_release(a, m);
	return key;
}

static void watched_folders_add_name(struct watched_folders *p, const char *folder, const char *name, enum folder_entry entry)
{
	folder_at(p, folder);
	map_put(&p->names, watched_folders_name_key(p->a, folder, name), entry);
}

/* Adds every folder of the path, so that moving one is noticed. Outside the project, only the last one. */
static void add_path(struct watched_folders *p, const char *path)
{
	bool outside = path[0] == '/' || strncmp(path, "../", 3) == 0;
	const char *folder = outside ? path_dir(p->a, path) : ".", *rest = outside ? path_base(path) : path;
	if (outside && !watched_folders_is_folder(folder))
		return;
	for (const char *slash; (slash = strchr(rest, '/')); rest = slash + 1) {
		const char *name = arena_strndup(p->a, rest, (size_t)(slash - rest));
		watched_folders_add_name(p, folder, name, ENTRY_FOLDER);
		folder = strcmp(folder, ".") == 0 ? name : path_join(p->a, folder, name);
		if (!watched_folders_is_folder(folder))
			return;
	}
	watched_folders_add_name(p, folder, rest, ENTRY_FILE);
}

/* The folder of a link has no events for edits of the link's target. */
static void add_target(struct watched_folders *p, const char *path)
{
	struct stat st;
	if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
		return;
	char *target = realpath(path, NULL);
	if (target)
		add_path(p, target);
	free(target);
}

static void watched_folders_add_pattern(void *ctx, const char *folder, const char *part, bool last)
{
	struct watched_folders *p = ctx;
	if (!watched_folders_is_folder(folder))
		return;
	struct folder *f = folder_at(p, folder);
	for (uint32_t i = 0; i < f->patterns.len; i++)
		if (f->patterns.at[i].last == last && strcmp(f->patterns.at[i].part, part) == 0)
			return;
	struct folder_pattern new = {arena_strdup(p->a, strcmp(part, "**") == 0 ? "*" : part), last};
	vec_push(&f->patterns, new);
}

/* A build looks for .git in all folders above. These may be as busy as /tmp and rarely get a .git, so they are not watched. */
static bool is_missing_repository(const struct input *i)
{
	size_t n = strlen(i->path);
	return hash_is_zero(i->content) && strncmp(i->path, "../", 3) == 0 &&
	       (strstr(i->path, ".git/") || (n > 4 && strcmp(i->path + n - 4, ".git") == 0));
}

struct watched_folders *watched_folders_new(const struct input *inputs, uint32_t n)
{
	struct watched_folders *p = alloc_zeroed(sizeof *p);
	p->a = arena_new(0);
	for (uint32_t i = 0; i < n; i++) {
		if (inputs[i].kind == INPUT_PATTERN) {
			glob_visit(p->a, inputs[i].path, watched_folders_add_pattern, p);
			continue;
		}
		if (is_missing_repository(&inputs[i]))
			continue;
		add_path(p, inputs[i].path);
		add_target(p, inputs[i].path);
	}
	return p;
}

void watched_folders_free(struct watched_folders *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->folders.len; i++)
		vec_free(&p->folders.at[i].patterns);
	vec_free(&p->folders);
	map_free(&p->by_path);
	map_free(&p->names);
	arena_free(p->a);
	free(p);
}

uint32_t watched_folders_count(const struct watched_folders *p) { return p->folders.len; }

const char *watched_folder_path(const struct watched_folders *p, uint32_t i) { return p->folders.at[i].path; }

enum folder_entry watched_folder_entry(const struct watched_folders *p, uint32_t folder, const char *name, bool is_folder)
{
	const struct folder *f = &p->folders.at[folder];
	uint64_t entry;
	if (map_get(&p->names, watched_folders_name_key(p->a, f->path, name), &entry))
		return is_folder ? ENTRY_FOLDER : (enum folder_entry)entry;
	for (uint32_t i = 0; i < f->patterns.len; i++)
		if ((f->patterns.at[i].last || is_folder) && fnmatch(f->patterns.at[i].part, name, FNM_PERIOD) == 0)
			return is_folder ? ENTRY_FOLDER : ENTRY_FILE;
	return ENTRY_NONE;
}
