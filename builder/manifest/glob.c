#include "builder/manifest/glob.h"
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"

enum { MAX_DEPTH = 64 };

typedef VEC(const char *) path_vec;

/* ---- one component ---- */

/* Returns the length of the element at `p`: a character, `\x`, or a bracket expression. */
static size_t element_length(const char *p)
{
	if (*p == '\\' && p[1])
		return 2;
	if (*p != '[')
		return 1;
	size_t n = 1 + (p[1] == '!' || p[1] == '^');
	n += p[n] == ']';
	for (; p[n] && p[n] != ']'; n++)
		if (p[n] == '[' && (p[n + 1] == ':' || p[n + 1] == '.' || p[n + 1] == '=')) {
			const char end[] = {p[n + 1], ']', 0}, *close = strstr(p + n + 2, end);
			n = close ? (size_t)(close - p) + 1 : n;
		}
	return p[n] ? n + 1 : 1; /* an unclosed `[` is a character */
}

static bool matches_one(const char *p, size_t n, char c)
{
	char bracket[256];
	const char text[] = {c, 0};
	if (*p == '?')
		return true;
	if (n == 1)
		return *p == c;
	if (*p == '\\')
		return p[1] == c;
	if (n >= sizeof bracket)
		return false;
	memcpy(bracket, p, n);
	bracket[n] = 0;
	return fnmatch(bracket, text, 0) == 0;
}

/* Matches one component of a pattern: `*`, `?`, `[…]` and `\x`. A leading `.` matches only a `.`. Its time is at most the product of the
 * lengths; that of fnmatch is exponential. */
static bool part_matches(const char *p, const char *s)
{
	const char *again = NULL, *from = NULL; /* after the last `*`, and where its match ended */
	if (*s == '.' && *p != '.' && !(*p == '\\' && p[1] == '.'))
		return false;
	while (*s) {
		size_t n = *p ? element_length(p) : 0;
		if (*p == '*') {
			again = ++p;
			from = s;
		} else if (*p && matches_one(p, n, *s)) {
			p += n;
			s++;
		} else if (again) { /* it is enough to extend the last `*` */
			p = again;
			s = ++from;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}

/* ---- files on disk ---- */

bool glob_is_pattern(const char *text) { return strpbrk(text, "*?[") != NULL; }

static bool glob_is_folder(const char *path, bool *file)
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
	struct map seen; /* folders with the rest of the pattern: several `**` reach a folder many times */
};

static bool is_new(struct walk *w, const char *dir, const char *rest)
{
	hash128 key = hash_combine(hash_bytes(dir, strlen(dir)), hash_bytes(rest, strlen(rest)));
	return map_put(&w->seen, key, 1);
}

/* Finds the files below `dir` that match the components of `rest`. */
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
		bool folder = glob_is_folder(path, &file);
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
		if (!part_matches(deep ? "*" : part, e->d_name))
			continue;
		const char *path = path_join(a, dir, e->d_name);
		if (!*after && !deep && e->d_type == DT_REG) {
			vec_push(out, path);
			continue;
		}
		bool folder = glob_is_folder(path, &file);
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

/* ---- paths that need not exist ---- */

static bool component_matches(const char *pattern, size_t n, const char *name, size_t len)
{
	char p[256], s[256];
	if (n >= sizeof p || len >= sizeof s)
		return false;
	memcpy(p, pattern, n);
	memcpy(s, name, len);
	p[n] = s[len] = 0;
	return part_matches(p, s);
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
	const char *again = NULL, *from = NULL; /* after the last `**`, and where its match ended */
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
		if (component_matches(pattern, n, path, len) && (!path[len]) == last) {
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

static int glob_by_text(const void *x, const void *y) { return strcmp(*(const char *const *)x, *(const char *const *)y); }

static void walk_pattern(struct walk *w, const char *dir, const char *pattern)
{
	const char *rest = pattern + strspn(pattern, "/");
	walk(w, *pattern == '/' ? "/" : dir, rest, 0);
}

void glob_visit(struct arena *a, const char *pattern, glob_visitor *visit, void *ctx)
{
	struct walk w = {.a = a, .visit = visit, .ctx = ctx};
	walk_pattern(&w, "", pattern);
	vec_free(&w.found);
	map_free(&w.seen);
}

const char *const *glob_expand(struct arena *a, const char *pattern, uint32_t *n) { return glob_expand_in(a, "", pattern, n); }

const char *const *glob_expand_in(struct arena *a, const char *dir, const char *pattern, uint32_t *n)
{
	struct walk w = {.a = a};
	walk_pattern(&w, dir, pattern);
	if (w.found.len)
		qsort(w.found.at, w.found.len, sizeof *w.found.at, glob_by_text);
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
