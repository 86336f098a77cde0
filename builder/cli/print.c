#include "builder/cli/print.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/os.h"
#include "base/print.h"

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
	buf_putc(out, '\n');
	print_text(stdout, out);
	buf_free(out);
}

enum status print_to(const char *path, const struct buf *text)
{
	if (!path || strcmp(path, "-") == 0)
		print_text(stdout, text);
	else if (!os_rewrite(path, text->at, text->len))
		return fail_environment("cannot write `%s`: %s", path, strerror(errno));
	return STATUS_OK;
}

static void print_say(const char *fmt, va_list ap)
{
	print(stderr, "trib: ");
	vprint(stderr, fmt, ap);
	print(stderr, "\n");
}

enum status fail_usage(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	print_say(fmt, ap);
	va_end(ap);
	return STATUS_USAGE;
}

enum status fail_environment(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	print_say(fmt, ap);
	va_end(ap);
	return STATUS_ENVIRONMENT;
}
