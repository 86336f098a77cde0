/* Strings made of values. A value known at compile time is printed at once. One known only at run time becomes a field of the template,
 * which the program fills in (base/format.h). */
#include "frontend/unit/text.h"
#include "base/buf.h"
#include <math.h>
#include <string.h>

_Static_assert((int)DT_BOOL == (int)FORMAT_BOOL && (int)DT_INT64 == (int)FORMAT_INT64 && (int)DT_FLOAT64 == (int)FORMAT_FLOAT64,
	       "the same numbers");

enum { MAX_VALUES = 60 }; /* the limit of one call of a library's runtime */

const struct text_format no_text_format = {.text = "", .parsed = {.precision = -1}};

void text_put_bytes(void *ctx, const char *s, size_t n)
{
	struct text_builder *t = ctx;
	buf_put(&t->plain, s, n);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '{' || s[i] == '}')
			buf_putc(&t->template, s[i]);
		buf_putc(&t->template, s[i]);
	}
}

void text_put(struct text_builder *t, const char *s) { text_put_bytes(t, s, strlen(s)); }

static void put_run_time(struct text_builder *t, hir_ref r, const struct text_format *format)
{
	vec_push(&t->values, r);
	buf_puts(&t->template, "{");
	if (format->n) {
		buf_putc(&t->template, ':');
		buf_put(&t->template, format->text, format->n);
	}
	buf_puts(&t->template, "}");
}

static bool format_fits(struct text_builder *t, const struct text_format *format, enum format_class class)
{
	const char *why = format->n ? format_check(&format->parsed, class) : NULL;
	if (why) {
		report_error(t->e, DIAG_BAD_FSTRING, format->at, "the format `:%.*s` does not fit the value: %s", (int)format->n,
			     format->text, why);
		t->poison = true;
	}
	return !why;
}

static void unit_text_put_value(struct text_builder *t, struct value v, const struct text_format *format, bool nested);

static void put_seq(struct text_builder *t, struct value v, const struct text_format *format)
{
	bool list = v.kind == V_LIST;
	text_put(t, list ? "[" : "(");
	for (uint32_t i = 0; i < v.u.seq->n && !t->poison; i++) {
		if (i)
			text_put(t, ", ");
		unit_text_put_value(t, v.u.seq->at[i], format, true);
	}
	text_put(t, list ? "]" : v.u.seq->n == 1 ? ",)" : ")");
}

static void text_put_range(struct text_builder *t, const struct range *range, const struct text_format *format)
{
	unit_text_put_value(t, range->from, format, true);
	text_put(t, "..");
	unit_text_put_value(t, range->to, format, true);
	if (range->step != 1) {
		text_put(t, ":");
		unit_text_put_value(t, value_int(range->step), format, true);
	}
}

static void text_put_string(struct text_builder *t, const char *s, const struct text_format *format, bool nested)
{
	struct format_out out = {text_put_bytes, t};
	if (nested)
		text_put(t, "\"");
	if (format_fits(t, format, FORMAT_CLASS_STR))
		format_str(&format->parsed, s, strlen(s), &out);
	if (nested)
		text_put(t, "\"");
}

/* Names of layers, functions, types. */
static void text_put_name(struct text_builder *t, struct value v, const struct text_format *format)
{
	struct buf b = {0};
	value_print(t->e->f, t->e->b->dims, v, &b);
	text_put_string(t, b.at ? b.at : "", format, false);
	buf_free(&b);
}

/* Appends the template and values of another string. */
static void text_put_template(struct text_builder *t, const struct text_template *text, const struct text_format *format)
{
	if (format->n) {
		report_error(t->e, DIAG_BAD_FSTRING, format->at, "a string with run-time values takes no format");
		t->poison = true;
	}
	buf_puts(&t->template, text->template);
	for (uint32_t i = 0; i < text->values.u.seq->n; i++)
		vec_push(&t->values, text->values.u.seq->at[i].u.t);
}

static void put_tensor(struct text_builder *t, hir_ref r, const struct text_format *format)
{
	if (t->e->types_in_text) {
		text_put(t, type_text(t->e, r));
		return;
	}
	if (format_fits(t, format, format_class((enum format_elem)type_of(t->e, r)->elem)))
		put_run_time(t, r, format);
}

