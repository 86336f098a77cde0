/* File descriptors, for base/os*.c alone. */
#ifndef TRIB_BASE_OS_FD_H
#define TRIB_BASE_OS_FD_H
#include <stddef.h>
#include <sys/types.h>

/* Closes the descriptor, unless it is negative. Keeps errno. */
void os_fd_close(int fd);
/* Reads up to n bytes, fewer only at the end of the file; -1 on an error. */
ssize_t os_fd_read(int fd, char *at, size_t n);
#endif
