#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "builder/git/module.h"

enum { MAX_LEVELS = 64, MAX_ENTRIES = 1000000 };

/* ---- names ---- */

static bool tree_refuse(struct git_failure *error, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(error->text, sizeof error->text, fmt, ap);
	va_end(ap);
	for (char *s = error->text; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 127)
			*s = '?';
	error->problem = GIT_PROBLEM_TREE;
	return false;
}

/* True for the name of a file in its folder that is not git's. */
static bool is_valid_name(const char *name)
{
	static const char *const refused[] = {"", ".", "..", ".git", "git~1"};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (strcasecmp(name, refused[i]) == 0)
			return false;
	for (const char *s = name; *s; s++)
		if (*s == '/' || (unsigned char)*s < ' ' || *s == 127)
			return false;
	return strlen(name) <= NAME_MAX;
}

static int by_name_without_case(const void *a, const void *b) { return strcasecmp(*(const char *const *)a, *(const char *const *)b); }

/* Names that are equal without case are refused: one of them could be a link, and the other lead through it. */
static bool tree_check_names(const git_tree *tree, const char *folder, struct git_failure *error)
{
	size_t n = git_tree_entrycount(tree);
	const char **names = calloc(n + 1, sizeof *names);
	bool ok = true;
	if (!names)
		abort();
	for (size_t i = 0; i < n && ok; i++) {
		names[i] = git_tree_entry_name(git_tree_entry_byindex(tree, i));
		ok = is_valid_name(names[i]) ||
		     tree_refuse(error, "its folder `%s` has an entry with the invalid name `%s`", *folder ? folder : ".", names[i]);
	}
	if (ok && n)
		qsort(names, n, sizeof *names, by_name_without_case);
	for (size_t i = 1; i < n && ok; i++)
		if (strcasecmp(names[i - 1], names[i]) == 0)
			ok = tree_refuse(error,
					 strcmp(names[i - 1], names[i]) == 0
						 ? "its folder `%s` has two entries named `%s`"
						 : "its folder `%s` has entries that differ only in the case of letters: `%s` and `%s`",
					 *folder ? folder : ".", names[i - 1], names[i]);
	free(names);
	return ok;
}

/* ---- the whole tree ---- */

struct tree_check {
	git_repository *repo;
	struct git_failure *error;
	char path[PATH_MAX]; /* from the top of the tree, for messages */
	uint32_t entries, level;
};

static bool tree_check_entries(struct tree_check *c, const git_tree *tree);

static bool tree_check_folder(struct tree_check *c, const git_tree_entry *e)
{
	git_tree *tree = NULL;
	bool ok = ++c->level <= MAX_LEVELS || tree_refuse(c->error, "its folders are nested more than %d levels deep", MAX_LEVELS);
	ok = ok && (git_tree_lookup(&tree, c->repo, git_tree_entry_id(e)) == 0 || git_fail(c->error, GIT_PROBLEM_DISK));
	ok = ok && tree_check_entries(c, tree);
	c->level--;
	git_tree_free(tree);
	return ok;
}

static bool tree_check_entries(struct tree_check *c, const git_tree *tree)
{
	size_t len = strlen(c->path);
	bool ok = tree_check_names(tree, c->path, c->error);
	for (size_t i = 0; ok && i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);
		int n = snprintf(c->path + len, sizeof c->path - len, "%s%s", len ? "/" : "", git_tree_entry_name(e));
		if (n < 0 || (size_t)n >= sizeof c->path - len)
			ok = tree_refuse(c->error, "one of its paths is too long");
		else if (++c->entries > MAX_ENTRIES)
			ok = tree_refuse(c->error, "it has more than %d files", MAX_ENTRIES);
		else
			ok = git_tree_entry_type(e) != GIT_OBJECT_TREE || tree_check_folder(c, e);
		c->path[len] = 0;
	}
	return ok;
}

bool tree_is_safe(git_repository *repo, const git_tree *tree, struct git_failure *error)
{
	struct tree_check *c = calloc(1, sizeof *c);
	if (!c)
		abort();
	c->repo = repo;
	c->error = error;
	bool ok = tree_check_entries(c, tree);
	free(c);
	return ok;
}

/* ---- writing ---- */

struct tree_writer {
	git_repository *repo;
	struct git_failure *error;
	char path[PATH_MAX]; /* from the top of the tree, for messages */
};

