#include "builder/profile/profile.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/os.h"
#include "builder/profile/statistics.h"
#include "builder/version.h"

const struct metric_row profile_metrics[METRIC_COUNT] = {
#define METRIC(id, name, title, unit, compared) {name, title, UNIT_##unit, COMPARED_##compared},
#include "builder/profile/metrics.def"
};

const char *const profile_item_kinds[ITEM_KINDS] = {
#define ITEM(id, name, help) name,
#include "builder/profile/item_kinds.def"
};
const char *const profile_kinds[] = {[PROFILE_BUILD] = "build", [PROFILE_RUN] = "run"};
const char *const metric_units[UNITS] = {[UNIT_NS] = "ns", [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count"};
const char *const profile_ceilings[CEILINGS] = {"", [CEILING_FLOAT] = "float", [CEILING_INT8] = "int8", [CEILING_MEMORY] = "memory"};

struct profile *profile_new(enum profile_kind kind, uint32_t n_samples)
{
	struct arena *a = arena_new(0);
	struct profile *p = ARENA_NEW(a, struct profile);
	*p = (struct profile){.arena = a, .kind = kind, .version = TRIB_VERSION, .build = "", .n_samples = n_samples};
	p->machine = machine_describe(a);
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->counters.len; i++)
		vec_free(&p->counters.at[i].points);
	vec_free(&p->counters);
	vec_free(&p->settings);
	vec_free(&p->facts);
	vec_free(&p->items);
	vec_free(&p->spans);
	vec_free(&p->edges);
	vec_free(&p->weights);
	arena_free(p->arena);
}

static const char *profile_copy(struct profile *p, const char *text) { return text ? arena_strdup(p->arena, text) : NULL; }

void profile_place_item(struct profile *p, uint32_t item)
{
	static const struct profile_item none;
	struct profile_item *i = &p->items.at[item];
	const struct profile_item *up = i->parent == PROFILE_NONE ? &none : &p->items.at[i->parent];
	size_t len = up->path_len + strlen(i->name) + (up != &none);
	i->depth = up->depth + 1;
	i->path_len = len < UINT32_MAX ? (uint32_t)len : UINT32_MAX;
	i->key = hash_combine(up->key, hash_combine(map_key_u64(i->kind), map_key_str(i->name)));
}

uint32_t profile_add_item(struct profile *p, enum profile_item_kind kind, uint32_t parent, const char *name, const char *at)
{
	BUG_ON(parent != PROFILE_NONE && parent >= p->items.len);
	struct profile_item i = {.kind = kind, .parent = parent, .name = profile_copy(p, name), .at = profile_copy(p, at)};
	vec_push(&p->items, i);
	profile_place_item(p, p->items.len - 1);
	return p->items.len - 1;
}

void profile_set(struct profile *p, struct profile_values *v, enum profile_metric m, uint32_t sample, double value)
{
	BUG_ON(sample >= p->n_samples);
	if (!v->of[m])
		v->of[m] = ARENA_ARRAY(p->arena, double, p->n_samples);
	v->of[m][sample] = value;
}

double profile_median(const struct profile *p, const struct profile_values *v, enum profile_metric m)
{
	return v->of[m] ? statistics_median(v->of[m], p->n_samples) : 0;
}

double profile_mean(const struct profile *p, const struct profile_values *v, enum profile_metric m)
{
	return v->of[m] ? statistics_mean(v->of[m], p->n_samples) : 0;
}

double profile_value(const struct profile *p, uint32_t item, enum profile_metric m)
{
	return profile_median(p, &p->items.at[item].values, m);
}

double profile_own(const struct profile *p, uint32_t item, enum profile_metric m)
{
	double own = profile_value(p, item, m);
	for (uint32_t i = item + 1; i < p->items.len; i++)
		if (p->items.at[i].parent == item)
			own -= profile_value(p, i, m);
	return own > 0 ? own : 0;
}

bool profile_is_of_files(const struct profile *p, const struct profile_values *v)
{
	const double rate = 1e-3, files_rate = 1e-6; /* bytes and files a nanosecond */
	double wall = profile_median(p, v, METRIC_WALL);
	return profile_median(p, v, METRIC_READ) + profile_median(p, v, METRIC_WRITTEN) > rate * wall ||
	       profile_median(p, v, METRIC_FILES_READ) + profile_median(p, v, METRIC_FILES_WRITTEN) > files_rate * wall;
}

double profile_others_share(const struct profile *p)
{
	double machine = profile_median(p, &p->total, METRIC_WALL) * (p->machine.cores ? p->machine.cores : 1);
	return p->total.of[METRIC_OTHERS] && machine > 0 ? profile_median(p, &p->total, METRIC_OTHERS) / machine : -1;
}

void profile_add_setting(struct profile *p, const char *name, const char *text)
{
	struct profile_setting s = {profile_copy(p, name), profile_copy(p, text)};
	uint32_t i = 0;
	while (i < p->settings.len && strcmp(p->settings.at[i].name, name) < 0)
		i++;
	if (i == p->settings.len || strcmp(p->settings.at[i].name, name) != 0) {
		vec_push(&p->settings, s);
		memmove(p->settings.at + i + 1, p->settings.at + i, (p->settings.len - 1 - i) * sizeof s);
	}
	p->settings.at[i] = s;
}

const char *profile_setting(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->settings.len; i++)
		if (strcmp(p->settings.at[i].name, name) == 0)
			return p->settings.at[i].text;
	return NULL;
}

