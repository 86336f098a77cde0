/* Format specifications and scalars, as in the "Format Specification Mini-Language" of Python's library reference. */
#include "base/format.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WIDTH = 1000, MAX_PRECISION = 100, TEXT = 512 };

/* ---- specifications ---- */

static size_t character(const char *s, const char *end)
{
	size_t n = 1;
	while (s + n < end && n < 4 && ((unsigned char)s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

static bool one_of(const char *s, const char *end, const char *set) { return s < end && *s && strchr(set, *s); }

static const char *format_number(const char *s, const char *end, int limit, int *out)
{
	int64_t v = 0;
	for (; s < end && *s >= '0' && *s <= '9'; s++)
		v = v > limit ? v : 10 * v + (*s - '0');
	*out = v > limit ? limit + 1 : (int)v;
	return s;
}

static const char *alignment(const char *s, const char *end, struct format_spec *out)
{
	size_t n = s < end ? character(s, end) : 0;
	if (n && one_of(s + n, end, "<>^=")) {
		memcpy(out->fill, s, n);
		s += n;
	}
	if (one_of(s, end, "<>^="))
		out->align = *s++;
	return s;
}

const char *format_parse(const char *s, size_t n, struct format_spec *out)
{
	const char *end = s + n;
	*out = (struct format_spec){.precision = -1};
	s = alignment(s, end, out);
	if (one_of(s, end, "+- "))
		out->sign = *s++;
	if (one_of(s, end, "#"))
		out->alternate = *s++;
	if (one_of(s, end, "0")) {
		s++;
		if (!out->fill[0])
			out->fill[0] = '0';
		if (!out->align)
			out->align = '=';
	}
	s = format_number(s, end, MAX_WIDTH, &out->width);
	if (one_of(s, end, ",_"))
		out->group = *s++;
	if (one_of(s, end, ".")) {
		if (!one_of(s + 1, end, "0123456789"))
			return "a precision is missing after `.`";
		s = format_number(s + 1, end, MAX_PRECISION, &out->precision);
	}
	if (one_of(s, end, "bdoxXeEfFgGs%"))
		out->type = *s++;
	if (out->align == '=' && out->fill[0] && out->fill[1])
		return "`=` fills with one ASCII character";
	if (out->width > MAX_WIDTH || out->precision > MAX_PRECISION)
		return "a width is at most 1000 and a precision at most 100";
	return s == end ? NULL : "this is no format specification";
}

const char *format_check(const struct format_spec *spec, enum format_class class)
{
	bool integer = spec->type && strchr("bdoxX", spec->type), real = spec->type && strchr("eEfFgG%", spec->type);
	bool numeric = integer || real || spec->sign || spec->group || spec->alternate || (spec->align == '=' && spec->fill[0] != '0');
	if (class == FORMAT_CLASS_STR)
		return numeric ? "a string takes only a fill, an alignment, a width and a precision" : NULL;
	if (spec->type == 's')
		return "`s` is for strings";
	if (spec->group == ',' && spec->type && strchr("boxX", spec->type))
		return "`,` does not go with b, o, x or X; write `_`";
	if (class == FORMAT_CLASS_FLOAT && integer)
		return "this format is for integers; a float takes e, f, g or %";
	if (class != FORMAT_CLASS_FLOAT && spec->precision >= 0 && !real)
		return "an integer takes no precision without e, f, g or %";
	return NULL;
}

/* ---- padding and grouping ---- */

static void format_put(struct format_out *out, const char *s, size_t n)
{
	if (n)
		out->put(out->ctx, s, n);
}

static void format_fill(struct format_out *out, const struct format_spec *spec, int n)
{
	const char *f = spec->fill[0] ? spec->fill : " ";
	for (; n > 0; n--)
		format_put(out, f, strlen(f));
}

static int format_characters(const char *s, size_t n)
{
	int count = 0;
	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)s[i] & 0xc0) != 0x80;
	return count;
}

static void put_padded(const struct format_spec *spec, char standard, const char *s, size_t n, struct format_out *out)
{
	int room = spec->width - format_characters(s, n), left = 0;
	char align = spec->align && spec->align != '=' ? spec->align : standard;
	room = room > 0 ? room : 0;
	left = align == '>' ? room : align == '^' ? room / 2 : 0;
	format_fill(out, spec, left);
	format_put(out, s, n);
	format_fill(out, spec, room - left);
}

/* The text of a number: sign (with 0x and similar), n digits of which `whole` are before the point, in groups of `step`. */
static void format_put_number(const struct format_spec *spec, const char *sign, const char *digits, size_t n, size_t whole, size_t step,
			      struct format_out *out)
{
	char text[2 * MAX_WIDTH + 2 * TEXT];
	size_t len = strlen(sign), zeros = 0;
	bool inside = spec->align == '=';
	if (inside && spec->fill[0] == '0') /* the zeros are grouped like digits */
		while (len + zeros + n + (spec->group ? (zeros + whole - 1) / step : 0) < (size_t)spec->width)
			zeros++;
	memcpy(text, sign, len);
	if (inside)
		for (size_t have = len + n + (spec->group && whole ? (whole - 1) / step : 0); !zeros && have < (size_t)spec->width; have++)
			text[len++] = spec->fill[0] ? spec->fill[0] : ' ';
	for (size_t i = 0, all = zeros + whole; i < all; i++) {
		if (spec->group && i && (all - i) % step == 0)
			text[len++] = spec->group;
		text[len++] = i < zeros ? '0' : digits[i - zeros];
	}
	memcpy(text + len, digits + whole, n - whole);
	put_padded(spec, '>', text, len + n - whole, out);
}

static const char *sign_text(const struct format_spec *spec, bool negative)
{
	return negative ? "-" : spec->sign == '+' ? "+" : spec->sign == ' ' ? " " : "";
}

/* ---- strings and integers ---- */

void format_str(const struct format_spec *spec, const char *s, size_t n, struct format_out *out)
{
	size_t keep = 0;
	for (int left = spec->precision; spec->precision >= 0 && keep < n && left > 0; left--)
		keep += character(s + keep, s + n);
	put_padded(spec, '<', s, spec->precision >= 0 ? keep : n, out);
}

void format_int(const struct format_spec *spec, int64_t v, struct format_out *out)
{
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	unsigned base = spec->type == 'b' ? 2 : spec->type == 'o' ? 8 : (spec->type | 0x20) == 'x' ? 16 : 10;
	const char *letters = spec->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	char digits[64], sign[4], *at = digits + sizeof digits;
	if (spec->type && strchr("eEfFgG%", spec->type)) {
		format_float(spec, (double)v, FORMAT_FLOAT64, out);
		return;
	}
	do
		*--at = letters[u % base];
	while (u /= base);
	char prefix[3] = {spec->alternate && base != 10 ? '0' : 0, spec->type};
	snprintf(sign, sizeof sign, "%s%s", sign_text(spec, v < 0), prefix);
	size_t n = (size_t)(digits + sizeof digits - at);
	format_put_number(spec, sign, at, n, n, base == 10 ? 3 : 4, out);
}

void format_bool(const struct format_spec *spec, bool v, struct format_out *out)
{
	if (spec->type && spec->type != 's')
		format_int(spec, v, out);
	else
		put_padded(spec, '<', v ? "true" : "false", v ? 4 : 5, out);
}

/* ---- floats ---- */

/* snprintf writes the decimal point of the host's locale. */
static void plain_point(char *s)
{
	char *to = s;
	for (bool in_point = false; *s; s++) {
		bool known = strchr("0123456789+-eE", *s) != NULL;
		if (known || !in_point)
			*to++ = known ? *s : '.';
		in_point = !known;
	}
	*to = 0;
}

static double format_rounded(double v, int bits, int least)
{
	int e;
	frexp(v, &e);
	int unit = e - bits < least ? least : e - bits;
	return ldexp(nearbyint(ldexp(v, -unit)), unit);
}

static bool reads_back(const char *text, double v, enum format_elem elem)
{
	double back = strtod(text, NULL);
	switch (elem) {
	case FORMAT_FLOAT16: return format_rounded(back, 11, -24) == v;
	case FORMAT_BFLOAT16: return format_rounded(back, 8, -133) == v;
	case FORMAT_FLOAT32: return strtof(text, NULL) == (float)v;
	default: return back == v;
	}
}

/* The shortest digits of |v| that read back as the same value, without a point, and the exponent of the first. */
static int shortest(double v, enum format_elem elem, char *digits)
{
	char text[40];
	int n = 0, exponent;
	do
		snprintf(text, sizeof text, "%.*e", n++, v);
	while (n < 17 && !reads_back(text, v, elem));
	char *e = strchr(text, 'e');
	exponent = (e[2] - '0') * 10 + (e[3] - '0'); /* two or three digits */
	exponent = e[4] ? exponent * 10 + (e[4] - '0') : exponent;
	exponent = e[1] == '-' ? -exponent : exponent;
	for (char *p = text; p < e; p++)
		if (*p >= '0' && *p <= '9')
			*digits++ = *p;
	*digits = 0;
	return exponent;
}

/* As Python's repr: 1.0, 0.1, 1e-05, 1.5e+20. */
static void shortest_text(double v, enum format_elem elem, char *out)
{
	char d[40];
	int e = shortest(v, elem, d), n = (int)strlen(d);
	if (e < -4 || e >= 16)
		sprintf(out, "%c%s%se%c%02d", d[0], n > 1 ? "." : "", d + 1, e < 0 ? '-' : '+', abs(e));
	else if (e < 0)
		sprintf(out, "0.%.*s%s", -e - 1, "000", d);
	else if (n <= e + 1)
		sprintf(out, "%s%.*s.0", d, e + 1 - n, "0000000000000000");
	else
		sprintf(out, "%.*s.%s", e + 1, d, d + e + 1);
}

/* A precision without a type is like g, but shows a digit after the point, or the exponent if that digit does not fit. */
static void show_point(char *text, double v, int precision)
{
	if ((int)strlen(text) < precision) {
		strcat(text, ".0");
		return;
	}
	snprintf(text, TEXT, "%.*e", precision > 0 ? precision - 1 : 0, v);
	plain_point(text);
	char *e = strchr(text, 'e'), *from = e;
	while (e[-1] == '0' && memchr(text, '.', (size_t)(e - text)))
		e--;
	e -= e[-1] == '.';
	memmove(e, from, strlen(from) + 1);
}

static void format_float_text(const struct format_spec *spec, double v, enum format_elem elem, char *out)
{
	char type = spec->type == '%' ? 'f' : spec->type ? spec->type : 'g';
	char how[8] = {'%', spec->alternate ? '#' : '-', '.', '*', type, 0};
	if (!spec->type && spec->precision < 0) {
		shortest_text(v, elem, out);
		return;
	}
	snprintf(out, TEXT, how, spec->precision < 0 ? 6 : spec->precision, spec->type == '%' ? 100 * v : v);
	plain_point(out);
	if (!spec->type && !strpbrk(out, ".e"))
		show_point(out, v, spec->precision);
	if (spec->type == '%')
		strcat(out, "%");
}

void format_float(const struct format_spec *spec, double v, enum format_elem elem, struct format_out *out)
{
	char text[TEXT + 8];
	bool upper = spec->type && strchr("EFG", spec->type);
	const char *sign = sign_text(spec, signbit(v) && !isnan(v));
	if (!isfinite(v)) {
		struct format_spec plain = *spec;
		plain.group = 0;
		strcpy(text, isnan(v) ? upper ? "NAN" : "nan" : upper ? "INF" : "inf");
		strcat(text, spec->type == '%' ? "%" : "");
		format_put_number(&plain, sign, text, strlen(text), 3, 3, out);
		return;
	}
	format_float_text(spec, fabs(v), elem, text);
	size_t n = strlen(text);
	format_put_number(spec, sign, text, n, strspn(text, "0123456789"), 3, out);
}