/* A literal is printed as float32, the type that it has by default, but as float64 if float32 overflows or underflows. */
static void put_float(const struct format_spec *format, struct value v, struct format_out *out)
{
	double d = number_as(v, scalar_type(v));
	bool fits = v.typed || (isfinite(d) == isfinite(v.u.f) && (d != 0) == (v.u.f != 0));
	format_float(format, fits ? d : v.u.f, fits ? (enum format_elem)scalar_type(v) : FORMAT_FLOAT64, out);
}

static void text_put_dim(struct text_builder *t, struct value v, const struct text_format *format)
{
	if (t->e->types_in_text)
		text_put_name(t, v, &no_text_format);
	else
		put_tensor(t, emit_dim(t->e, v.u.d, format->at), format);
}

static void unit_text_put_value(struct text_builder *t, struct value v, const struct text_format *format, bool nested)
{
	struct format_out out = {text_put_bytes, t};
	switch (v.kind) {
	case V_POISON: t->poison = true; break;
	case V_INT:
	case V_TRIT:
		if (format_fits(t, format, FORMAT_CLASS_INT))
			format_int(&format->parsed, v.u.i, &out);
		break;
	case V_FLOAT:
		if (format_fits(t, format, FORMAT_CLASS_FLOAT))
			put_float(&format->parsed, v, &out);
		break;
	case V_BOOL:
		if (format_fits(t, format, FORMAT_CLASS_BOOL))
			format_bool(&format->parsed, v.u.b, &out);
		break;
	case V_STR: text_put_string(t, v.u.s, format, nested); break;
	case V_TEXT: text_put_template(t, v.u.text, format); break;
	case V_TUPLE:
	case V_LIST: put_seq(t, v, format); break;
	case V_RANGE: text_put_range(t, v.u.range, format); break;
	case V_DIM: text_put_dim(t, v, format); break;
	case V_TENSOR: put_tensor(t, v.u.t, format); break;
	default: text_put_name(t, v, format); break;
	}
}

void text_put_value(struct text_builder *t, struct value v, const struct text_format *format) { unit_text_put_value(t, v, format, false); }

struct value text_finish(struct text_builder *t, span at)
{
	struct value v = VALUE_POISON;
	if (!t->poison && !t->values.len) {
		v = checked_string(t->e, t->plain.at ? t->plain.at : "", t->plain.len, at);
	} else if (!t->poison) {
		struct text_template *text = ARENA_NEW(t->e->f->arena, struct text_template);
		text->template = checked_string(t->e, t->template.at, t->template.len, at).u.s;
		text->values = value_seq(t->e->f->arena, V_TUPLE, t->values.len);
		for (uint32_t i = 0; i < t->values.len; i++)
			text->values.u.seq->at[i] = value_tensor(t->values.at[i]);
		v = t->e->report.gave_up ? VALUE_POISON : (struct value){.kind = V_TEXT, .u.text = text};
	}
	buf_free(&t->template);
	buf_free(&t->plain);
	vec_free(&t->values);
	return v;
}

struct value values_to_text(struct emitter *e, const struct value *v, uint32_t n, span at)
{
	struct text_builder t = {.e = e};
	for (uint32_t i = 0; i < n; i++)
		text_put_value(&t, v[i], &no_text_format);
	return text_finish(&t, at);
}

void emit_text_effect(struct emitter *e, enum hir_kind kind, struct value text, const struct hir_arg *lead, uint32_t n_lead, span at)
{
	uint32_t n = text.kind == V_TEXT ? text.u.text->values.u.seq->n : 0;
	if (n > MAX_VALUES) {
		report_error(e, DIAG_ARG_COUNT, at, "a text has at most %d values known only at run time", MAX_VALUES);
		return;
	}
	struct hir_arg *args = ARENA_ARRAY(e->f->arena, struct hir_arg, n_lead + n + 1);
	const char *template = text.kind == V_TEXT ? text.u.text->template : "";
	if (text.kind == V_STR) {
		struct text_builder t = {.e = e};
		text_put(&t, text.u.s);
		template = arena_strndup(e->f->arena, t.template.at ? t.template.at : "", t.template.len);
		text_finish(&t, at);
	}
	args[0] = (struct hir_arg){.kind = ARG_STR, .u.s = template};
	for (uint32_t i = 0; i < n_lead; i++)
		args[1 + i] = lead[i];
	for (uint32_t i = 0; i < n; i++)
		args[1 + n_lead + i] = arg_tensor(text.u.text->values.u.seq->at[i].u.t);
	emit_effect(e, kind, args, 1 + n_lead + n, at);
}
