/* Walks the folder of a commit: digests its sources, and removes the links that lead out of it. git stores any target, so such a link would
 * make trib read other files of this machine, or wait for a pipe. The walk is done before the folder gets its name. */
#include "builder/deps/checkout.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/path.h"
#include "base/vec.h"

enum { MOST_LEVELS = 2000, MOST_TEXT = 128, DIGEST_VERSION = 2, MOST_TARGET = 4096 };

struct digesting {
	struct arena *a;
	struct hasher *stamps, *contents; /* contents: NULL if not needed */
	const char *top;                  /* the absolute path of the folder to protect; NULL: nothing is changed */
	struct outward_links removed;
	int error; /* of a folder that could not be read, or a link that could not be removed; 0: none */
};

static void integrity_add_content(struct digesting *s, const char *path)
{
	char *text;
	size_t len;
	if (!os_read_file(path, 0, &text, &len))
		return; /* the stamps already differ */
	hasher_add_hash(s->contents, hash_bytes(text, len));
	free(text);
}

/* `name` is relative to the folder, so that the folder may be moved. */
static void add_source(struct digesting *s, const char *path, const char *name)
{
	struct file_stamp stamp = {0};
	struct stat st;
	char target[MOST_TARGET];
	ssize_t n = readlink(path, target, sizeof target - 1);
	target[n > 0 ? n : 0] = 0;
	if (n < 0) {
		if (s->top && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
			chmod(path, st.st_mode & 07777 & ~(mode_t)0222); /* chmod changes the stamp */
		os_stamp(path, &stamp);
	}
	hasher_add_str(s->stamps, name);
	hasher_add_str(s->stamps, target);
	hasher_add(s->stamps, &stamp, sizeof stamp);
	if (!s->contents)
		return;
	hasher_add_str(s->contents, name);
	hasher_add_str(s->contents, target);
	if (n < 0)
		integrity_add_content(s, path);
}

/* True if all of the link's targets are in the protected folder. */
static bool leads_inside(const struct digesting *s, const char *path)
{
	char *target = realpath(path, NULL);
	size_t n = strlen(s->top);
	bool inside = target && strncmp(target, s->top, n) == 0 && (!target[n] || target[n] == '/');
	free(target);
	return inside;
}

/* True if the entry stays. */
static bool check_link(struct digesting *s, const char *path, const char *name)
{
	if (!s->top || leads_inside(s, path))
		return true;
	if (unlink(path) != 0)
		s->error = errno;
	if (s->removed.n++ == 0 || strcmp(name, s->removed.first) < 0)
		s->removed.first = name;
	return false;
}

static int integrity_by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void add_folder(struct digesting *s, const char *path, const char *name, int level)
{
	VEC(const char *) folders = {0};
	VEC(const char *) files = {0};
	errno = ELOOP;
	DIR *d = level < MOST_LEVELS ? opendir(path) : NULL;
	if (!d)
		s->error = errno;
	for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
		struct stat st;
		const char *copy = arena_strdup(s->a, e->d_name);
		bool unknown = e->d_type == DT_UNKNOWN && lstat(path_join(s->a, path, copy), &st) == 0;
		if (strcmp(copy, ".") == 0 || strcmp(copy, "..") == 0)
			continue;
		if ((e->d_type == DT_LNK || (unknown && S_ISLNK(st.st_mode))) &&
		    !check_link(s, path_join(s->a, path, copy), path_join(s->a, name, copy)))
			continue;
		if (e->d_type == DT_DIR || (unknown && S_ISDIR(st.st_mode)))
			vec_push(&folders, copy);
		else if (path_has_extension(copy, "tri") || strcmp(copy, "tri.build") == 0)
			vec_push(&files, copy);
	}
	if (d)
		closedir(d);
	if (files.len)
		qsort(files.at, files.len, sizeof *files.at, integrity_by_name);
	if (folders.len)
		qsort(folders.at, folders.len, sizeof *folders.at, integrity_by_name);
	for (uint32_t i = 0; i < files.len; i++)
		add_source(s, path_join(s->a, path, files.at[i]), path_join(s->a, name, files.at[i]));
	for (uint32_t i = 0; i < folders.len; i++)
		add_folder(s, path_join(s->a, path, folders.at[i]), path_join(s->a, name, folders.at[i]), level + 1);
	vec_free(&files);
	vec_free(&folders);
}

/* Protects the folder if `contents` is not NULL: makes its sources read-only and removes its links to other places. False: errno. */
static bool digest_folder(struct arena *a, const char *folder, hash128 *stamps, hash128 *contents, struct outward_links *removed)
{
	struct digesting s = {.a = a, .stamps = hasher_new(), .contents = contents ? hasher_new() : NULL};
	char *top = contents ? realpath(folder, NULL) : NULL;
	s.top = top;
	s.error = contents && !top ? errno : 0;
	hasher_add_u64(s.stamps, DIGEST_VERSION);
	if (!s.error)
		add_folder(&s, folder, "", 0);
	*stamps = hasher_finish(s.stamps);
	if (contents) {
		*contents = hasher_finish(s.contents);
		*removed = s.removed;
	}
	free(top);
	errno = s.error;
	return !s.error;
}

/* Two lines: the digest of the stamps, and that of the contents. */
static bool write_record(struct arena *a, const char *record, hash128 stamps, hash128 contents)
{
	char first[33], second[33];
	hash_hex(stamps, first);
	hash_hex(contents, second);
	const char *text = arena_printf(a, "%s\n%s\n", first, second);
	return os_write_atomic(record, text, strlen(text), 0666, false);
}

bool integrity_write(struct arena *scratch, const char *folder, const char *record, struct outward_links *removed)
{
	hash128 stamps, contents;
	return digest_folder(scratch, folder, &stamps, &contents, removed) && write_record(scratch, record, stamps, contents);
}

bool integrity_holds(struct arena *scratch, const char *folder, const char *record)
{
	hash128 old_stamps, old_contents, stamps, contents;
	char *text;
	size_t len;
	if (!os_read_file(record, MOST_TEXT, &text, &len))
		return false;
	bool read = len == 66 && text[32] == '\n' &&
		    (text[32] = text[65] = 0, hash_parse_hex(text, &old_stamps) && hash_parse_hex(text + 33, &old_contents));
	free(text);
	if (!read)
		return false;
	struct outward_links removed = {0};
	if (digest_folder(scratch, folder, &stamps, NULL, NULL) && hash_eq(stamps, old_stamps))
		return true;
	/* a cache that was copied or restored has new stamps */
	if (!digest_folder(scratch, folder, &stamps, &contents, &removed) || removed.n || !hash_eq(contents, old_contents))
		return false;
	write_record(scratch, record, stamps, contents);
	return true;
}
