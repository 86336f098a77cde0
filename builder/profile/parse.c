/* Reads the JSON of a profile. The file may come from anywhere: every number, index and length is checked. Members that are not known
 * are skipped. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/json_read.h"
#include "builder/profile/profile.h"

#define MOST_SAMPLES 10000

struct reader {
	struct profile *p;
	struct buf *error;
};

/* Reports the first error. Returns false. */
static bool fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct reader *r, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	buf_vprintf(r->error, format, ap);
	va_end(ap);
	buf_puts(r->error, "; record it again, with `trib profile record` or `--profile-out`");
	return false;
}

/* NULL stays NULL. */
static const char *copy_text(struct reader *r, const char *s) { return s ? arena_strdup(r->p->arena, s) : NULL; }

static const char *text_of(struct reader *r, const json_t *object, const char *key)
{
	const char *s = copy_text(r, json_string_value(json_object_get(object, key)));
	return s ? s : "";
}

/* Reads a whole number 0 … most. */
static bool read_index(struct reader *r, const json_t *v, uint64_t most, uint64_t *out, const char *what)
{
	if (!json_is_integer(v) || json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) > most)
		return fail(r, "a number in `%s` is not from 0 to %llu", what, (unsigned long long)most);
	*out = (uint64_t)json_integer_value(v);
	return true;
}

static bool read_numbers(struct reader *r, const json_t *array, double **out, const char *what)
{
	uint32_t n = r->p->n_samples;
	if (!json_is_array(array) || json_array_size(array) != n)
		return fail(r, "`%s` does not have a number for each of the %u samples", what, n);
	*out = ARENA_ARRAY(r->p->arena, double, n);
	for (uint32_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(array, i);
		(*out)[i] = json_number_value(v);
		if (!json_is_number(v) || !isfinite((*out)[i]))
			return fail(r, "`%s` has an element that is not a number", what);
	}
	return true;
}

static bool read_values(struct reader *r, const json_t *object, struct profile_values *v)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++) {
		const json_t *array = json_object_get(object, profile_metrics[m].name);
		if (array && !read_numbers(r, array, &v->of[m], profile_metrics[m].name))
			return false;
	}
	return true;
}

static bool read_version(struct reader *r, const json_t *root)
{
	const char *type = json_string_value(json_object_get(root, "type"));
	const json_t *version = json_object_get(root, "version");
	if (!type || strcmp(type, "profile") != 0)
		return fail(r, "it is JSON, but not a profile");
	if (!json_is_integer(version) || json_integer_value(version) < 1)
		return fail(r, "it has no version");
	if (json_integer_value(version) > PROFILE_VERSION) {
		buf_printf(r->error, "its version is %lld, but this trib reads versions up to %d; read it with a newer trib",
			   (long long)json_integer_value(version), PROFILE_VERSION);
		return false;
	}
	return true;
}

static bool read_head(struct reader *r, const json_t *root)
{
	struct profile *p = r->p;
	const json_t *machine = json_object_get(root, "machine"), *trib = json_object_get(root, "trib");
	const char *kind = text_of(r, root, "kind");
	uint64_t cores = 0, samples;
	if (strcmp(kind, "build") != 0 && strcmp(kind, "run") != 0)
		return fail(r, "its `kind` is neither build nor run");
	p->kind = strcmp(kind, "run") == 0 ? PROFILE_RUN : PROFILE_BUILD;
	p->version = text_of(r, trib, "version");
	p->build = text_of(r, trib, "build");
	p->machine = (struct profile_machine){.id = text_of(r, machine, "id"),
					      .cpu = text_of(r, machine, "cpu"),
					      .system = text_of(r, machine, "system"),
					      .device = text_of(r, machine, "device")};
	if (!read_index(r, json_object_get(machine, "cores"), 1 << 20, &cores, "cores") ||
	    !read_index(r, json_object_get(machine, "memory_bytes"), INT64_MAX, &p->machine.memory_bytes, "memory_bytes") ||
	    !read_index(r, json_object_get(root, "samples"), MOST_SAMPLES, &samples, "samples"))
		return false;
	p->machine.cores = (uint32_t)cores;
	p->n_samples = (uint32_t)samples;
	return samples > 0 || fail(r, "it has no samples");
}

