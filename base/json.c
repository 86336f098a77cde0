#include "base/json.h"
#include <math.h>
#include <string.h>
#include "base/foreign.h"

static void comma(struct json_writer *w)
{
	if (w->need_comma)
		buf_putc(w->out, ',');
	w->need_comma = true;
}

void json_open(struct json_writer *w, char bracket)
{
	comma(w);
	buf_putc(w->out, bracket);
	w->need_comma = false;
}

void json_close(struct json_writer *w, char bracket)
{
	buf_putc(w->out, bracket);
	w->need_comma = true;
}

void json_strn(struct json_writer *w, const char *s, size_t n)
{
	comma(w);
	buf_putc(w->out, '"');
	foreign_put(w->out, FOREIGN_JSON, s, n);
	buf_putc(w->out, '"');
}

void json_str(struct json_writer *w, const char *s)
{
	if (s)
		json_strn(w, s, strlen(s));
	else
		json_none(w);
}

void json_key(struct json_writer *w, const char *key)
{
	json_str(w, key);
	buf_putc(w->out, ':');
	w->need_comma = false;
}

void json_int(struct json_writer *w, int64_t v)
{
	comma(w);
	buf_printf(w->out, "%lld", (long long)v);
}

void json_num(struct json_writer *w, double v)
{
	comma(w);
	if (isfinite(v))
		buf_printf(w->out, "%.3f", v);
	else
		buf_puts(w->out, "null");
}

void json_bool(struct json_writer *w, bool v)
{
	comma(w);
	buf_puts(w->out, v ? "true" : "false");
}

void json_none(struct json_writer *w)
{
	comma(w);
	buf_puts(w->out, "null");
}

void json_member_open(struct json_writer *w, const char *key, char bracket)
{
	json_key(w, key);
	json_open(w, bracket);
}

void json_member_str(struct json_writer *w, const char *key, const char *v)
{
	json_key(w, key);
	json_str(w, v);
}

void json_member_int(struct json_writer *w, const char *key, int64_t v)
{
	json_key(w, key);
	json_int(w, v);
}

void json_member_num(struct json_writer *w, const char *key, double v)
{
	json_key(w, key);
	json_num(w, v);
}

void json_member_real(struct json_writer *w, const char *key, double v)
{
	json_key(w, key);
	comma(w);
	if (isfinite(v))
		buf_printf(w->out, "%.9g", v);
	else
		buf_puts(w->out, "null");
}

void json_member_bool(struct json_writer *w, const char *key, bool v)
{
	json_key(w, key);
	json_bool(w, v);
}
