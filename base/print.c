#include "base/print.h"
#include <stdarg.h>
#include "base/buf.h"
#include "base/foreign.h"
#include "base/os.h"

static void print_write_all(FILE *out, const struct buf *text)
{
	if (text->len)
		fwrite(text->at, 1, text->len, out);
}

void vprint(FILE *out, const char *fmt, va_list ap)
{
	struct buf text = {0};
	foreign_vprintf(&text, FOREIGN_MESSAGE, fmt, ap);
	print_write_all(out, &text);
	buf_free(&text);
}

void print(FILE *out, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vprint(out, fmt, ap);
	va_end(ap);
}

void print_bytes(FILE *out, const char *text, size_t n)
{
	struct buf safe = {0};
	foreign_put(&safe, FOREIGN_TEXT, text, n);
	print_write_all(out, &safe);
	buf_free(&safe);
}

void print_text(FILE *out, const struct buf *text)
{
	if (text->len)
		print_bytes(out, text->at, text->len);
}

void print_drawn(FILE *out, const struct buf *text) { print_write_all(out, text); }

void print_data(FILE *out, const char *data, size_t n)
{
	if (os_is_tty(fileno(out)))
		print_bytes(out, data, n);
	else
		fwrite(data, 1, n, out);
}
