/* Tensors as PyTorch prints them (torch/_tensor_str.py): columns of one width, four digits, lines of 80 characters. Values that span more than three decades
 * have the scientific form. Above 1000 elements only the first and last three along each dimension are shown. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/format.h"

enum { LINE = 80, EDGE = 3, SUMMARISE = 1000, INDENT = 7 /* length of `tensor(` */, RANK = 8 };

static const char *const names[] = {"bool",    "trit",     "int8",    "int16",   "int32", "int64",
				    "float16", "bfloat16", "float32", "float64", "uint8"};

enum format_class format_class(enum format_elem elem)
{
	bool is_float = elem >= FORMAT_FLOAT16 && elem <= FORMAT_FLOAT64;
	return elem == FORMAT_BOOL ? FORMAT_CLASS_BOOL : is_float ? FORMAT_CLASS_FLOAT : FORMAT_CLASS_INT;
}

/* ---- elements ---- */

static double half_value(uint16_t h)
{
	int e = h >> 10 & 31;
	double m = h & 1023, v = e == 31 ? (m ? (double)NAN : (double)INFINITY) : e ? ldexp(m + 1024, e - 25) : ldexp(m, -24);
	return h >> 15 ? -v : v;
}

static int64_t element_int(enum format_elem elem, const void *data, int64_t i)
{
	switch (elem) {
	case FORMAT_UINT8: return ((const uint8_t *)data)[i];
	case FORMAT_INT16: return ((const int16_t *)data)[i];
	case FORMAT_INT32: return ((const int32_t *)data)[i];
	case FORMAT_INT64: return ((const int64_t *)data)[i];
	default: return ((const int8_t *)data)[i];
	}
}

double format_element_float(enum format_elem elem, const void *data, int64_t i)
{
	uint32_t bits;
	float f;
	switch (elem) {
	case FORMAT_FLOAT16: return half_value(((const uint16_t *)data)[i]);
	case FORMAT_BFLOAT16:
		bits = (uint32_t)((const uint16_t *)data)[i] << 16;
		memcpy(&f, &bits, sizeof f);
		return f;
	case FORMAT_FLOAT32: return ((const float *)data)[i];
	default: return ((const double *)data)[i];
	}
}

/* ---- the format of one tensor's elements ---- */

enum style { STYLE_EXACT, STYLE_WHOLE, STYLE_FIXED, STYLE_SCIENTIFIC, STYLE_SPEC };
struct columns {
	const struct format_value *v;
	const struct format_spec *spec;
	enum style style;
	bool summarise, whole;
	double least, most; /* of the finite absolute values that are not 0 */
	int width;
	struct format_out *out;
};

struct text {
	char at[600];
	size_t n;
};
static void into_text(void *ctx, const char *s, size_t n)
{
	struct text *t = ctx;
	n = n < sizeof t->at - t->n ? n : sizeof t->at - t->n;
	memcpy(t->at + t->n, s, n);
	t->n += n;
}

static void write_element(const struct format_spec *spec, const struct format_value *value, int64_t i, struct format_out *out)
{
	enum format_class k = format_class(value->elem);
	if (k == FORMAT_CLASS_FLOAT)
		format_float(spec, format_element_float(value->elem, value->data, i), value->elem, out);
	else if (k == FORMAT_CLASS_BOOL)
		format_bool(spec, element_int(value->elem, value->data, i) != 0, out);
	else
		format_int(spec, element_int(value->elem, value->data, i), out);
}

static void format_tensor_element_text(const struct columns *c, int64_t i, struct text *t)
{
	struct format_spec spec = {.precision = -1};
	struct format_out out = {into_text, t};
	t->n = 0;
	if (c->style == STYLE_SPEC)
		spec = *c->spec;
	if (c->style == STYLE_FIXED || c->style == STYLE_SCIENTIFIC) {
		spec.type = c->style == STYLE_FIXED ? 'f' : 'e';
		spec.precision = 4;
	}
	if (c->style == STYLE_WHOLE) {
		spec.type = 'f';
		spec.precision = 0;
	}
	write_element(&spec, c->v, i, &out);
	if (c->style == STYLE_WHOLE && isfinite(format_element_float(c->v->elem, c->v->data, i)))
		into_text(t, ".", 1);
}

