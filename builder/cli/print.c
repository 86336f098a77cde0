#include "builder/cli/print.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/os.h"

const char *print_size(uint64_t bytes, char out[32])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)bytes;
	uint32_t u = 0;
	for (; v >= 1024 && u < 4; u++)
		v /= 1024;
	snprintf(out, 32, u ? "%.1f %s" : "%.0f %s", v, units[u]);
	return out;
}

void print_json(struct buf *out)
{
	puts(out->at);
	buf_free(out);
}

enum status print_to(const char *path, const struct buf *text)
{
	if (!path || strcmp(path, "-") == 0)
		fwrite(text->at, 1, text->len, stdout);
	else if (!os_rewrite(path, text->at, text->len))
		return fail_environment("cannot write `%s`: %s", path, strerror(errno));
	return STATUS_OK;
}

static void say(const char *fmt, va_list ap)
{
	fputs("trib: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

enum status fail_usage(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return STATUS_USAGE;
}

enum status fail_environment(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return STATUS_ENVIRONMENT;
}
