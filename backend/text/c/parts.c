#include "backend/text/c/parts.h"
#include <ctype.h>
#include <string.h>
#include "base/embedded.h"
#include "backend/kernels/kernel.h"
#include "backend/loops/ir/loops.h"
#include "backend/text/dialect.h"
#include "backend/text/text.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/map.h"

/* What a part is written out for, and the words that it takes. */
struct suffix {
	const char *suffix, *sets[4]; /* the sets that it is in */
	const char *type, *computed, *function, *least, *most, *add;
};
static const struct suffix suffixes[] = {
	{"int8_t", {"ints", "signed"}, "int8_t", "uint32_t", "", "INT8_MIN", "INT8_MAX", ""},
	{"uint8_t", {"ints", "unsigned"}, "uint8_t", "uint32_t", "", "0", "UINT8_MAX", ""},
	{"int16_t", {"ints", "signed"}, "int16_t", "uint32_t", "", "INT16_MIN", "INT16_MAX", ""},
	{"int32_t", {"ints", "signed"}, "int32_t", "uint32_t", "", "INT32_MIN", "INT32_MAX", ""},
	{"int64_t", {"ints", "signed"}, "int64_t", "uint64_t", "", "INT64_MIN", "INT64_MAX", ""},
	{"float", {"floats"}, "float", "", "f", "", "", ""},
	{"double", {"floats"}, "double", "", "", "", "", ""},
	{"f32", {"ordered", "floats_by_size"}, "float", "", "f", "", "", "tri_plus_float"},
	{"f64", {"ordered", "floats_by_size"}, "double", "", "", "", "", "tri_plus_double"},
	{"i64", {"ordered"}, "int64_t", "uint64_t", "", "INT64_MIN", "INT64_MAX", "tri_add_int64_t"},
};
enum { N_SUFFIXES = sizeof suffixes / sizeof *suffixes, N_SOURCES = 3 };

struct part {
	const char *at; /* behind its line */
	size_t len;
	const char *name; /* as the text has it */
	size_t name_len;
	const struct suffix *suffix; /* NULL: of none */
};

static bool is_in_set(const struct suffix *s, const char *set, size_t len)
{
	for (uint32_t k = 0; k < 4 && s->sets[k]; k++)
		if (strlen(s->sets[k]) == len && !strncmp(s->sets[k], set, len))
			return true;
	return false;
}

static const struct suffix *suffix_of(const char *text, size_t len)
{
	for (uint32_t k = 0; k < N_SUFFIXES; k++)
		if (strlen(suffixes[k].suffix) == len && !strncmp(suffixes[k].suffix, text, len))
			return &suffixes[k];
	return NULL;
}

/* True if a part of this line, "NAME SET", has the name. */
static bool parts_has_name(const char *line, const char *name, size_t len, const struct suffix **suffix)
{
	size_t own = strcspn(line, " \n");
	*suffix = NULL;
	if (line[own] == '\n')
		return own == len && !strncmp(line, name, len);
	if (own + 1 >= len || strncmp(line, name, own) != 0 || name[own] != '_')
		return false;
	const char *set = line + own + 1;
	*suffix = suffix_of(name + own + 1, len - own - 1);
	return *suffix && is_in_set(*suffix, set, strcspn(set, "\n"));
}

extern const struct embedded C_SOURCES[];

static const char *parts_source_text(const char *name)
{
	uint32_t k = 0;
	while (strcmp(C_SOURCES[k].name, name) != 0)
		k++;
	return (const char *)C_SOURCES[k].bytes;
}

static bool find_part(const char *own, const char *name, size_t len, struct part *out)
{
	const char *const texts[N_SOURCES] = {own ? own : "", parts_source_text("helpers"), parts_source_text("kernels")};
	for (uint32_t k = 0; k < N_SOURCES; k++)
		for (const char *at = strstr(texts[k], "\n@@ "), *next; at; at = next) {
			const char *line = at + 4, *body = strchr(line, '\n') + 1;
			next = strstr(body - 1, "\n@@ ");
			if (!parts_has_name(line, name, len, &out->suffix))
				continue;
			out->name = name;
			out->name_len = len;
			out->at = body;
			out->len = next ? (size_t)(next + 1 - body) : strlen(body);
			return true;
		}
	return false;
}

/* The word in place of @X@. */
static const char *parts_word_of(const struct suffix *s, const char *name, size_t len)
{
	const struct {
		const char *name, *text;
	} words[] = {{"S", s->suffix},    {"T", s->type},    {"U", s->computed}, {"F", s->function},
		     {"LEAST", s->least}, {"MOST", s->most}, {"ADD", s->add}};
	for (uint32_t k = 0; k < sizeof words / sizeof *words; k++)
		if (strlen(words[k].name) == len && !strncmp(words[k].name, name, len))
			return words[k].text;
	return "";
}

/* Defines the fields that the source of a kernel takes. */
static void put_fields(const struct part *p, struct buf *out)
{
	for (enum kernel k = 0; k < KERNEL_COUNT; k++)
		if (strlen(kernel_info(k)->symbol) == p->name_len && !strncmp(kernel_info(k)->symbol, p->name, p->name_len))
			text_fields(&dialect_c11, k, out);
}

static void parts_write_out(const struct part *p, struct buf *out)
{
	const char *end = p->at + p->len;
	for (const char *at = p->at; at < end;) {
		const char *mark = memchr(at, '@', (size_t)(end - at));
		if (!p->suffix || !mark) {
			buf_put(out, at, (size_t)(end - at));
			return;
		}
		const char *name = mark + 1, *close = strchr(name, '@');
		buf_put(out, at, (size_t)(mark - at));
		buf_puts(out, parts_word_of(p->suffix, name, (size_t)(close - name)));
		at = close + 1;
	}
}

static bool parts_is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Appends the parts that the text names and that the output lacks. */
static void put_named(const char *text, const char *own_parts, struct map *done, struct buf *out)
{
	for (const char *at = text; *at;) {
		size_t len = 0;
		struct part p;
		if (!parts_is_word(*at)) {
			at++;
			continue;
		}
		while (parts_is_word(at[len]))
			len++;
		if (!strncmp(at, "tri_", 4) && map_put(done, map_key_bytes(at, len), 1) && find_part(own_parts, at, len, &p)) {
			struct buf own = {0};
			parts_write_out(&p, &own);
			put_named(own.at, own_parts, done, out);
			put_fields(&p, out);
			buf_printf(out, "%s\n", own.at);
			buf_free(&own);
		}
		at += len;
	}
}

void c_parts_put(const char *text, const char *own, struct buf *out)
{
	struct map done = {0};
	put_named(text, own, &done, out);
	map_free(&done);
}

void c_source(const void *ctx, const struct loop_fn *f, const struct loop_kernel *k, uint32_t form, struct buf *out)
{
	const char *symbol = kernel_info(k->kernel)->symbol;
	(void)ctx, (void)f, (void)form;
	struct part p = {0};
	BUG_ON(!find_part(NULL, symbol, strlen(symbol), &p));
	const char *from = strstr(p.at, "#endif\n") + 7; /* behind the definitions without an epilogue */
	p.len -= (size_t)(from - p.at);
	p.at = from;
	parts_write_out(&p, out);
}
