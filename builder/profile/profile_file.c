/* Writes and reads a profile as JSON, by the table of its records. A file may come from anywhere: every number, index and length is checked. Members that
 * are not known are skipped. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/os.h"
#include "builder/json_read.h"
#include "builder/profile/profile.h"

enum field_kind {
	FIELD_TEXT,
	FIELD_ENUM,
	FIELD_WORDS,
	FIELD_WORD,
	FIELD_COUNT,
	FIELD_LONG,
	FIELD_ITEM,
	FIELD_PARENT,
	FIELD_NUMBER,
	FIELD_SAMPLES,
	FIELD_OBJECT,
	FIELD_LIST,
	FIELD_MAP,
	FIELD_SOME
};
struct field {
	const char *name;
	enum field_kind kind;
	size_t offset;
	uint64_t most;
	const void *of;
};
struct record {
	const struct field *fields;
	uint32_t n_fields;
	size_t size;
	char bracket;
};
#define RECORD(name, type, bracket)                                          \
	enum { name##_size = sizeof(struct type), name##_open = (bracket) }; \
	static const struct field name##_fields[] = {
#define FIELD(type, member, name, kind, most, of) {name, FIELD_##kind, offsetof(struct type, member), most, of},
#define END(name) \
	}         \
	;         \
	static const struct record name##_record = {name##_fields, sizeof name##_fields / sizeof *name##_fields, name##_size, name##_open};
#include "builder/profile/records.def"

/* A list that is a member of a record. */
struct any_list {
	char *at;
	uint32_t len, cap;
};

/* ---- writing ---- */

static void print_record(struct json_writer *w, const struct profile *p, const struct record *r, const void *x);

/* With three digits. What they make a whole number is written as one, so that a file that is read and written stays the same. */
static void profile_file_print_number(struct json_writer *w, double v)
{
	double written = round(v * 1000) / 1000;
	if (fabs(v) < 9e15 && written == floor(written))
		json_int(w, (int64_t)written);
	else
		json_num(w, v);
}

static void print_samples(struct json_writer *w, const double *v, uint32_t n)
{
	json_open(w, '[');
	for (uint32_t i = 0; i < n; i++)
		profile_file_print_number(w, v[i]);
	json_close(w, ']');
}

static void profile_file_print_value(struct json_writer *w, const struct profile *p, const struct field *f, const void *x)
{
	const void *at = (const char *)x + f->offset;
	const struct any_list *list = at;
	const struct record *r = f->of;
	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_WORDS: json_str(w, *(const char *const *)at); break;
	case FIELD_ENUM:
	case FIELD_WORD: json_str(w, ((const char *const *)f->of)[*(const unsigned *)at]); break;
	case FIELD_COUNT:
	case FIELD_ITEM:
	case FIELD_PARENT: json_int(w, *(const uint32_t *)at); break;
	case FIELD_LONG: json_int(w, *(const int64_t *)at); break;
	case FIELD_NUMBER: profile_file_print_number(w, *(const double *)at); break;
	case FIELD_SAMPLES: print_samples(w, *(const double *const *)at, p->n_samples); break;
	case FIELD_OBJECT: print_record(w, p, r, r == &trib_record ? x : at); break;
	case FIELD_LIST:
	case FIELD_SOME:
		json_open(w, '[');
		for (uint32_t i = 0; i < list->len; i++)
			print_record(w, p, r, list->at + i * r->size);
		json_close(w, ']');
		break;
	case FIELD_MAP:
		json_open(w, '{');
		for (uint32_t i = 0; i < list->len; i++) {
			const char *entry = list->at + i * r->size;
			json_key(w, *(const char *const *)(const void *)(entry + r->fields[0].offset));
			profile_file_print_value(w, p, &r->fields[1], entry);
		}
		json_close(w, '}');
	}
}

static bool profile_file_is_absent(const struct field *f, const void *x)
{
	const void *at = (const char *)x + f->offset;
	return (f->kind == FIELD_WORDS && !*(const char *const *)at) || (f->kind == FIELD_WORD && !*(const unsigned *)at) ||
	       (f->kind == FIELD_PARENT && *(const uint32_t *)at == PROFILE_NONE) ||
	       (f->kind == FIELD_SAMPLES && !*(const double *const *)at) || (f->kind == FIELD_SOME && !((const struct any_list *)at)->len);
}

static void print_fields(struct json_writer *w, const struct profile *p, const struct record *r, const void *x)
{
	for (uint32_t i = 0; i < r->n_fields; i++) {
		if (profile_file_is_absent(&r->fields[i], x))
			continue;
		if (r->bracket == '{')
			json_key(w, r->fields[i].name);
		profile_file_print_value(w, p, &r->fields[i], x);
	}
}

static void print_record(struct json_writer *w, const struct profile *p, const struct record *r, const void *x)
{
	json_open(w, r->bracket);
	print_fields(w, p, r, x);
	json_close(w, r->bracket == '{' ? '}' : ']');
}

void profile_print(const struct profile *p, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "profile");
	json_member_int(&w, "version", PROFILE_VERSION);
	print_fields(&w, p, &profile_record, p);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

bool profile_write(const struct profile *p, const char *path)
{
	struct buf b = {0};
	profile_print(p, &b);
	bool ok = os_write_atomic(path, b.at, b.len, 0666, false);
	buf_free(&b);
	return ok;
}

/* ---- reading ---- */

struct reader {
	struct profile *p;
	struct buf *error;
};

/* Reports the first error. Returns false. */
static bool profile_file_fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool profile_file_fail(struct reader *r, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	buf_vprintf(r->error, format, ap);
	va_end(ap);
	buf_puts(r->error, "; record it again, with `trib profile record` or `--profile-out`");
	return false;
}

static bool read_record(struct reader *r, const struct record *record, const json_t *v, void *x, const char *list);

/* Reads a whole number 0 … most. */
static bool read_index(struct reader *r, const json_t *v, uint64_t most, uint64_t *out, const char *what)
{
	if (!json_is_integer(v) || json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) > most)
		return profile_file_fail(r, "a number in `%s` is not from 0 to %llu", what, (unsigned long long)most);
	*out = (uint64_t)json_integer_value(v);
	return true;
}

/* Reads the index of an item; of a parent, which is before its child. */
static bool read_item_index(struct reader *r, const struct field *f, const json_t *v, uint32_t *out, const char *what)
{
	uint64_t at = PROFILE_NONE, n = r->p->items.len - (f->kind == FIELD_PARENT);
	if (f->kind == FIELD_PARENT && !v)
		return *out = PROFILE_NONE, true;
	if (!n)
		return f->kind == FIELD_PARENT ? profile_file_fail(r, "the first item has a `parent`")
					       : profile_file_fail(r, "it has %s but no items", what);
	bool ok = read_index(r, v, n - 1, &at, what);
	*out = (uint32_t)at;
	return ok;
}

static bool read_samples(struct reader *r, const json_t *array, double **out, const char *what)
{
	uint32_t n = r->p->n_samples;
	if (!array)
		return true;
	if (!json_is_array(array) || json_array_size(array) != n)
		return profile_file_fail(r, "`%s` does not have a number for each of the %u samples", what, n);
	*out = ARENA_ARRAY(r->p->arena, double, n);
	for (uint32_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(array, i);
		(*out)[i] = json_number_value(v);
		if (!json_is_number(v) || !isfinite((*out)[i]))
			return profile_file_fail(r, "`%s` has an element that is not a number", what);
	}
	return true;
}

/* A word that may be absent may be unknown, too. */
static bool profile_file_read_word(struct reader *r, const struct field *f, const char *text, unsigned *out, const char *what)
{
	for (*out = 0; text && *out < f->most; ++*out)
		if (strcmp(text, ((const char *const *)f->of)[*out]) == 0)
			return true;
	*out = 0;
	return f->kind == FIELD_WORD || profile_file_fail(r, "there is no known `%s` in its `%s`", f->name, what);
}

static bool profile_file_check_item(struct reader *r, uint32_t i)
{
	const struct profile_item *item = &r->p->items.at[i];
	profile_place_item(r->p, i);
	if (item->depth > PROFILE_MOST_DEPTH)
		return profile_file_fail(r, "item %u is nested deeper than %d items", i, PROFILE_MOST_DEPTH);
	return item->path_len <= PROFILE_MOST_PATH ||
	       profile_file_fail(r, "the path of item %u is longer than %d bytes", i, PROFILE_MOST_PATH);
}

static void *profile_file_add_element(struct any_list *list, size_t size)
{
	if (list->len == list->cap)
		vec_grow_raw((void **)&list->at, &list->cap, list->len + 1, size);
	return memset(list->at + list->len++ * size, 0, size);
}

static bool profile_file_read_list(struct reader *r, const struct record *record, const json_t *array, struct any_list *list,
				   const char *name)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		void *x = profile_file_add_element(list, record->size);
		if (!read_record(r, record, json_array_get(array, i), x, name) ||
		    (record == &item_record && !profile_file_check_item(r, (uint32_t)i)))
			return false;
	}
	return true;
}

static bool profile_file_read_value(struct reader *r, const struct field *f, const json_t *v, void *x, const char *what)
{
	void *at = (char *)x + f->offset;
	const struct record *record = f->of;
	const char *text = json_string_value(v), *key;
	double number = json_number_value(v);
	uint64_t whole = 0;
	json_t *value;
	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_WORDS: *(const char **)at = text ? arena_strdup(r->p->arena, text) : f->kind == FIELD_TEXT ? "" : NULL; return true;
	case FIELD_ENUM:
	case FIELD_WORD: return profile_file_read_word(r, f, text, at, what);
	case FIELD_COUNT:
	case FIELD_LONG:
		if (!read_index(r, v, f->most, &whole, what))
			return false;
		if (f->kind == FIELD_COUNT)
			*(uint32_t *)at = (uint32_t)whole;
		else
			*(uint64_t *)at = whole;
		return true;
	case FIELD_ITEM:
	case FIELD_PARENT: return read_item_index(r, f, v, at, what);
	case FIELD_NUMBER:
		*(double *)at = number;
		return json_is_number(v) || profile_file_fail(r, "an element of `%s` is not a number", what);
	case FIELD_SAMPLES: return read_samples(r, v, at, f->name);
	case FIELD_OBJECT: return read_record(r, record, v, record == &trib_record ? x : at, f->name);
	case FIELD_LIST:
	case FIELD_SOME: return profile_file_read_list(r, record, v, at, what);
	case FIELD_MAP:
		json_object_foreach((json_t *)(uintptr_t)v, key, value)
		{
			char *entry = profile_file_add_element(at, record->size);
			*(const char **)(void *)(entry + record->fields[0].offset) = arena_strdup(r->p->arena, key);
			if (record == &setting_record && !json_is_string(value))
				return profile_file_fail(r, "a setting is not a text");
			if (!profile_file_read_value(r, &record->fields[1], value, entry, what))
				return false;
		}
	}
	return true;
}

/* list: the member of the file that it is an element of; NULL: none. */
static bool read_record(struct reader *r, const struct record *record, const json_t *v, void *x, const char *list)
{
	bool is_array = record->bracket == '[';
	if (is_array && json_array_size(v) != record->n_fields)
		return profile_file_fail(r, "an element of `%s` does not have %u numbers", list, record->n_fields);
	for (uint32_t i = 0; i < record->n_fields; i++) {
		const struct field *f = &record->fields[i];
		if (!profile_file_read_value(r, f, is_array ? json_array_get(v, i) : json_object_get(v, f->name), x, list ? list : f->name))
			return false;
	}
	return true;
}

static bool read_root(struct reader *r, const json_t *root)
{
	const char *type = json_string_value(json_object_get(root, "type"));
	const json_t *version = json_object_get(root, "version");
	if (!type || strcmp(type, "profile") != 0)
		return profile_file_fail(r, "it is JSON, but not a profile");
	if (!json_is_integer(version) || json_integer_value(version) < 1)
		return profile_file_fail(r, "it has no version");
	if (json_integer_value(version) > PROFILE_VERSION) {
		buf_printf(r->error, "its version is %lld, but this trib reads versions up to %d; read it with a newer trib",
			   (long long)json_integer_value(version), PROFILE_VERSION);
		return false;
	}
	return read_record(r, &profile_record, root, r->p, NULL) && (r->p->n_samples > 0 || profile_file_fail(r, "it has no samples"));
}

struct profile *profile_parse(const char *text, size_t len, struct buf *error)
{
	struct buf why = {0};
	json_t *root = json_read(text, len, JSON_REJECT_DUPLICATES, &why);
	struct reader r = {profile_new(PROFILE_BUILD, 0), error};
	if (!root)
		buf_printf(error, "it cannot be read as JSON: %s; if it was cut, record it again", why.at);
	bool ok = root && read_root(&r, root);
	buf_free(&why);
	json_decref(root);
	if (!ok)
		profile_free(r.p);
	return ok ? r.p : NULL;
}

struct profile *profile_read(const char *path, struct buf *error)
{
	char *text = NULL;
	size_t len;
	const char *file = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
	if (!os_read_stream(file, JSON_MOST_BYTES, &text, &len)) {
		buf_printf(error, "cannot read `%s`: %s", path, errno == EFBIG ? "it has more than 256 MiB" : os_read_error(errno));
		return NULL;
	}
	struct buf why = {0};
	struct profile *p = profile_parse(text, len, &why);
	if (!p)
		buf_printf(error, "`%s` is not a profile that can be used: %s", path, why.at);
	buf_free(&why);
	free(text);
	return p;
}