static bool read_settings(struct reader *r, const json_t *root)
{
	const char *key;
	json_t *v;
	json_object_foreach(json_object_get(root, "settings"), key, v)
	{
		if (!json_is_string(v))
			return fail(r, "a setting is not a text");
		profile_add_setting(r->p, copy_text(r, key), copy_text(r, json_string_value(v)));
	}
	json_object_foreach(json_object_get(root, "facts"), key, v)
	{
		if (!json_is_number(v))
			return fail(r, "a fact is not a number");
		profile_add_fact(r->p, copy_text(r, key), json_number_value(v));
	}
	return true;
}

static bool read_item_kind(struct reader *r, const json_t *v, enum profile_item_kind *out)
{
	const char *text = json_string_value(v);
	for (uint32_t k = 0; k < ITEM_KINDS && text; k++)
		if (strcmp(text, profile_item_kind_text((enum profile_item_kind)k)) == 0) {
			*out = (enum profile_item_kind)k;
			return true;
		}
	return fail(r, "an item has no known `kind`");
}

static bool read_item(struct reader *r, const json_t *v)
{
	struct profile *p = r->p;
	const json_t *parent = json_object_get(v, "parent");
	const char *name = copy_text(r, json_string_value(json_object_get(v, "name")));
	uint64_t up = PROFILE_NONE;
	enum profile_item_kind kind = ITEM_PHASE;
	if (!name)
		return fail(r, "an item has no `name`");
	if (!read_item_kind(r, json_object_get(v, "kind"), &kind))
		return false;
	if (parent && p->items.len == 0)
		return fail(r, "the first item has a `parent`");
	if (parent && !read_index(r, parent, p->items.len - 1, &up, "parent"))
		return false;
	uint32_t i = profile_add_item(p, kind, (uint32_t)up, name, copy_text(r, json_string_value(json_object_get(v, "at"))));
	if (p->items.at[i].depth > PROFILE_MOST_DEPTH)
		return fail(r, "item %u is nested deeper than %d items", i, PROFILE_MOST_DEPTH);
	if (p->items.at[i].path_len > PROFILE_MOST_PATH)
		return fail(r, "the path of item %u is longer than %d bytes", i, PROFILE_MOST_PATH);
	p->items.at[i].note = copy_text(r, json_string_value(json_object_get(v, "note")));
	return read_values(r, v, &p->items.at[i].values);
}

static bool read_items(struct reader *r, const json_t *root)
{
	const json_t *items = json_object_get(root, "items");
	for (size_t i = 0; i < json_array_size(items); i++)
		if (!read_item(r, json_array_get(items, i)))
			return false;
	return true;
}

/* Reads `n` whole numbers, each at most `most` of its place. */
static bool read_row(struct reader *r, const json_t *row, uint32_t n, const uint64_t *most, uint64_t *out, const char *what)
{
	if (json_array_size(row) != n)
		return fail(r, "an element of `%s` does not have %u numbers", what, n);
	for (uint32_t i = 0; i < n; i++)
		if (!read_index(r, json_array_get(row, i), most[i], &out[i], what))
			return false;
	return true;
}

static bool read_spans(struct reader *r, const json_t *root)
{
	const json_t *spans = json_object_get(root, "spans");
	const uint64_t most[5] = {r->p->items.len ? r->p->items.len - 1 : 0, 1 << 20, INT64_MAX / 2, INT64_MAX / 2, 1};
	uint64_t v[5];
	if (json_array_size(spans) && !r->p->items.len)
		return fail(r, "it has spans but no items");
	for (size_t i = 0; i < json_array_size(spans); i++) {
		if (!read_row(r, json_array_get(spans, i), 5, most, v, "spans"))
			return false;
		struct profile_span s = {(uint32_t)v[0], (uint32_t)v[1], (int64_t)v[2], (int64_t)v[3], v[4] == 1};
		vec_push(&r->p->spans, s);
	}
	return true;
}

