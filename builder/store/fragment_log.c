/* A log is a sequence of records, each a head and a fragment, padded to 16 bytes. The newest record of a key counts. New records are appended. Where
 * a head is damaged, the search for the next one goes on 16 bytes further, so that damage costs only what it covers. A log with damage, or with much
 * that no build has used lately, is rewritten beside its place and renamed. */
#include "builder/store/fragment_log.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/os.h"
#include "base/vec.h"

enum { ALIGN = 16, DAY = 24 * 60 * 60, MOST_DAYS = 30 };
#define MAGIC 0x31676f6c62697274u        /* "triblog1" */
#define WRITE_AT ((size_t)1 << 20)       /* bytes of records that are written together */
#define UNUSED_SHARE 3                   /* fragments that were not used may take as many times the space of those that were … */
#define UNUSED_BYTES ((uint64_t)4 << 20) /* … or this much */
#define MOST_BYTES ((uint64_t)1 << 30)   /* of all logs of a project */

struct head {
	uint64_t magic, check; /* check: of the following */
	hash128 key;
	uint64_t len, content; /* bytes of the fragment, and their checksum */
};
_Static_assert(sizeof(struct head) == 48, "fragments start aligned");

struct entry {
	struct head head;
	const void *bytes;
	bool is_used, is_new, is_checked;
	bool is_gone; /* damaged, replaced by a newer record, or dropped */
};
struct fragment_log {
	char *folder, *path;
	const char *file; /* mapped; NULL: empty */
	size_t size;
	VEC(struct entry) entries; /* the oldest first */
	struct map index;          /* key → entries index */
	bool is_damaged;
	bool is_foreign; /* something that is no file has its name */
};

static uint64_t record_bytes(uint64_t len) { return (sizeof(struct head) + len + ALIGN - 1) / ALIGN * ALIGN; }

static uint64_t head_check(const struct head *h) { return hash64_bytes(&h->key, sizeof *h - offsetof(struct head, key)); }

static void fragment_log_add_entry(struct fragment_log *l, const struct entry *e)
{
	uint64_t at;
	if (map_get(&l->index, e->head.key, &at))
		l->entries.at[at].is_gone = true;
	map_put(&l->index, e->head.key, l->entries.len);
	vec_push(&l->entries, *e);
}

static bool fragment_log_read_head(const struct fragment_log *l, size_t at, struct head *h)
{
	memcpy(h, l->file + at, sizeof *h);
	return h->magic == MAGIC && h->check == head_check(h) && h->len <= l->size - at - sizeof *h;
}

static void read_records(struct fragment_log *l)
{
	struct head h;
	size_t at = 0;
	while (l->size - at >= sizeof h) {
		if (!fragment_log_read_head(l, at, &h)) {
			l->is_damaged = true;
			at += ALIGN;
			continue;
		}
		fragment_log_add_entry(l, &(struct entry){.head = h, .bytes = l->file + at + sizeof h});
		uint64_t n = record_bytes(h.len);
		if (n > l->size - at)
			break;
		at += n;
	}
	l->is_damaged |= at != l->size;
}

static char *fragment_log_path_of(const char *folder, hash128 id)
{
	char hex[33], *p;
	hash_hex(id, hex);
	if (asprintf(&p, "%s/%s", folder, hex) < 0)
		bug_no_memory();
	return p;
}

struct fragment_log *fragment_log_open(const char *folder, hash128 id)
{
	struct fragment_log *l = alloc_zeroed(sizeof *l);
	const void *file = NULL;
	struct stat st;
	l->folder = strdup(folder);
	if (!l->folder)
		bug_no_memory();
	l->path = fragment_log_path_of(folder, id);
	bool exists = lstat(l->path, &st) == 0;
	l->is_foreign = exists && !S_ISREG(st.st_mode);
	if (exists && !l->is_foreign && os_map_file(l->path, &file, &l->size) && file) {
		l->file = file;
		read_records(l);
	}
	return l;
}

static struct entry *store_fragment_log_find(struct fragment_log *l, hash128 key)
{
	uint64_t at;
	return map_get(&l->index, key, &at) && !l->entries.at[at].is_gone ? &l->entries.at[at] : NULL;
}

/* True if the fragment is undamaged; else the entry is gone. */
static bool fragment_log_check(struct fragment_log *l, struct entry *e)
{
	if (!e->is_checked && hash64_bytes(e->bytes, e->head.len) != e->head.content)
		e->is_gone = l->is_damaged = true;
	e->is_checked = true;
	return !e->is_gone;
}

const void *fragment_log_find(struct fragment_log *l, hash128 key, size_t *len)
{
	struct entry *e = l ? store_fragment_log_find(l, key) : NULL;
	if (!e || !fragment_log_check(l, e))
		return NULL;
	e->is_used = true;
	*len = e->head.len;
	return e->bytes;
}

void fragment_log_keep(struct fragment_log *l, hash128 key, const void *bytes, size_t len)
{
	struct entry *e = store_fragment_log_find(l, key);
	if (e && fragment_log_check(l, e)) {
		e->is_used = true;
		return;
	}
	struct head h = {.magic = MAGIC, .key = key, .len = len, .content = hash64_bytes(bytes, len)};
	h.check = head_check(&h);
	fragment_log_add_entry(l, &(struct entry){.head = h, .bytes = bytes, .is_used = true, .is_new = true, .is_checked = true});
}

/* ---- closing ---- */

static void put_record(struct buf *out, const struct entry *e)
{
	static const char zeros[ALIGN];
	buf_put(out, &e->head, sizeof e->head);
	buf_put(out, e->bytes, e->head.len);
	buf_put(out, zeros, record_bytes(e->head.len) - sizeof e->head - e->head.len);
}

static bool fragment_log_flush(int fd, struct buf *b, size_t least)
{
	bool ok = b->len < least || os_write_fd(fd, b->at, b->len);
	if (b->len >= least)
		buf_clear(b);
	return ok;
}

/* The bytes of the records that the log has, or is to have, of used or unused entries. */
static uint64_t fragment_log_count_bytes(const struct fragment_log *l, bool used)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < l->entries.len; i++)
		if (!l->entries.at[i].is_gone && l->entries.at[i].is_used == used)
			n += record_bytes(l->entries.at[i].head.len);
	return n;
}

