#include "builder/lib/perf_map.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/link/elf/load.h"
#include "base/buf.h"

struct writer {
	const char *base;
	struct buf lines;
};

static void perf_map_put_function(void *ctx, const char *name, uint64_t at, uint64_t size)
{
	struct writer *w = ctx;
	buf_printf(&w->lines, "%llx %llx %s\n", (unsigned long long)((uintptr_t)w->base + at), (unsigned long long)size, name);
}

void perf_map_add(const char *base, const void *image, size_t len)
{
	const char *wanted = secure_getenv("TRIB_PERF_MAP");
	if (!wanted || strcmp(wanted, "1") != 0)
		return;
	struct writer w = {.base = base};
	char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	load_functions(image, len, perf_map_put_function, &w);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd >= 0) {
		ssize_t written = write(fd, w.lines.at, w.lines.len); /* whole: O_APPEND, and a file */
		(void)written;
		close(fd);
	}
	buf_free(&w.lines);
}
