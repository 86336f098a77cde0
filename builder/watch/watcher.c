#include "builder/watch/watcher.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/map.h"
#include "base/os.h"
#include "base/vec.h"

#define EVENTS                                                                                                                          \
	(IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | \
	 IN_ONLYDIR | IN_EXCL_UNLINK)

#define ANY_FOLDER UINT32_MAX
enum { MAX_READS = 64 }; /* at once: another program may write to a watched folder without end */

/* A file that may be half-written. */
struct unfinished {
	hash128 name;
	int64_t until; /* when it counts as complete */
};
struct watcher {
	int fd; /* -1: polling */
	const char *why;
	struct watched_folders *watched;
	struct map by_descriptor; /* watch descriptor → folder index; ANY_FOLDER: all events matter */
	VEC(struct unfinished) unfinished;
};

struct watcher *watcher_new(bool poll)
{
	struct watcher *w = alloc_zeroed(sizeof *w);
	w->fd = -1;
	w->why = poll ? NULL : "";
	return w;
}

static void watcher_stop(struct watcher *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	map_free(&w->by_descriptor);
	w->unfinished.len = 0;
}

void watcher_free(struct watcher *w)
{
	if (!w)
		return;
	watcher_stop(w);
	watched_folders_free(w->watched);
	vec_free(&w->unfinished);
	free(w);
}

/* True for file systems whose files may change without an event on this machine. */
static bool is_remote(const char *path)
{
	static const uint32_t types[] = {0x6969 /* NFS */,      0x517b /* SMB */,
					 0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */,
					 0x01021997 /* 9p */,   0x65735546 /* FUSE */,
					 0x00c36400 /* Ceph */, 0x5346414f /* AFS */,
					 0x73757245 /* Coda */, 0x786f4256 /* VirtualBox */,
					 0x47504653 /* GPFS */, 0x0bd00bd0 /* Lustre */};
	struct statfs fs;
	if (statfs(path, &fs) != 0)
		return false;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if ((uint32_t)fs.f_type == types[i])
			return true;
	return false;
}

static const char *why_not(int error)
{
	switch (error) {
	case ENOSPC: return "too many folders are watched (raise fs.inotify.max_user_watches)";
	case EMFILE: return "too many programs watch files (raise fs.inotify.max_user_instances)";
	default: return "the kernel does not allow inotify";
	}
}

/* Returns NULL, or why inotify cannot watch the folder. If it is gone, the comparison that follows finds that. */
static const char *watch_folder(struct watcher *w, uint32_t i)
{
	const char *path = watched_folder_path(w->watched, i);
	if (is_remote(path))
		return "the file system may be changed from another machine";
	int wd = inotify_add_watch(w->fd, path, EVENTS);
	if (wd < 0)
		return errno == ENOENT || errno == ENOTDIR ? NULL : why_not(errno);
	/* one folder with two paths has one descriptor */
	uint64_t other;
	bool twice = map_get(&w->by_descriptor, map_key_u64((uint64_t)wd), &other);
	map_put(&w->by_descriptor, map_key_u64((uint64_t)wd), twice ? ANY_FOLDER : i);
	return NULL;
}

void watcher_watch(struct watcher *w, const struct input *inputs, uint32_t n)
{
	watcher_stop(w);
	watched_folders_free(w->watched);
	w->watched = watched_folders_new(inputs, n);
	if (!w->why) /* polling was requested */
		return;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	w->why = w->fd < 0 ? why_not(errno) : "";
	for (uint32_t i = 0; i < watched_folders_count(w->watched) && !*w->why; i++) {
		const char *why = watch_folder(w, i);
		w->why = why ? why : w->why;
	}
	if (*w->why)
		watcher_stop(w);
}

uint32_t watcher_n_folders(const struct watcher *w) { return w->watched ? watched_folders_count(w->watched) : 0; }

int watcher_fd(const struct watcher *w) { return w->fd; }

const char *watcher_polling_reason(const struct watcher *w) { return w->why && *w->why ? w->why : NULL; }

/* `until` 0: it is complete. */
static void note_unfinished(struct watcher *w, hash128 name, int64_t until)
{
	uint32_t i = 0;
	while (i < w->unfinished.len && !hash_eq(w->unfinished.at[i].name, name))
		i++;
	if (i < w->unfinished.len)
		w->unfinished.at[i] = w->unfinished.at[--w->unfinished.len];
	if (until)
		vec_push(&w->unfinished, ((struct unfinished){name, until}));
}

static int64_t all_incomplete_until(struct watcher *w, int64_t now)
{
	int64_t last = 0;
	for (uint32_t i = w->unfinished.len; i > 0; i--) {
		const struct unfinished *u = &w->unfinished.at[i - 1];
		if (u->until <= now)
			w->unfinished.at[i - 1] = w->unfinished.at[--w->unfinished.len];
		else if (u->until > last)
			last = u->until;
	}
	return last;
}

/* When the file of this event counts as complete; 0: now. */
static int64_t incomplete_until(uint32_t mask, int64_t now)
{
	if (mask & (IN_CLOSE_WRITE | IN_MOVED_TO))
		return 0;
	return now + (mask & (IN_DELETE | IN_MOVED_FROM) ? DEBOUNCE_GONE_NS : DEBOUNCE_WRITING_NS);
}

/* A new link may lead to a folder that is not watched yet. */
static bool watcher_is_link(const char *folder, const char *name)
{
	struct stat st;
	char *path;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return false;
	bool link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
	free(path);
	return link;
}

/* True if the event may concern an input. */
static bool read_event(struct watcher *w, const struct inotify_event *event, int64_t now, struct file_events *h)
{
	uint64_t folder;
	if (event->mask & IN_Q_OVERFLOW)
		return h->needs_rescan = true;
	if (!map_get(&w->by_descriptor, map_key_u64((uint64_t)event->wd), &folder))
		return false;
	if (folder == ANY_FOLDER || (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)))
		return h->needs_rescan = true;
	bool new = event->mask &(IN_CREATE | IN_MOVED_TO);
	enum folder_entry entry =
		event->len ? watched_folder_entry(w->watched, (uint32_t)folder, event->name, event->mask & IN_ISDIR) : ENTRY_NONE;
	if (entry == ENTRY_FOLDER ||
	    (entry == ENTRY_FILE && new && watcher_is_link(watched_folder_path(w->watched, (uint32_t)folder), event->name)))
		return h->needs_rescan = true;
	if (entry == ENTRY_FILE && !(event->mask & IN_ATTRIB))
		note_unfinished(w, hash_combine(map_key_u64(folder), map_key_str(event->name)), incomplete_until(event->mask, now));
	return entry == ENTRY_FILE;
}

void watcher_read_events(struct watcher *w, struct file_events *h)
{
	_Alignas(struct inotify_event) char bytes[16384];
	int64_t now = os_now_ns();
	ssize_t n;
	for (int i = 0; i < MAX_READS && w->fd >= 0 && (n = read(w->fd, bytes, sizeof bytes)) > 0; i++)
		for (const char *at = bytes; at < bytes + n;) {
			const struct inotify_event *e = (const void *)at;
			if (read_event(w, e, now, h)) {
				h->first = h->any ? h->first : now;
				h->last = now;
				h->any = true;
			}
			at += sizeof *e + e->len;
		}
	h->incomplete_until = all_incomplete_until(w, now);
}