static bool append_new(const struct fragment_log *l)
{
	struct buf b = {0};
	int fd = open(l->path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	bool ok = fd >= 0;
	for (uint32_t i = 0; i < l->entries.len && ok; i++) {
		if (!l->entries.at[i].is_new)
			continue;
		put_record(&b, &l->entries.at[i]);
		ok = fragment_log_flush(fd, &b, WRITE_AT);
	}
	ok = ok && fragment_log_flush(fd, &b, 1);
	int why = errno;
	buf_free(&b);
	if (fd >= 0 && close(fd) && ok)
		return false;
	errno = why;
	return ok;
}

/* Marks the oldest unused entries as gone until the others take at most `most` bytes. */
static void fragment_log_drop_unused(struct fragment_log *l, uint64_t most)
{
	uint64_t left = fragment_log_count_bytes(l, false);
	for (uint32_t i = 0; i < l->entries.len && left > most; i++) {
		struct entry *e = &l->entries.at[i];
		if (e->is_gone || e->is_used)
			continue;
		e->is_gone = true;
		left -= record_bytes(e->head.len);
	}
}

static void drop_damaged(struct fragment_log *l)
{
	for (uint32_t i = 0; i < l->entries.len; i++)
		if (!l->entries.at[i].is_gone)
			fragment_log_check(l, &l->entries.at[i]);
}

static bool rewrite(const struct fragment_log *l)
{
	uint64_t size = fragment_log_count_bytes(l, true) + fragment_log_count_bytes(l, false), at = 0;
	struct os_sink *s = os_sink_open(l->path, size, 0666);
	struct buf b = {0};
	bool ok = s != NULL;
	for (uint32_t i = 0; i < l->entries.len && ok; i++) {
		if (l->entries.at[i].is_gone)
			continue;
		buf_clear(&b);
		put_record(&b, &l->entries.at[i]);
		ok = os_sink_write(s, b.at, b.len, at);
		at += b.len;
	}
	ok = ok && os_sink_publish(s);
	int why = errno;
	buf_free(&b);
	os_sink_close(s);
	errno = why;
	return ok;
}

struct log_file {
	char *path;
	uint64_t size;
	int64_t used;
};
typedef VEC(struct log_file) log_files;

static int newest_first(const void *a, const void *b)
{
	const struct log_file *x = a, *y = b;
	if (x->used != y->used)
		return x->used > y->used ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void list_logs(const char *folder, log_files *out)
{
	DIR *d = opendir(folder);
	struct stat st;
	for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		char *path;
		if (asprintf(&path, "%s/%s", folder, e->d_name) < 0)
			bug_no_memory();
		if (e->d_name[0] != '.' && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
			vec_push(out, ((struct log_file){path, (uint64_t)st.st_size, st.st_mtime}));
		else
			free(path);
	}
	if (d)
		closedir(d);
}

/* Removes logs of models and profiles that were not built for long, and those used longest ago while all take too much space. */
static void fragment_log_prune(const struct fragment_log *l)
{
	log_files logs = {0};
	uint64_t total = 0;
	int64_t now = time(NULL);
	list_logs(l->folder, &logs);
	if (logs.len)
		qsort(logs.at, logs.len, sizeof *logs.at, newest_first);
	for (uint32_t i = 0; i < logs.len; i++) {
		const struct log_file *f = &logs.at[i];
		total += f->size;
		if ((total > MOST_BYTES || f->used + MOST_DAYS * DAY < now) && strcmp(f->path, l->path) != 0)
			unlink(f->path);
		free(f->path);
	}
	vec_free(&logs);
	os_remove_temporaries(l->folder);
}

static bool has_new(const struct fragment_log *l)
{
	bool any = false;
	for (uint32_t i = 0; i < l->entries.len && !any; i++)
		any = l->entries.at[i].is_new;
	return any;
}

/* The time of the file is that of its last use. */
static void fragment_log_touch(const struct fragment_log *l)
{
	struct stat st;
	if (l->file && lstat(l->path, &st) == 0 && st.st_mtime + DAY < time(NULL))
		utimensat(AT_FDCWD, l->path, NULL, AT_SYMLINK_NOFOLLOW);
}

static bool write_what_changed(struct fragment_log *l, bool is_whole)
{
	uint64_t used = fragment_log_count_bytes(l, true), most = used * UNUSED_SHARE > UNUSED_BYTES ? used * UNUSED_SHARE : UNUSED_BYTES;
	bool is_full = is_whole && l->size > used + most;
	if (!has_new(l) && !l->is_damaged && !is_full) {
		fragment_log_touch(l);
		return true;
	}
	if (!os_mkdirs(l->folder) || (l->is_foreign && !os_remove_tree(l->path)))
		return false;
	bool must_rewrite = is_full || l->is_damaged;
	if (is_full)
		fragment_log_drop_unused(l, most / 2);
	if (must_rewrite)
		drop_damaged(l);
	bool ok = must_rewrite ? rewrite(l) : append_new(l);
	if (must_rewrite || !l->file)
		fragment_log_prune(l);
	return ok;
}

bool fragment_log_write(struct fragment_log *l, bool is_whole, struct buf *warning)
{
	bool ok = !l || write_what_changed(l, is_whole);
	if (!ok)
		buf_printf(warning, "cannot write to %s: %s\n", l->path, strerror(errno));
	return ok;
}

void fragment_log_close(struct fragment_log *l)
{
	if (!l)
		return;
	os_unmap(l->file, l->size);
	vec_free(&l->entries);
	map_free(&l->index);
	free(l->path);
	free(l->folder);
	free(l);
}
