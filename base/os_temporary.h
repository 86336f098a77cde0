/* Files with temporary names, for base/os*.c alone. */
#ifndef TRIB_BASE_OS_TEMPORARY_H
#define TRIB_BASE_OS_TEMPORARY_H

/* Makes a file beside `path` with a name that nobody else has; or with *fd >= 0 gives that one, which has none yet, its name. It is os_sweep's as soon as
 * the descriptor is closed. Its path, malloc'd, or NULL. */
char *os_temporary_create(const char *path, unsigned mode, int *fd);
#endif