static bool fail_disk(struct tree_writer *w)
{
	snprintf(w->error->text, sizeof w->error->text, "%.400s: %s", w->path, strerror(errno));
	w->error->problem = GIT_PROBLEM_DISK;
	return false;
}

static bool tree_write_all(int fd, const char *at, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, at, n);
		if (done < 0 && errno != EINTR)
			return false;
		at += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

static bool write_file(struct tree_writer *w, int dir, const char *name, const git_blob *blob, bool executable)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, executable ? 0777 : 0666);
	bool ok = fd >= 0 && tree_write_all(fd, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
	if (fd >= 0)
		ok = close(fd) == 0 && ok;
	return ok || fail_disk(w);
}

static bool write_link(struct tree_writer *w, int dir, const char *name, const git_blob *blob)
{
	char target[PATH_MAX];
	size_t len = (size_t)git_blob_rawsize(blob);
	if (strcmp(name, ".gitmodules") == 0)
		return tree_refuse(w->error, "`%s` is a symbolic link", w->path);
	if (len == 0 || len >= sizeof target || memchr(git_blob_rawcontent(blob), 0, len))
		return tree_refuse(w->error, "`%s` is a symbolic link with an invalid target", w->path);
	memcpy(target, git_blob_rawcontent(blob), len);
	target[len] = 0;
	return symlinkat(target, dir, name) == 0 || fail_disk(w);
}

static bool write_blob(struct tree_writer *w, int dir, const char *name, const git_tree_entry *e)
{
	git_blob *blob = NULL;
	git_filemode_t mode = git_tree_entry_filemode(e);
	if (git_blob_lookup(&blob, w->repo, git_tree_entry_id(e)) != 0)
		return git_fail(w->error, GIT_PROBLEM_DISK);
	bool ok = mode == GIT_FILEMODE_LINK ? write_link(w, dir, name, blob)
					    : write_file(w, dir, name, blob, mode == GIT_FILEMODE_BLOB_EXECUTABLE);
	git_blob_free(blob);
	return ok;
}

static bool write_entries(struct tree_writer *w, const git_tree *tree, int dir);

static bool write_folder(struct tree_writer *w, int dir, const char *name, const git_tree_entry *e)
{
	git_tree *tree = NULL;
	int fd = mkdirat(dir, name, 0777) == 0 ? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (fd < 0)
		return fail_disk(w);
	bool ok = (git_tree_lookup(&tree, w->repo, git_tree_entry_id(e)) == 0 || git_fail(w->error, GIT_PROBLEM_DISK)) &&
		  write_entries(w, tree, fd);
	git_tree_free(tree);
	close(fd);
	return ok;
}

static bool write_entry(struct tree_writer *w, int dir, const char *name, const git_tree_entry *e)
{
	switch (git_tree_entry_type(e)) {
	case GIT_OBJECT_BLOB: return write_blob(w, dir, name, e);
	case GIT_OBJECT_TREE: return write_folder(w, dir, name, e);
	case GIT_OBJECT_COMMIT: return mkdirat(dir, name, 0777) == 0 || fail_disk(w); /* a submodule */
	default: return tree_refuse(w->error, "`%s` is neither a file nor a folder", w->path);
	}
}

static bool write_entries(struct tree_writer *w, const git_tree *tree, int dir)
{
	size_t len = strlen(w->path);
	bool ok = true;
	for (size_t i = 0; ok && i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);
		const char *name = git_tree_entry_name(e);
		snprintf(w->path + len, sizeof w->path - len, "%s%s", len ? "/" : "", name);
		ok = write_entry(w, dir, name, e);
		w->path[len] = 0;
	}
	return ok;
}

bool tree_write(git_repository *repo, const git_tree *tree, int dir, struct git_failure *error)
{
	struct tree_writer *w = calloc(1, sizeof *w);
	if (!w)
		abort();
	w->repo = repo;
	w->error = error;
	bool ok = write_entries(w, tree, dir);
	free(w);
	return ok;
}

int tree_open_folder(const char *root, const char *below)
{
	char name[NAME_MAX + 1];
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	while (fd >= 0 && *below) {
		size_t len = strcspn(below, "/");
		int next = -1;
		if (len < sizeof name && len > 0) {
			memcpy(name, below, len);
			name[len] = 0;
			next = strcmp(name, "..") == 0 ? -1 : openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		} else {
			errno = ENAMETOOLONG;
		}
		int why = errno;
		close(fd);
		errno = why;
		fd = next;
		below += len + (below[len] == '/');
	}
	return fd;
}
