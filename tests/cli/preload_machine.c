/* Preloaded: a machine with the load average of $LOAD_AVERAGE and the free memory of the file $MEMINFO. Without one of them, the machine's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int getloadavg(double *out, int n)
{
	int (*real)(double *, int);
	void *found = dlsym(RTLD_NEXT, "getloadavg");
	const char *load = getenv("LOAD_AVERAGE");
	memcpy(&real, &found, sizeof real);
	if (!load || n < 1)
		return real(out, n);
	*out = atof(load);
	return 1;
}

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *);
	void *found = dlsym(RTLD_NEXT, "fopen");
	const char *meminfo = getenv("MEMINFO");
	memcpy(&real, &found, sizeof real);
	return real(meminfo && strcmp(path, "/proc/meminfo") == 0 ? meminfo : path, mode);
}

FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }
