#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"
#include "builder/manifest/manifest.h"

static const char *const emits[] = {
#define EMIT(id, text, ...) text,
#include "builder/manifest/emits.def"
#undef EMIT
};

const char *const *emit_names(uint32_t *n)
{
	*n = EMIT_COUNT;
	return emits;
}

bool manifest_parse_count(const char *text, uint64_t *n)
{
	if (!isdigit((unsigned char)*text))
		return false;
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (errno || *end)
		return false;
	*n = v;
	return true;
}

static bool parse_positive(const char *text, uint64_t *n) { return manifest_parse_count(text, n) && *n > 0; }

bool manifest_parse_opt(const char *text, uint64_t *level)
{
	if (strcmp(text, "s") == 0) {
		*level = MANIFEST_OPT_SIZE;
		return true;
	}
	if (text[0] < '0' || text[0] > '3' || text[1])
		return false;
	*level = (uint64_t)(text[0] - '0');
	return true;
}

bool manifest_parse_size(const char *text, uint64_t *bytes)
{
	static const struct {
		const char *text;
		uint64_t factor;
	} units[] = {{"", 1},
		     {"B", 1},
		     {"KB", 1000},
		     {"MB", 1000000},
		     {"GB", 1000000000},
		     {"TB", 1000000000000},
		     {"KiB", 1ull << 10},
		     {"MiB", 1ull << 20},
		     {"GiB", 1ull << 30},
		     {"TiB", 1ull << 40},
		     {"K", 1ull << 10},
		     {"M", 1ull << 20},
		     {"G", 1ull << 30}};
	if (!isdigit((unsigned char)*text))
		return false;
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (errno)
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(end, units[i].text) == 0)
			return !__builtin_mul_overflow((uint64_t)v, units[i].factor, bytes);
	}
	return false;
}

bool manifest_parse_bool(const char *text, uint64_t *v)
{
	if (strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "on") == 0 || strcmp(text, "1") == 0)
		*v = 1;
	else if (strcmp(text, "false") == 0 || strcmp(text, "no") == 0 || strcmp(text, "off") == 0 || strcmp(text, "0") == 0)
		*v = 0;
	else
		return false;
	return true;
}

static bool parse_zstd(const char *text, uint64_t *level_bits)
{
	char *end;
	errno = 0;
	long level = strtol(text, &end, 10);
	if (errno || *end || !(isdigit((unsigned char)*text) || *text == '-') || level < -7 || level > 19)
		return false;
	*level_bits = (uint64_t)(int64_t)level;
	return true;
}

/* Splits at blanks and commas; VALUE_BLANK becomes a blank. */
static const char *const *manifest_value_split_words(struct arena *a, const char *text, uint32_t *n)
{
	VEC(const char *) words = {0};
	for (const char *s = text; *s;) {
		size_t gap = strspn(s, " \t,");
		size_t len = strcspn(s + gap, " \t,");
		if (len) {
			char *w = arena_strndup(a, s + gap, len);
			for (char *c = w; *c; c++)
				if (*c == VALUE_BLANK)
					*c = ' ';
			vec_push(&words, w);
		}
		s += gap + len;
	}
	const char **copy = ARENA_ARRAY(a, const char *, words.len ? words.len : 1);
	if (words.len)
		memcpy(copy, words.at, words.len * sizeof *copy);
	*n = words.len;
	vec_free(&words);
	return copy;
}

bool manifest_parse_emit(struct arena *a, const char *text, uint64_t *set, const char **bad)
{
	uint32_t n;
	const char *const *words = manifest_value_split_words(a, text, &n);
	*set = 0;
	*bad = "";
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;
		while (k < EMIT_COUNT && strcmp(emits[k], words[i]) != 0)
			k++;
		if (k == EMIT_COUNT) {
			*bad = words[i];
			return false;
		}
		*set |= 1ull << k;
	}
	return *set != 0;
}

const char *manifest_emit_list(struct arena *a)
{
	const char *list = emits[0];
	for (uint32_t i = 1; i < EMIT_COUNT; i++)
		list = arena_printf(a, "%s, %s", list, emits[i]);
	return list;
}

static bool manifest_value_report_value(struct diags *diags, const struct manifest_value *v, const char *expected)
{
	struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, v->at, "`%s` must be %s", manifest_key_text(v->key), expected);
	diag_label_primary(diags, g, "found `%s`", v->text);
	return false;
}

static bool manifest_value_report_empty(struct diags *diags, const struct manifest_value *v)
{
	diag_add(diags, DIAG_MANIFEST_VALUE, v->at, "`%s` has no value", manifest_key_text(v->key));
	return false;
}

