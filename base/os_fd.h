/* File descriptors and temporary files, for base/os*.c alone. */
#ifndef TRIB_BASE_OS_FD_H
#define TRIB_BASE_OS_FD_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Closes the descriptor, unless it is negative. Keeps errno. */
void os_fd_close(int fd);
/* Reads up to n bytes, fewer only at the end of the file; -1 on an error. */
ssize_t os_fd_read(int fd, char *at, size_t n);
/* os_map_file of the descriptor of a regular file. */
bool os_fd_map(int fd, const void **data, size_t *len);
/* Makes a file beside `path` with a new unique name; if *fd >= 0, gives that file, which has no name, the name. After the descriptor is
 * closed os_remove_temporaries removes the file. Returns its path, malloc'd, or NULL. */
char *os_temporary_create(const char *path, unsigned mode, int *fd);
#endif
