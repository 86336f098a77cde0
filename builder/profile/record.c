#include "builder/profile/record.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/profile/process.h"
#include "builder/profile/workspace.h"

#define MOST_EDITS 200   /* places that are tried */
#define RUN_TIME "300ms" /* of each sample of runs */

struct recorder {
	const struct record_options *o;
	struct workspace w;
	struct source_edit edit;
	const char *profile_path;
	uint64_t private_dirty_bytes; /* 0: not watched */
};

static const struct {
	const char *name, *meaning;
} scenarios[SCENARIOS] = {
#define SCENARIO(id, name, meaning) {name, meaning},
#include "builder/profile/scenarios.def"
};

const char *scenario_name(enum scenario s) { return scenarios[s].name; }

bool scenario_parse(const char *text, enum scenario *out)
{
	for (uint32_t i = 0; i < SCENARIOS; i++)
		if (strcmp(text, scenarios[i].name) == 0) {
			*out = (enum scenario)i;
			return true;
		}
	return false;
}

/* ---- one process ---- */

static uint32_t record_count(const char *const *list)
{
	uint32_t n = 0;
	while (list && list[n])
		n++;
	return n;
}

static const char *const *command_of(struct recorder *r)
{
	static const char *const build[] = {"build", "--no-server", "-o", WORKSPACE_OUT, NULL}, *const bench[] = {"bench", "--max-time",
														  RUN_TIME, NULL};
	const struct record_options *o = r->o;
	const char *const project[] = {"-C", r->w.project, NULL}, *const profile[] = {"--profile-out", r->profile_path, NULL},
			  *const file[] = {path_base(o->root), NULL};
	const char *const *const lists[] = {o->kind == PROFILE_RUN ? bench : build,           project,   o->only_totals ? NULL : profile,
					    path_has_extension(o->root, "tri") ? file : NULL, o->models, o->flags};
	const char **argv = ARENA_ARRAY(r->w.arena, const char *, 13 + record_count(o->models) + record_count(o->flags));
	uint32_t n = 0;
	argv[n++] = o->program;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		for (uint32_t k = 0; k < record_count(lists[i]); k++)
			argv[n++] = lists[i][k];
	return argv;
}

static bool record_start(struct recorder *r, bool watch_memory, struct process_cost *cost, struct buf *error)
{
	const char *variables[] = {arena_printf(r->w.arena, "TRIB_CACHE_DIR=%s", r->w.cache), NULL};
	struct process_request q = {command_of(r), variables, r->o->count_instructions, watch_memory};
	struct buf messages = {0};
	bool ok = process_run(&q, cost, &messages);
	if (!ok && !os_interrupted())
		buf_printf(error, "%s", messages.at);
	else if (ok && cost->status != 0)
		buf_printf(error, "the measured process failed with exit code %d:\n%s", cost->status, messages.at ? messages.at : "");
	buf_free(&messages);
	return ok && cost->status == 0;
}

static bool record_run(struct recorder *r, struct process_cost *cost, struct buf *error) { return record_start(r, false, cost, error); }

static const char *record_join(struct arena *a, const char *const *words)
{
	const char *text = "";
	for (uint32_t i = 0; i < record_count(words); i++)
		text = arena_printf(a, "%s%s%s", text, i ? " " : "", words[i]);
	return text;
}

static void set_costs(struct profile *p, struct profile_values *values, const struct process_cost *cost)
{
	profile_set(p, values, METRIC_WALL, 0, (double)cost->wall_ns);
	profile_set(p, values, METRIC_CPU, 0, (double)cost->cpu_ns);
	profile_set(p, values, METRIC_PEAK, 0, (double)cost->peak_bytes);
	if (cost->instructions > 0)
		profile_set(p, values, METRIC_INSTRUCTIONS, 0, cost->instructions);
}