/* `float32 [?, 64]`: an element type and, except for a scalar, its dimensions. */
static bool parse_input(struct arena *a, struct manifest_value *v, const char *name, struct diags *diags)
{
	struct elab_input *in = ARENA_NEW(a, struct elab_input);
	*in = (struct elab_input){.name = name, .at = v->at};
	const char *s = v->text;
	size_t len = strcspn(s, " \t[");
	const char *type = arena_strndup(a, s, len);
	in->elem = dtype_find(type);
	if (in->elem == DT_COUNT) {
		const char *names[DT_COUNT];
		for (uint32_t i = 0; i < DT_COUNT; i++)
			names[i] = dtype_text((dtype)i);
		struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, v->at, "there is no element type `%s`", type);
		const char *near = diag_nearest(type, names, DT_COUNT);
		if (near)
			diag_edit(diags, g, (span){v->at.source, v->at.start, v->at.start + (uint32_t)len}, near);
		diag_help(diags, g, "for example, `input x = float32 [?, 64]`");
		return false;
	}
	s += len;
	s += strspn(s, " \t");
	v->input = in;
	if (!*s)
		return true;
	if (*s++ != '[')
		return manifest_value_report_value(diags, v, "an element type and dimensions, as in `float32 [?, 64]`");
	for (;;) {
		s += strspn(s, " \t");
		if (*s == ']' && in->rank == 0)
			break;
		if (in->rank == 8)
			return manifest_value_report_value(diags, v, "a tensor with at most 8 dimensions");
		int64_t d = DIM_DYNAMIC;
		if (*s == '?') {
			s++;
		} else {
			char *end;
			errno = 0;
			d = isdigit((unsigned char)*s) ? strtoll(s, &end, 10) : -1;
			if (d < 1 || errno)
				return manifest_value_report_value(diags, v,
								   "an element type and dimensions that are `?` or a positive number");
			s = end;
		}
		in->dims[in->rank++] = d;
		s += strspn(s, " \t");
		if (*s == ']')
			break;
		if (*s++ != ',')
			return manifest_value_report_value(diags, v,
							   "an element type and dimensions between `[` and `]`, separated by commas");
	}
	s++;
	s += strspn(s, " \t");
	return *s ? manifest_value_report_value(diags, v, "an element type and dimensions, without text after `]`") : true;
}

static bool parse_emits(struct arena *a, struct manifest_value *v, struct diags *diags)
{
	const char *bad;
	if (manifest_parse_emit(a, v->text, &v->number, &bad))
		return true;
	if (!*bad)
		return manifest_value_report_value(diags, v, arena_printf(a, "at least one of %s", manifest_emit_list(a)));
	struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, v->at, "`%s` cannot be emitted", bad);
	const char *near = diag_nearest(bad, emits, EMIT_COUNT);
	if (near)
		diag_help(diags, g, "did you mean `%s`?", near);
	else
		diag_help(diags, g, "choose from %s", manifest_emit_list(a));
	return false;
}

bool manifest_value_parse(struct arena *session, struct manifest_value *v, enum value_kind kind, const char *name, struct diags *diags)
{
	static const struct {
		bool (*parse)(const char *text, uint64_t *number);
		const char *expected;
	} numbers[] = {
		[VALUE_OPT] = {manifest_parse_opt, "0, 1, 2, 3 or s"},
		[VALUE_COUNT] = {parse_positive, "a positive number"},
		[VALUE_SIZE] = {manifest_parse_size, "a size such as 512MiB or 4GiB"},
		[VALUE_BOOL] = {manifest_parse_bool, "true or false"},
		[VALUE_ZSTD] = {parse_zstd, "a level from -7 (fast) to 19 (small), or 0 for none"},
	};
	if (kind == VALUE_WORDS)
		v->words = manifest_value_split_words(session, v->text, &v->n_words);
	char *plain = arena_strdup(session, v->text);
	for (char *c = plain; *c; c++)
		if (*c == VALUE_BLANK)
			*c = ' ';
	v->text = plain;
	if (!*plain || (kind == VALUE_WORDS && !v->n_words))
		return manifest_value_report_empty(diags, v);
	switch (kind) {
	case VALUE_TEXT:
	case VALUE_WORDS: return true;
	case VALUE_INPUT: return parse_input(session, v, name, diags);
	case VALUE_EMIT: return parse_emits(session, v, diags);
	default: return numbers[kind].parse(v->text, &v->number) || manifest_value_report_value(diags, v, numbers[kind].expected);
	}
}
