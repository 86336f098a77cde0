/* printf for foreign texts: it reads the directives of a format one by one, and leaves the printing of numbers to the C library. */
#include "base/foreign.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/utf8.h"

/* The directive at a '%'. */
struct directive {
	char flags[8];
	int width, precision; /* precision: -1 if there is none */
	char length;          /* 0, 'h', 'l', 'L' (long long), 'j', 'z' or 't' */
	char conversion;
};

struct arguments {
	va_list list;
};

static int foreign_printf_read_number(const char **at, struct arguments *a)
{
	int n = 0;
	if (**at == '*') {
		++*at;
		return va_arg(a->list, int);
	}
	for (; **at >= '0' && **at <= '9'; ++*at)
		n = 10 * n + (**at - '0');
	return n;
}

static char read_length(const char **at)
{
	char length = 0;
	for (; **at && strchr("hljzt", **at); ++*at)
		length = length == 'l' ? 'L' : **at;
	return length;
}

/* Reads what follows a '%', and returns its end. */
static const char *read_directive(const char *at, struct arguments *a, struct directive *d)
{
	size_t n = strspn(at, "-+ #0");
	*d = (struct directive){.precision = -1};
	BUG_ON(n >= sizeof d->flags);
	memcpy(d->flags, at, n);
	at += n;
	d->width = foreign_printf_read_number(&at, a);
	if (d->width < 0) {
		BUG_ON(n + 1 >= sizeof d->flags);
		d->flags[n] = '-';
		d->width = -d->width;
	}
	if (*at == '.') {
		at++;
		d->precision = foreign_printf_read_number(&at, a);
	}
	d->length = read_length(&at);
	d->conversion = *at;
	return at + 1;
}

static uint32_t foreign_printf_columns_of(const char *s, size_t n)
{
	uint32_t columns = 0, cp;
	for (size_t i = 0; i < n; columns += utf8_width(cp))
		i += utf8_decode(s + i, n - i, &cp);
	return columns;
}

uint32_t foreign_columns(const char *s)
{
	struct buf text = {0};
	foreign_puts(&text, FOREIGN_LINE, s);
	uint32_t n = foreign_printf_columns_of(text.at, text.len);
	buf_free(&text);
	return n;
}

static void foreign_printf_put_string(struct buf *out, enum foreign_form form, const struct directive *d, const char *s)
{
	size_t n = d->precision < 0 ? strlen(s) : strnlen(s, (size_t)d->precision);
	bool at_end = !strchr(d->flags, '-');
	if (!d->width) {
		foreign_put(out, form, s, n);
		return;
	}
	struct buf text = {0};
	foreign_put(&text, form, s, n);
	uint32_t used = foreign_printf_columns_of(text.at, text.len);
	int pad = used < (uint32_t)d->width ? d->width - (int)used : 0;
	if (at_end)
		buf_printf(out, "%*s", pad, "");
	buf_put(out, text.at, text.len);
	if (!at_end)
		buf_printf(out, "%*s", pad, "");
	buf_free(&text);
}

static intmax_t read_signed(struct arguments *a, char length)
{
	switch (length) {
	case 'l': return va_arg(a->list, long);
	case 'L': return va_arg(a->list, long long);
	case 'j': return va_arg(a->list, intmax_t);
	case 'z':
	case 't': return va_arg(a->list, ptrdiff_t);
	default: return va_arg(a->list, int);
	}
}

static uintmax_t read_unsigned(struct arguments *a, char length)
{
	switch (length) {
	case 'l': return va_arg(a->list, unsigned long);
	case 'L': return va_arg(a->list, unsigned long long);
	case 'j': return va_arg(a->list, uintmax_t);
	case 'z':
	case 't': return va_arg(a->list, size_t);
	default: return va_arg(a->list, unsigned);
	}
}

static void foreign_printf_put_number(struct buf *out, const struct directive *d, struct arguments *a)
{
	char format[32];
	bool is_real = strchr("aAeEfFgG", d->conversion);
	snprintf(format, sizeof format, "%%%s*.*%s%c", d->flags, is_real ? "" : "j", d->conversion);
	if (is_real)
		buf_printf(out, format, d->width, d->precision, va_arg(a->list, double));
	else if (d->conversion == 'd' || d->conversion == 'i')
		buf_printf(out, format, d->width, d->precision, read_signed(a, d->length));
	else
		buf_printf(out, format, d->width, d->precision, read_unsigned(a, d->length));
}

static void put_directive(struct buf *out, enum foreign_form form, const struct directive *d, struct arguments *a)
{
	switch (d->conversion) {
	case '%': buf_putc(out, '%'); break;
	case 's': foreign_printf_put_string(out, form, d, va_arg(a->list, const char *)); break;
	case 'c': foreign_printf_put_string(out, form, d, (char[2]){(char)va_arg(a->list, int)}); break;
	default: BUG_ON(!d->conversion || !strchr("diouxXaAeEfFgG", d->conversion)); foreign_printf_put_number(out, d, a);
	}
}

void foreign_vprintf(struct buf *out, enum foreign_form form, const char *fmt, va_list ap)
{
	struct arguments a;
	struct directive d;
	va_copy(a.list, ap);
	for (const char *next; (next = strchr(fmt, '%'));) {
		buf_put(out, fmt, (size_t)(next - fmt));
		fmt = read_directive(next + 1, &a, &d);
		put_directive(out, form, &d, &a);
	}
	buf_puts(out, fmt);
	va_end(a.list);
}

void foreign_printf(struct buf *out, enum foreign_form form, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	foreign_vprintf(out, form, fmt, ap);
	va_end(ap);
}