/* Describes what was run. */
static void complete(const struct recorder *r, struct profile *p, const struct process_cost *cost, int64_t calibration)
{
	const struct record_options *o = r->o;
	if (o->kind == PROFILE_BUILD) /* the whole process, in place of what it measured itself */
		set_costs(p, &p->total, cost);
	if (r->private_dirty_bytes)
		profile_set(p, &p->total, METRIC_DIRTY, 0, (double)r->private_dirty_bytes);
	profile_set(p, &p->total, METRIC_OTHERS, 0, (double)cost->others_ns);
	p->calibration_ns = ARENA_ARRAY(p->arena, double, 1);
	p->calibration_ns[0] = (double)calibration;
	if (o->kind == PROFILE_BUILD)
		profile_add_setting(p, "scenario", scenario_name(o->scenario));
	if (record_count(o->models))
		profile_add_setting(p, "models", record_join(p->arena, o->models));
	if (record_count(o->flags))
		profile_add_setting(p, "flags", record_join(p->arena, o->flags));
}

static struct profile *record_measure(struct recorder *r, struct buf *error)
{
	struct process_cost cost;
	int64_t calibration = calibrate_ns();
	os_remove_tree(r->profile_path);
	if (!record_run(r, &cost, error))
		return NULL;
	struct profile *p = r->o->only_totals ? profile_new(PROFILE_BUILD, 1) : profile_read(r->profile_path, error);
	if (p)
		complete(r, p, &cost, calibration);
	return p;
}

/* ---- edits ---- */

/* The inode of a library changes when it is written. */
static uint64_t output_inodes(const struct recorder *r)
{
	const char *folder = path_join(r->w.arena, r->w.project, WORKSPACE_OUT);
	DIR *d = opendir(folder);
	uint64_t sum = 0;
	struct file_stamp stamp;
	for (struct dirent *e; d && (e = readdir(d));)
		if (path_has_extension(e->d_name, "so") && os_stamp(path_join(r->w.arena, folder, e->d_name), &stamp))
			sum += stamp.inode + stamp.mtime_ns;
	if (d)
		closedir(d);
	return sum;
}

/* True if the project still builds after the edit, and writes another library. */
static bool edit_works(struct recorder *r, struct source_edit *edit)
{
	struct buf ignored = {0};
	uint64_t before = output_inodes(r);
	struct process_cost cost;
	edit->number++;
	bool works = source_edit_write(edit, &ignored) && record_run(r, &cost, &ignored) && output_inodes(r) != before;
	if (!works) {
		edit->number = 0;
		source_edit_write(edit, &ignored);
	}
	buf_free(&ignored);
	return works;
}

/* Finds a place for edits by trying. */
static bool find_edit(struct recorder *r, struct buf *error)
{
	uint32_t tries = 0;
	for (uint32_t i = 0; i < r->w.sources.len && tries < MOST_EDITS; i++) {
		struct source_edit e = {.path = path_join(r->w.arena, r->w.project, r->w.sources.at[i])};
		size_t len;
		char *data;
		if (!os_read_file(e.path, 0, &data, &len))
			continue;
		e.text = arena_strndup(r->w.arena, data, len);
		free(data);
		while (tries++ < MOST_EDITS && !os_interrupted() && source_edit_next(&e))
			if (edit_works(r, &e)) {
				r->edit = e;
				return true;
			}
	}
	buf_puts(error, "no `return` of one line could be edited so that a unit is compiled; record another scenario");
	return false;
}

static bool touch_sources(struct recorder *r, struct buf *error)
{
	for (uint32_t i = 0; i < r->w.sources.len; i++) {
		const char *path = path_join(r->w.arena, r->w.project, r->w.sources.at[i]);
		if (utimensat(AT_FDCWD, path, NULL, 0) == 0)
			continue;
		buf_printf(error, "cannot touch `%s`: %s", path, strerror(errno));
		return false;
	}
	return true;
}

/* ---- the recorder ---- */