/* Calls visit for each element that is shown. */
static void visit_shown(struct columns *c, uint32_t axis, int64_t first, void (*visit)(struct columns *c, int64_t i))
{
	const struct format_value *v = c->v;
	int64_t n = axis < v->rank ? v->dims[axis] : 0;
	if (axis == v->rank) {
		visit(c, first);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		if (c->summarise && n > 2 * EDGE && i == EDGE)
			i = n - EDGE;
		visit_shown(c, axis + 1, first * n + i, visit);
	}
}

static void note_range(struct columns *c, int64_t i)
{
	double x = fabs(format_element_float(c->v->elem, c->v->data, i));
	if (!isfinite(x) || x == 0)
		return;
	c->least = x < c->least ? x : c->least;
	c->most = x > c->most ? x : c->most;
	c->whole = c->whole && x == ceil(x);
}

static void note_width(struct columns *c, int64_t i)
{
	struct text t;
	bool zero_counts = c->style == STYLE_EXACT || c->style == STYLE_SPEC;
	double x = zero_counts ? 1 : format_element_float(c->v->elem, c->v->data, i);
	if (!isfinite(x) || x == 0)
		return;
	format_tensor_element_text(c, i, &t);
	c->width = (int)t.n > c->width ? (int)t.n : c->width;
}

static void choose_style(struct columns *c)
{
	if (c->spec) {
		c->style = STYLE_SPEC;
	} else if (format_class(c->v->elem) == FORMAT_CLASS_FLOAT) {
		c->whole = true;
		c->least = DBL_MAX;
		visit_shown(c, 0, 0, note_range);
		bool wide = c->most > 0 && (c->most / c->least > 1000 || c->most > 1e8 || (!c->whole && c->least < 1e-4));
		c->style = wide ? STYLE_SCIENTIFIC : c->whole ? STYLE_WHOLE : STYLE_FIXED;
	}
	c->width = 1;
	visit_shown(c, 0, 0, note_width);
}

/* ---- layout ---- */

static void format_tensor_put(struct format_out *out, const char *s) { out->put(out->ctx, s, strlen(s)); }

static void spaces(struct format_out *out, int n)
{
	for (; n > 0; n--)
		out->put(out->ctx, " ", 1);
}

static void write_row(struct columns *c, int64_t first, int64_t n, int indent)
{
	int fit = (LINE - indent) / (c->width + 2), used = 0;
	struct text t;
	fit = fit < 1 ? 1 : fit;
	for (int64_t i = 0; i < n; i++, used++) {
		if (used)
			format_tensor_put(c->out, used % fit ? ", " : ",\n");
		if (used && used % fit == 0)
			spaces(c->out, indent + 1);
		if (c->summarise && n > 2 * EDGE && i == EDGE) {
			format_tensor_put(c->out, " ...");
			i = n - EDGE - 1;
			continue;
		}
		format_tensor_element_text(c, first + i, &t);
		spaces(c->out, c->width - (int)t.n);
		c->out->put(c->out->ctx, t.at, t.n);
	}
}

static void write_axis(struct columns *c, uint32_t axis, int64_t first, int indent)
{
	const struct format_value *v = c->v;
	int64_t n = v->dims[axis];
	bool last = axis + 1 == v->rank;
	format_tensor_put(c->out, "[");
	if (last)
		write_row(c, first * n, n, indent);
	for (int64_t i = 0; i < n && !last; i++) {
		bool gap = c->summarise && n > 2 * EDGE && i == EDGE;
		if (i) {
			format_tensor_put(c->out, ",");
			for (uint32_t k = axis + 1; k < v->rank; k++)
				format_tensor_put(c->out, "\n");
			spaces(c->out, indent + 1);
		}
		if (gap) {
			format_tensor_put(c->out, "...");
			i = n - EDGE - 1;
		} else {
			write_axis(c, axis + 1, first * n + i, indent + 1);
		}
	}
	format_tensor_put(c->out, "]");
}