static struct profile_fact *find_fact(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->facts.len; i++)
		if (strcmp(p->facts.at[i].name, name) == 0)
			return &p->facts.at[i];
	return NULL;
}

void profile_add_fact(struct profile *p, const char *name, double value)
{
	struct profile_fact *f = find_fact(p, name);
	if (f)
		f->value = value;
	else
		vec_push(&p->facts, ((struct profile_fact){profile_copy(p, name), value}));
}

double profile_fact(const struct profile *p, const char *name, double otherwise)
{
	const struct profile_fact *f = find_fact(p, name);
	return f ? f->value : otherwise;
}

const char *profile_item_path(struct arena *a, const struct profile *p, uint32_t item)
{
	const struct profile_item *i = &p->items.at[item];
	char *path = arena_alloc(a, (size_t)i->path_len + 1, 1), *end = path + i->path_len;
	*end = '\0';
	for (;; i = &p->items.at[i->parent]) {
		size_t n = strlen(i->name);
		end = memcpy(end - n, i->name, n);
		if (i->parent == PROFILE_NONE)
			return path;
		*--end = '/';
	}
}

const struct profile_item *profile_item_root(const struct profile *p, uint32_t item)
{
	while (p->items.at[item].parent != PROFILE_NONE)
		item = p->items.at[item].parent;
	return &p->items.at[item];
}

/* ---- more samples ---- */

/* Returns the array of `to` for n samples, of which the last of `more` are its own. Metrics that neither has measured stay NULL. */
static double *profile_join(struct arena *a, const double *to, uint32_t n_to, const double *more, uint32_t n_more)
{
	if (!to && !more)
		return NULL;
	double *all = ARENA_ARRAY(a, double, n_to + n_more);
	if (to)
		memcpy(all, to, n_to * sizeof *all);
	if (more)
		memcpy(all + n_to, more, n_more * sizeof *all);
	return all;
}

static void join_values(struct profile *to, struct profile_values *v, const struct profile_values *more, uint32_t n_more)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++)
		v->of[m] = profile_join(to->arena, v->of[m], to->n_samples, more ? more->of[m] : NULL, n_more);
}

/* Maps the items of `more` to those of `to`, which gets those that it lacks. */
static uint32_t *match_items(struct profile *to, const struct profile *more, struct arena *a)
{
	struct map known = {0};
	uint32_t *matches = ARENA_ARRAY(a, uint32_t, more->items.len + 1);
	for (uint32_t i = 0; i < to->items.len; i++)
		map_put(&known, to->items.at[i].key, i);
	for (uint32_t i = 0; i < more->items.len; i++) {
		const struct profile_item *m = &more->items.at[i];
		uint64_t at;
		if (!map_get(&known, m->key, &at)) {
			uint32_t parent = m->parent == PROFILE_NONE ? PROFILE_NONE : matches[m->parent];
			at = profile_add_item(to, m->kind, parent, m->name, m->at);
			to->items.at[at].note = profile_copy(to, m->note);
			to->items.at[at].kernel = profile_copy(to, m->kernel);
			to->items.at[at].ceiling = m->ceiling;
			map_put(&known, m->key, at);
		}
		matches[i] = (uint32_t)at;
	}
	map_free(&known);
	return matches;
}

void profile_append(struct profile *to, const struct profile *more)
{
	struct arena *a = arena_new(0);
	const uint32_t *matches = match_items(to, more, a);
	const struct profile_values **values = ARENA_ARRAY(a, const struct profile_values *, to->items.len + 1);
	for (uint32_t i = 0; i < more->items.len; i++)
		values[matches[i]] = &more->items.at[i].values;
	for (uint32_t i = 0; i < to->items.len; i++)
		join_values(to, &to->items.at[i].values, values[i], more->n_samples);
	join_values(to, &to->total, &more->total, more->n_samples);
	to->calibration_ns = to->calibration_ns && more->calibration_ns
				     ? profile_join(to->arena, to->calibration_ns, to->n_samples, more->calibration_ns, more->n_samples)
				     : NULL;
	to->n_samples += more->n_samples;
	arena_free(a);
}

/* Returns what /proc/cpuinfo calls the processor, or the machine's type. */
static const char *cpu_name(struct arena *a, const char *machine)
{
	char *text = NULL;
	size_t len;
	const char *name = machine, *line = os_read_file("/proc/cpuinfo", 1 << 20, &text, &len) ? strstr(text, "model name") : NULL,
		   *colon = line ? strchr(line, ':') : NULL;
	if (colon) {
		colon += 1 + strspn(colon + 1, " \t");
		name = arena_strndup(a, colon, strcspn(colon, "\n"));
	}
	free(text);
	return name;
}

struct profile_machine machine_describe(struct arena *a)
{
	struct utsname u;
	struct profile_machine m = {.device = "cpu", .cores = os_cpu_count()};
	if (uname(&u) != 0)
		memset(&u, 0, sizeof u);
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	m.memory_bytes = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
	m.cpu = cpu_name(a, arena_strdup(a, u.machine));
	m.system = arena_printf(a, "%s %s %s", u.sysname, u.release, u.machine);
	const char *kind = arena_printf(a, "%s/%u/%s", m.cpu, m.cores, u.machine);
	m.id = arena_printf(a, "%016" PRIx64, hash64_bytes(kind, strlen(kind)));
	return m;
}
