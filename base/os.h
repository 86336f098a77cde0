/* The operating system: files, time, memory, terminals. Only this module and builder/ touch the disk. Functions returning bool leave
 * errno set on false. */
#ifndef TRIB_BASE_OS_H
#define TRIB_BASE_OS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What identifies an unchanged file without reading it. All zero: the file is absent. */
struct file_stamp {
	uint64_t size, mtime_ns, ctime_ns, inode;
};
bool os_stamp(const char *path, struct file_stamp *out);
bool os_stamp_eq(const struct file_stamp *a, const struct file_stamp *b);

/* The whole file, NUL-terminated, malloc'd into *data. At most `limit` bytes (0: no limit; larger fails with EFBIG). Reads only regular
 * files, as all functions below: a pipe or a device fails with ENODEV, without a wait. */
bool os_read_file(const char *path, size_t limit, char **data, size_t *len);
/* The same for a path that a person gave to a command: it may also be a pipe or a device, with at most 1 GiB. A wait ends with EINTR if
 * os_interrupted. */
bool os_read_stream(const char *path, size_t limit, char **data, size_t *len);
/* Why a file could not be read: strerror, but for pipes, devices and sockets the words "it is not a regular file". */
const char *os_read_error(int error);
/* Hands the bytes to `take` in order. Safe for a file that is truncated meanwhile, which would raise SIGBUS in a mapping. */
bool os_read_pieces(const char *path, void (*take)(void *ctx, const void *bytes, size_t n), void *ctx);
/* Read-only private mapping; unmapped by os_unmap. An empty file gives *data == NULL, len 0. */
bool os_map_file(const char *path, const void **data, size_t *len);
void os_unmap(const void *data, size_t len);
/* Temporary files are named <directory of path>/.trib-<16 hex digits>.tmp; only a killed process leaves one. This removes the temporary
 * files of a folder that no process writes any more. */
void os_remove_temporaries(const char *folder);
/* Writes a temporary file beside `path` and renames it, so that the file has either the old content or the new. `sync`: fsync first.
 * `mode`: permissions of a new file, less the umask. On false nothing is left behind. The target of a link is replaced, not the link.
 * Devices and pipes are written in place. */
bool os_write_atomic(const char *path, const void *data, size_t len, unsigned mode, bool sync);
/* Writes all bytes to a descriptor. */
bool os_write_fd(int fd, const void *data, size_t len);
/* Like os_write_atomic, but leaves the file untouched when it already has this content. */
bool os_write_if_changed(const char *path, const void *data, size_t len, unsigned mode, bool sync);
/* Like os_write_atomic, but an existing file keeps its permissions. A new file gets 0666. */
bool os_rewrite(const char *path, const void *data, size_t len);
/* A file that any threads write piece by piece. It has no name before it is published. The target of a link is replaced, not the link.
 * NULL: errno. */
struct os_sink;
struct os_sink *os_sink_open(const char *path, uint64_t size, unsigned mode);
bool os_sink_resize(struct os_sink *sink, uint64_t size); /* reserves the space */
bool os_sink_write(struct os_sink *sink, const void *data, size_t len, uint64_t offset);
/* Copies bytes towards the start of the file. */
bool os_sink_move(struct os_sink *sink, uint64_t from, uint64_t to, uint64_t len);
/* As os_map_file. Later writes can be seen in the mapping. */
bool os_sink_map(const struct os_sink *sink, const void **data, size_t *len);
bool os_sink_publish(struct os_sink *sink); /* renames it to its path, unless the file there has the same content */
void os_sink_close(struct os_sink *sink);   /* NULL is accepted; a file that was not published is removed */
bool os_mkdirs(const char *path);           /* with parents; true if it exists */
bool os_remove_tree(const char *path);      /* true if absent; never follows links */

/* Opens a FIFO, or the pipe of `fd`, with a new descriptor that children do not inherit and that does not block reads. -1: errno. */
int os_open_fifo(const char *path, bool writing);
int os_reopen_pipe(int fd, bool writing);
/* Makes a FIFO for this user alone, in a new temporary folder. Returns its path, malloc'd; NULL: errno. os_remove_fifo removes both. */
char *os_make_fifo(void);
void os_remove_fifo(const char *path);

int64_t os_now_ns(void);        /* monotonic */
int64_t os_cpu_ns(void);        /* of this process */
int64_t os_thread_cpu_ns(void); /* of the calling thread */
uint64_t os_peak_rss_kb(void);
uint64_t os_rss_bytes(void); /* now; 0: unknown */
/* Bytes of dirty pages that no other process maps and no file has, of this process (0) or of `pid`. 0: unknown, or it has ended. */
uint64_t os_private_dirty_bytes(pid_t pid);
uint32_t os_cpu_count(void); /* of the affinity mask and the cgroup quota; at least 1 */
/* Bytes that this process can use before the machine or a cgroup runs out; 0: unknown. */
uint64_t os_available_memory(void);
double os_load_average(void); /* of the last minute; 0: unknown */
bool os_is_tty(int fd);
uint32_t os_tty_columns(int fd); /* 80 when unknown */
/* Directory of the running executable, malloc'd; NULL on failure. */
char *os_exe_dir(void);
/* Opens closed standard streams as /dev/null. Otherwise messages might go to the next file that is opened. */
void os_open_standard_streams(void);
/* True once SIGINT, SIGTERM or SIGHUP arrived after os_catch_interrupts. A second one of the same kind and sender ends the
 * process. */
void os_catch_interrupts(void);
/* Until the next call, an interrupt, also one before, ends the process at once with this text on stderr and exit code 130: for code that does not
 * ask os_interrupted. NULL: no longer. */
void os_end_at_interrupt(const char *text);
/* Sets the one function that os_run_death_handler calls before the process dies of a signal; NULL: none. It must be async-signal-safe. */
void os_set_death_handler(void (*fn)(void));
void os_run_death_handler(void);
bool os_interrupted(void);
#endif
