/* Files with temporary names, for base/os*.c alone. */
#ifndef TRIB_BASE_OS_TEMPORARY_H
#define TRIB_BASE_OS_TEMPORARY_H

/* Makes a file beside `path` with a new unique name; if *fd >= 0, gives that file, which has no name, the name. After the descriptor is closed os_remove_temporaries
 * removes the file. Returns its path, malloc'd, or NULL. */
char *os_temporary_create(const char *path, unsigned mode, int *fd);
#endif
