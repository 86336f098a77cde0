#include "base/path.h"
#include <string.h>
#include "base/arena.h"

char *path_join(struct arena *a, const char *dir, const char *name)
{
	size_t n = strlen(dir);

	if (name[0] == '/' || n == 0 || strcmp(dir, ".") == 0)
		return arena_strdup(a, name);
	return arena_printf(a, "%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

char *path_dir(struct arena *a, const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	return n ? arena_strndup(a, path, n) : arena_strdup(a, ".");
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_stem(struct arena *a, const char *path)
{
	const char *base = path_base(path), *dot = strrchr(base, '.');

	return dot && dot != base ? arena_strndup(a, base, (size_t)(dot - base)) : arena_strdup(a, base);
}

bool path_has_extension(const char *path, const char *extension)
{
	const char *dot = strrchr(path, '.');

	return dot && dot != path && strcmp(dot + 1, extension) == 0;
}

static bool is_parent(const char *part, size_t n) { return n == 2 && part[0] == '.' && part[1] == '.'; }

/* Removes the last component of out[0, len) for a "..". False: there is none. */
static bool drop_component(const char *out, size_t root, size_t *len)
{
	size_t n = *len;

	while (n > root && out[n - 1] != '/')
		n--;
	if (*len == root || is_parent(out + n, *len - n))
		return false;
	*len = n > root ? n - 1 : n;
	return true;
}

char *path_normal(struct arena *a, const char *path)
{
	size_t root = path[0] == '/' ? 1 : 0, len = root;
	char *out = arena_alloc(a, strlen(path) + 2, 1);

	memset(out, '/', root);
	while (*path) {
		size_t n = strcspn(path, "/");
		bool here = n == 0 || (n == 1 && path[0] == '.');

		if (is_parent(path, n) && (drop_component(out, root, &len) || root))
			here = true; /* the parent of the root is the root */
		if (!here) {
			if (len > root)
				out[len++] = '/';
			memcpy(out + len, path, n);
			len += n;
		}
		path += n;
		path += strspn(path, "/");
	}
	if (len == 0)
		out[len++] = '.';
	out[len] = '\0';
	return out;
}