/* Writes text and remembers the length of its last line. */
struct line {
	struct format_out *out;
	size_t n;
};
static void into_line(void *ctx, const char *s, size_t n)
{
	struct line *l = ctx;
	for (size_t i = 0; i < n; i++)
		l->n = s[i] == '\n' ? 0 : l->n + 1;
	l->out->put(l->out->ctx, s, n);
}

static void write_suffix(struct line *l, const char *name, const char *value)
{
	struct format_out out = {into_line, l};
	if (l->n + strlen(name) + strlen(value) + 4 > LINE) {
		format_tensor_put(&out, ",\n");
		spaces(&out, INDENT);
	} else {
		format_tensor_put(&out, ", ");
	}
	format_tensor_put(&out, name);
	format_tensor_put(&out, value);
}

static void write_empty(const struct format_value *value, struct line *l)
{
	struct format_out out = {into_line, l};
	char size[RANK * 22 + 4] = "(";
	format_tensor_put(&out, "[]");
	for (uint32_t k = 0; k < value->rank && k < RANK; k++)
		sprintf(size + strlen(size), k ? ", %lld" : "%lld", (long long)value->dims[k]);
	strcat(size, ")");
	if (value->rank > 1)
		write_suffix(l, "size=", size);
}

void format_tensor(const struct format_spec *spec, const struct format_value *value, struct format_out *out)
{
	static const struct format_spec plain = {.precision = -1};
	struct line line = {.out = out};
	struct format_out counted = {into_line, &line};
	struct columns c = {.v = value, .spec = spec, .out = &counted};
	int64_t count = 1;
	if (!value->rank) {
		write_element(spec ? spec : &plain, value, 0, out);
		return;
	}
	for (uint32_t k = 0; k < value->rank; k++)
		count *= value->dims[k];
	c.summarise = count > SUMMARISE;
	format_tensor_put(&counted, "tensor(");
	if (count) {
		choose_style(&c);
		write_axis(&c, 0, 0, INDENT);
	} else {
		write_empty(value, &line);
	}
	bool usual = value->elem == FORMAT_FLOAT32 || value->elem == FORMAT_INT32 || value->elem == FORMAT_BOOL;
	if (!usual)
		write_suffix(&line, "dtype=", names[value->elem]);
	format_tensor_put(&counted, ")");
}

/* A template encodes a NUL as 0xC0 0x80. */
static void format_tensor_put_text(struct format_out *out, const char *s, size_t n)
{
	static const char nul[] = "\xC0\x80";
	const char *end = s + n;
	for (size_t i = 0; i + 1 < (size_t)(end - s);) {
		if (s[i] != nul[0] || s[i + 1] != nul[1]) {
			i++;
			continue;
		}
		out->put(out->ctx, s, i);
		out->put(out->ctx, "", 1);
		s += i + 2;
		i = 0;
	}
	out->put(out->ctx, s, (size_t)(end - s));
}

/* Writes the text up to the next placeholder and returns the specification there. NULL at the end, or if the template is invalid. */
static const char *next_placeholder(const char **text, struct format_spec *spec, bool *given, struct format_out *out)
{
	const char *s = *text;
	for (;;) {
		size_t n = strcspn(s, "{}");
		format_tensor_put_text(out, s, n);
		s += n;
		if (!*s || s[1] != *s)
			break;
		out->put(out->ctx, s, 1);
		s += 2;
	}
	*text = s;
	const char *end = *s == '{' ? strchr(s, '}') : NULL;
	*given = end && s[1] == ':';
	if (!end || (!*given && end != s + 1) || (*given && format_parse(s + 2, (size_t)(end - s - 2), spec)))
		return NULL;
	*text = end + 1;
	return end;
}

static void discard(void *ctx, const char *s, size_t n) { (void)ctx, (void)s, (void)n; }

int format_placeholders(const char *text)
{
	struct format_out out = {discard, NULL};
	struct format_spec spec;
	bool given;
	int n = 0;
	while (next_placeholder(&text, &spec, &given, &out))
		n++;
	return *text ? -1 : n;
}

void format_template(const char *text, const struct format_value *values, struct format_out *out)
{
	struct format_spec spec;
	bool given;
	while (next_placeholder(&text, &spec, &given, out))
		format_tensor(given ? &spec : NULL, values++, out);
}
