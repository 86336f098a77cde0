#include "builder/manifest/glob.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"
#include "builder/manifest/glob_part.h"

enum { MAX_DEPTH = 64 };

typedef VEC(const char *) path_vec;

bool glob_is_pattern(const char *text) { return strpbrk(text, "*?[") != NULL; }

static bool is_folder(const char *path, bool *file)
{
	struct stat st;
	*file = false;
	if (stat(path, &st) != 0)
		return false;
	*file = S_ISREG(st.st_mode);
	return S_ISDIR(st.st_mode);
}

struct walk {
	struct arena *a;
	path_vec found;
	glob_visitor *visit; /* may be NULL */
	void *ctx;
	struct map
		seen; /* folders with the rest of the pattern that was matched below them: several `**` lead to the same one by many ways */
};

static bool is_new(struct walk *w, const char *dir, const char *rest)
{
	hash128 key = hash_combine(hash_bytes(dir, strlen(dir)), hash_bytes(rest, strlen(rest)));
	return map_put(&w->seen, key, 1);
}

/* Matches the components from `rest` on below `dir`. */
static void walk(struct walk *w, const char *dir, const char *rest, int depth)
{
	struct arena *a = w->a;
	path_vec *out = &w->found;
	size_t len = strcspn(rest, "/");
	const char *part = arena_strndup(a, rest, len), *after = rest + len;
	bool file, deep = strcmp(part, "**") == 0;
	if (!is_new(w, dir, rest))
		return;
	while (*after == '/')
		after++;
	if (w->visit)
		w->visit(w->ctx, *dir ? dir : ".", part, !*after);
	if (!glob_is_pattern(part)) {
		const char *path = path_join(a, dir, part);
		bool folder = is_folder(path, &file);
		if (*after ? folder : file) {
			if (*after)
				walk(w, path, after, depth);
			else
				vec_push(out, path);
		}
		return;
	}
	if (deep && *after)
		walk(w, dir, after, depth);
	DIR *d = depth < MAX_DEPTH ? opendir(*dir ? dir : ".") : NULL;
	for (struct dirent *e; d && (e = readdir(d));) {
		if (!glob_part_matches(deep ? "*" : part, e->d_name))
			continue;
		const char *path = path_join(a, dir, e->d_name);
		if (!*after && !deep && e->d_type == DT_REG) {
			vec_push(out, path);
			continue;
		}
		bool folder = is_folder(path, &file);
		if (deep && folder && e->d_type != DT_LNK)
			walk(w, path, rest, depth + 1);
		else if (folder && *after && !deep)
			walk(w, path, after, depth + 1);
		else if (file && !*after)
			vec_push(out, path);
	}
	if (d)
		closedir(d);
}

/* One component of a pattern against one of a path. */
static bool part_matches(const char *pattern, size_t n, const char *name, size_t len)
{
	char p[256], s[256];
	if (n >= sizeof p || len >= sizeof s)
		return false;
	memcpy(p, pattern, n);
	memcpy(s, name, len);
	p[n] = s[len] = 0;
	return glob_part_matches(p, s);
}

static bool has_hidden_part(const char *path)
{
	for (const char *s = path; *s; s += strcspn(s, "/"), s += *s == '/')
		if (*s == '.')
			return true;
	return false;
}

bool glob_matches(const char *pattern, const char *path)
{
	const char *again = NULL, *from = NULL; /* the last `**`, and what it was tried to end before */
	for (;;) {
		size_t n = strcspn(pattern, "/"), len = strcspn(path, "/");
		bool deep = n == 2 && pattern[0] == '*' && pattern[1] == '*', last = !pattern[n];
		if (deep && last)
			return !has_hidden_part(path);
		if (deep) {
			again = pattern += n + strspn(pattern + n, "/");
			from = path;
			continue;
		}
		if (part_matches(pattern, n, path, len) && (!path[len]) == last) {
			if (last)
				return true;
			pattern += n + strspn(pattern + n, "/");
			path += len + 1;
			continue;
		}
		len = again ? strcspn(from, "/") : 0;
		if (!again || !from[len] || *from == '.')
			return false;
		path = from += len + 1;
		pattern = again;
	}
}

static int by_text(const void *x, const void *y) { return strcmp(*(const char *const *)x, *(const char *const *)y); }

static void start(struct walk *w, const char *dir, const char *pattern)
{
	const char *rest = pattern + strspn(pattern, "/");
	walk(w, *pattern == '/' ? "/" : dir, rest, 0);
}

void glob_visit(struct arena *a, const char *pattern, glob_visitor *visit, void *ctx)
{
	struct walk w = {.a = a, .visit = visit, .ctx = ctx};
	start(&w, "", pattern);
	vec_free(&w.found);
	map_free(&w.seen);
}

const char *const *glob_expand(struct arena *a, const char *pattern, uint32_t *n) { return glob_expand_in(a, "", pattern, n); }

const char *const *glob_expand_in(struct arena *a, const char *dir, const char *pattern, uint32_t *n)
{
	struct walk w = {.a = a};
	start(&w, dir, pattern);
	if (w.found.len)
		qsort(w.found.at, w.found.len, sizeof *w.found.at, by_text);
	const char **list = ARENA_ARRAY(a, const char *, w.found.len + 1);
	*n = 0;
	for (uint32_t i = 0; i < w.found.len; i++)
		if (i == 0 || strcmp(w.found.at[i], w.found.at[i - 1]) != 0)
			list[(*n)++] = path_normal(a, w.found.at[i]);
	vec_free(&w.found);
	map_free(&w.seen);
	return list;
}

const char *glob_folder(struct arena *a, const char *pattern)
{
	const char *dir = path_dir(a, pattern);
	return glob_is_pattern(dir) ? NULL : dir;
}
