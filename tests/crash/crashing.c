/* Crashes as soon as it is loaded, by the signal whose number is in the environment: as an OpenCL driver, or as a part of a model's library.
 * First it adds a byte to a file, which counts how often that happened. CRASHING_SILENTLY: it also takes the signal's handler away, as LLVM does. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void crash(void)
{
	const char *sig = getenv("CRASHING_SIGNAL"), *log = getenv("CRASHING_LOG");
	int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
	if (fd >= 0 && write(fd, "x", 1) == 1)
		close(fd);
	if (sig && getenv("CRASHING_SILENTLY"))
		signal(atoi(sig), SIG_DFL);
	if (sig)
		raise(atoi(sig));
}
