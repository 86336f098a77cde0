#include "builder/profile/workspace.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/path.h"

#define MOST_DEPTH 64

struct copier {
	struct workspace *w;
	const char *root;
	uint32_t most_depth;
	struct buf *error;
};

static bool workspace_fail(struct copier *c, const char *what, const char *path)
{
	buf_printf(c->error, "cannot %s `%s`: %s", what, path, strerror(errno));
	return false;
}

static bool copy_folder(struct copier *c, const char *relative, uint32_t depth);

/* A source, or a setting of the project: builds may edit the copy. */
static bool is_copied(const char *path)
{
	const char *base = path_base(path);
	return path_has_extension(path, "tri") || strcmp(base, "tri.build") == 0 || strcmp(base, "tri.lock") == 0;
}

static bool copy_file(struct copier *c, const char *from, const char *to, const char *relative)
{
	char *data;
	size_t len;
	if (!os_read_file(from, 0, &data, &len))
		return workspace_fail(c, "read", from);
	bool ok = os_write_atomic(to, data, len, 0666, false);
	free(data);
	if (!ok)
		return workspace_fail(c, "write", to);
	if (path_has_extension(relative, "tri"))
		vec_push(&c->w->sources, relative);
	return true;
}

static bool copy_entry(struct copier *c, const char *relative, uint32_t depth)
{
	struct arena *a = c->w->arena;
	const char *from = path_join(a, c->root, relative), *to = path_join(a, c->w->project, relative);
	struct stat st;
	if (stat(from, &st) != 0)
		return true; /* a link to nothing */
	if (S_ISDIR(st.st_mode) && depth < c->most_depth)
		return copy_folder(c, relative, depth + 1);
	if (is_copied(relative))
		return copy_file(c, from, to, relative);
	return symlink(from, to) == 0 || workspace_fail(c, "link", to);
}

static bool copy_folder(struct copier *c, const char *relative, uint32_t depth)
{
	struct arena *a = c->w->arena;
	const char *from = path_join(a, c->root, relative), *to = path_join(a, c->w->project, relative);
	DIR *d = opendir(from);
	bool ok = true;
	if (!d)
		return workspace_fail(c, "read", from);
	if (!os_mkdirs(to))
		ok = workspace_fail(c, "make", to);
	for (struct dirent *e; ok && (e = readdir(d));)
		if (e->d_name[0] != '.')
			ok = copy_entry(c, *relative ? path_join(a, relative, e->d_name) : arena_strdup(a, e->d_name), depth);
	closedir(d);
	return ok;
}

bool workspace_open(struct workspace *w, const char *root, struct buf *error)
{
	const char *temporary = getenv("TMPDIR");
	*w = (struct workspace){.arena = arena_new(0)};
	char *full = realpath(root, NULL),
	     *name = arena_printf(w->arena, "%s/trib-profile-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	bool is_file = full && path_has_extension(full, "tri");
	struct copier c = {w, is_file ? path_dir(w->arena, full) : full, is_file ? 0 : MOST_DEPTH, error};
	w->folder = mkdtemp(name);
	if (!full || !w->folder) {
		buf_printf(error, "cannot make a copy of `%s` in `%s`: %s", root, name, strerror(errno));
		free(full);
		return false;
	}
	w->project = path_join(w->arena, w->folder, "project");
	w->cache = path_join(w->arena, w->folder, "cache");
	bool ok = copy_folder(&c, "", 0);
	free(full);
	return ok;
}

void workspace_close(struct workspace *w)
{
	if (w->folder)
		os_remove_tree(w->folder);
	vec_free(&w->sources);
	arena_free(w->arena);
	*w = (struct workspace){0};
}

void workspace_forget_build(const struct workspace *w)
{
	os_remove_tree(path_join(w->arena, w->project, ".trib"));
	os_remove_tree(path_join(w->arena, w->project, WORKSPACE_OUT));
}

void workspace_forget_cache(const struct workspace *w) { os_remove_tree(w->cache); }

bool source_edit_next(struct source_edit *e)
{
	const char *at = strstr(e->text + e->end, "return ");
	if (!at)
		return false;
	e->at = (size_t)(at - e->text) + strlen("return ");
	e->end = e->at + strcspn(e->text + e->at, "\n#");
	return true;
}

bool source_edit_write(const struct source_edit *e, struct buf *error)
{
	struct buf text = {0};
	buf_put(&text, e->text, e->at);
	if (e->number)
		buf_printf(&text, "(%.*s) + %u", (int)(e->end - e->at), e->text + e->at, e->number);
	buf_puts(&text, e->number ? e->text + e->end : e->text + e->at);
	if (e->comments)
		buf_printf(&text, "\n# comment %u\n", e->comments);
	bool ok = os_rewrite(e->path, text.at ? text.at : "", text.len);
	if (!ok)
		buf_printf(error, "cannot write `%s`: %s", e->path, strerror(errno));
	buf_free(&text);
	return ok;
}
