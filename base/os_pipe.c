/* Pipes and FIFOs that are shared with other processes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/os.h"

/* -1 and EINVAL if it is not a pipe. Both directions open both ends, so that no process sees an end of file while it is open. */
int os_open_fifo(const char *path, bool writing)
{
	int fd = open(path, O_CLOEXEC | O_RDWR | (writing ? 0 : O_NONBLOCK));
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode))) {
		close(fd);
		fd = -1;
		errno = EINVAL;
	}
	return fd;
}

int os_reopen_pipe(int fd, bool writing)
{
	char path[64];
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -1;
	if (!S_ISFIFO(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return os_open_fifo(path, writing);
}

char *os_make_fifo(void)
{
	const char *tmp = secure_getenv("TMPDIR");
	char *folder, *path = NULL;

	if (asprintf(&folder, "%s/trib-jobserver-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp") < 0)
		return NULL;
	if (mkdtemp(folder) && asprintf(&path, "%s/fifo", folder) < 0)
		path = NULL;
	if (path && mkfifo(path, 0600) != 0) {
		int saved = errno;

		rmdir(folder);
		free(path);
		path = NULL;
		errno = saved;
	}
	free(folder);
	return path;
}

void os_remove_fifo(const char *path)
{
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;

	unlink(path);
	if (slash) {
		*slash = '\0';
		rmdir(folder);
	}
	free(folder);
}
