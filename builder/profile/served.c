/* The server holds a lock on a file. The lock ends with the process, so a killed server leaves nothing behind that would slow down builds. */
#include "builder/profile/served.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/os.h"

#define FOLDER ".trib"
#define LOCK ".trib/profile.lock"

bool served_is_wanted(void)
{
	int fd = open(LOCK, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	bool is_held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	close(fd);
	return is_held;
}

int served_begin(void)
{
	int fd = os_mkdirs(FOLDER) ? open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666) : -1;
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	int why = errno;
	close(fd);
	errno = why;
	return -1;
}

void served_renew(int *lock)
{
	struct stat held, now;
	if (fstat(*lock, &held) == 0 && stat(LOCK, &now) == 0 && held.st_ino == now.st_ino)
		return;
	int fd = served_begin();
	if (fd < 0)
		return;
	close(*lock);
	*lock = fd;
}