/* Brings the workspace into the state that the scenario wants. */
static bool record_prepare(struct recorder *r, enum scenario s, struct buf *error)
{
	switch (s) {
	case SCENARIO_COLD:
		workspace_forget_cache(&r->w);
		workspace_forget_build(&r->w);
		return true;
	case SCENARIO_WARM: workspace_forget_build(&r->w); return true;
	case SCENARIO_EDIT: r->edit.number++; return source_edit_write(&r->edit, error);
	case SCENARIO_COMMENT: r->edit.comments++; return source_edit_write(&r->edit, error);
	case SCENARIO_TOUCHED: return touch_sources(r, error);
	default: return true;
	}
}

static bool edits(const struct record_options *o)
{
	return o->kind == PROFILE_BUILD && (o->scenario == SCENARIO_EDIT || o->scenario == SCENARIO_COMMENT || o->scenario == SCENARIO_ALL);
}

static bool record_begin(struct recorder *r, struct buf *error)
{
	struct process_cost cost;
	r->profile_path = path_join(r->w.arena, r->w.folder, "profile.json");
	if (!record_start(r, r->o->watch_memory, &cost, error)) /* also brings the files of trib and of the project into memory */
		return false;
	r->private_dirty_bytes = cost.private_dirty_bytes;
	return !edits(r->o) || find_edit(r, error);
}

struct recorder *recorder_open(const struct record_options *o, struct buf *error)
{
	struct recorder *r = alloc_zeroed(sizeof *r);
	r->o = o;
	if (workspace_open(&r->w, o->root, error) && record_begin(r, error))
		return r;
	recorder_close(r);
	return NULL;
}

/* ---- all scenarios ---- */

static void record_add_cost(struct profile *p, uint32_t item, const struct process_cost *cost, struct process_cost *sum)
{
	set_costs(p, &p->items.at[item].values, cost);
	sum->wall_ns += cost->wall_ns;
	sum->cpu_ns += cost->cpu_ns;
	sum->others_ns += cost->others_ns;
	sum->instructions += cost->instructions;
	sum->peak_bytes = cost->peak_bytes > sum->peak_bytes ? cost->peak_bytes : sum->peak_bytes;
}

/* Runs the build twice, each run an item below that of the scenario. */
static bool measure_twice(struct recorder *r, struct profile *p, enum scenario s, struct process_cost *all, struct buf *error)
{
	static const char *const names[] = {FIRST_RUN, SECOND_RUN};
	struct process_cost both = {0}, cost;
	uint32_t item = profile_add_item(p, ITEM_SCENARIO, PROFILE_NONE, scenario_name(s), NULL);
	p->items.at[item].note = scenarios[s].meaning;
	if (!record_prepare(r, s, error))
		return false;
	for (int i = 0; i < 2; i++) {
		if (!record_run(r, &cost, error))
			return false;
		record_add_cost(p, profile_add_item(p, ITEM_SCENARIO, item, names[i], NULL), &cost, &both);
	}
	record_add_cost(p, item, &both, all);
	return true;
}

static struct profile *record_measure_all(struct recorder *r, struct buf *error)
{
	struct profile *p = profile_new(PROFILE_BUILD, 1);
	struct process_cost all = {0};
	int64_t calibration = calibrate_ns();
	for (enum scenario s = 0; s < SCENARIO_ALL; s++)
		if (!measure_twice(r, p, s, &all, error)) {
			profile_free(p);
			return NULL;
		}
	complete(r, p, &all, calibration);
	return p;
}

struct profile *recorder_sample(struct recorder *r, struct buf *error)
{
	if (r->o->kind == PROFILE_BUILD && r->o->scenario == SCENARIO_ALL)
		return record_measure_all(r, error);
	return r->o->kind == PROFILE_RUN || record_prepare(r, r->o->scenario, error) ? record_measure(r, error) : NULL;
}

void recorder_close(struct recorder *r)
{
	if (!r)
		return;
	workspace_close(&r->w);
	free(r);
}