static bool read_edges(struct reader *r, const json_t *root)
{
	const json_t *edges = json_object_get(root, "edges");
	const uint64_t last = r->p->items.len ? r->p->items.len - 1 : 0, most[2] = {last, last};
	uint64_t v[2];
	if (json_array_size(edges) && !r->p->items.len)
		return fail(r, "it has edges but no items");
	for (size_t i = 0; i < json_array_size(edges); i++) {
		if (!read_row(r, json_array_get(edges, i), 2, most, v, "edges"))
			return false;
		struct profile_edge e = {(uint32_t)v[0], (uint32_t)v[1]};
		vec_push(&r->p->edges, e);
	}
	return true;
}

static bool read_points(struct reader *r, const json_t *points, struct profile_counter *c)
{
	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *row = json_array_get(points, i), *value = json_array_get(row, 1);
		uint64_t at;
		if (json_array_size(row) != 2 || !json_is_number(value))
			return fail(r, "a point of a counter is not two numbers");
		if (!read_index(r, json_array_get(row, 0), INT64_MAX, &at, "counters"))
			return false;
		struct profile_point point = {(int64_t)at, json_number_value(value)};
		vec_push(&c->points, point);
	}
	return true;
}

static enum metric_unit unit_of(const char *text)
{
	return strcmp(text, "ns") == 0 ? UNIT_NS : strcmp(text, "bytes") == 0 ? UNIT_BYTES : UNIT_COUNT;
}

static bool read_counters(struct reader *r, const json_t *root)
{
	const json_t *counters = json_object_get(root, "counters");
	for (size_t i = 0; i < json_array_size(counters); i++) {
		const json_t *v = json_array_get(counters, i);
		struct profile_counter c = {.name = text_of(r, v, "name"), .unit = unit_of(text_of(r, v, "unit"))};
		vec_push(&r->p->counters, c);
		if (!read_points(r, json_object_get(v, "points"), &r->p->counters.at[i]))
			return false;
	}
	return true;
}

static double size_of(const json_t *v, const char *key)
{
	double size = json_number_value(json_object_get(v, key));
	return size >= 0 && size <= 0x1p62 ? size : 0;
}

static bool read_weights(struct reader *r, const json_t *root)
{
	const json_t *weights = json_object_get(root, "weights");
	for (size_t i = 0; i < json_array_size(weights); i++) {
		const json_t *v = json_array_get(weights, i);
		struct profile_weight w = {.name = text_of(r, v, "name"),
					   .layout = text_of(r, v, "layout"),
					   .form = text_of(r, v, "form"),
					   .elements = size_of(v, "elements"),
					   .zeros = size_of(v, "zeros"),
					   .bytes = size_of(v, "bytes")};
		vec_push(&r->p->weights, w);
	}
	return true;
}

static bool read_root(struct reader *r, const json_t *root)
{
	const json_t *calibration = json_object_get(root, "core_ns");
	return read_version(r, root) && read_head(r, root) && read_settings(r, root) &&
	       (!calibration || read_numbers(r, calibration, &r->p->calibration_ns, "core_ns")) &&
	       read_values(r, json_object_get(root, "total"), &r->p->total) && read_items(r, root) && read_spans(r, root) &&
	       read_counters(r, root) && read_edges(r, root) && read_weights(r, root);
}

struct profile *profile_parse(const char *text, size_t len, struct buf *error)
{
	struct buf why = {0};
	json_t *root = json_read(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!root)
		buf_printf(error, "it cannot be read as JSON: %s; if it was cut, record it again", why.at);
	buf_free(&why);
	if (!root)
		return NULL;
	struct reader r = {profile_new(PROFILE_BUILD, 0), error};
	bool ok = read_root(&r, root);
	json_decref(root);
	if (ok)
		return r.p;
	profile_free(r.p);
	return NULL;
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
