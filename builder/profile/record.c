#include "builder/profile/record.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/profile/calibrate.h"
#include "builder/profile/process.h"
#include "builder/profile/workspace.h"

#define MOST_EDITS 200   /* places that are tried */
#define RUN_TIME "300ms" /* of each sample of runs */

/* A `return` of one line, which an edit changes. */
struct edit {
	const char *path; /* relative to the project; NULL: none was found */
	const char *text; /* of the file */
	size_t at, end;   /* the value that is returned */
};
struct recorder {
	const struct record_options *o;
	struct workspace w;
	struct edit edit;
	uint32_t edits;
	const char *profile_path;
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

static uint32_t count(const char *const *list)
{
	uint32_t n = 0;
	while (list && list[n])
		n++;
	return n;
}

static const char *const *command_of(struct recorder *r)
{
	static const char *const build[] = {"build", "--no-server", "-o", WORKSPACE_OUT}, *const bench[] = {"bench", "--max-time",
													    RUN_TIME};
	const struct record_options *o = r->o;
	bool runs = o->kind == PROFILE_RUN;
	const char **argv = ARENA_ARRAY(r->w.arena, const char *, 13 + count(o->models) + count(o->flags));
	uint32_t n = 0, words = runs ? 3 : 4;
	argv[n++] = o->program;
	for (uint32_t i = 0; i < words; i++)
		argv[n++] = runs ? bench[i] : build[i];
	argv[n++] = "-C";
	argv[n++] = r->w.project;
	if (!o->only_totals) {
		argv[n++] = "--profile-out";
		argv[n++] = r->profile_path;
	}
	if (path_has_extension(o->root, "tri"))
		argv[n++] = path_base(o->root);
	for (uint32_t i = 0; i < count(o->models); i++)
		argv[n++] = o->models[i];
	for (uint32_t i = 0; i < count(o->flags); i++)
		argv[n++] = o->flags[i];
	return argv;
}

static bool run(struct recorder *r, struct process_cost *cost, struct buf *error)
{
	const char *variables[] = {arena_printf(r->w.arena, "TRIB_CACHE_DIR=%s", r->w.cache), NULL};
	struct process_request q = {command_of(r), variables, r->o->count_instructions};
	struct buf messages = {0};
	bool ok = process_run(&q, cost, &messages);
	if (!ok && !os_interrupted())
		buf_printf(error, "%s", messages.at);
	else if (ok && cost->status != 0)
		buf_printf(error, "the measured process failed with exit code %d:\n%s", cost->status, messages.at ? messages.at : "");
	buf_free(&messages);
	return ok && cost->status == 0;
}

static const char *join(struct arena *a, const char *const *words)
{
	const char *text = "";
	for (uint32_t i = 0; i < count(words); i++)
		text = arena_printf(a, "%s%s%s", text, i ? " " : "", words[i]);
	return text;
}

/* The cost of the whole process, in place of what it measured itself. */
static void set_totals(struct profile *p, const struct process_cost *cost)
{
	profile_set(p, &p->total, METRIC_WALL, 0, (double)cost->wall_ns);
	profile_set(p, &p->total, METRIC_CPU, 0, (double)cost->cpu_ns);
	profile_set(p, &p->total, METRIC_PEAK, 0, (double)cost->peak_bytes);
	if (cost->instructions > 0)
		profile_set(p, &p->total, METRIC_INSTRUCTIONS, 0, cost->instructions);
}

/* Describes what was run. */
static void complete(const struct recorder *r, struct profile *p, const struct process_cost *cost, int64_t calibration)
{
	const struct record_options *o = r->o;
	if (o->kind == PROFILE_BUILD)
		set_totals(p, cost);
	profile_set(p, &p->total, METRIC_OTHERS, 0, (double)cost->others_ns);
	p->calibration_ns = ARENA_ARRAY(p->arena, double, 1);
	p->calibration_ns[0] = (double)calibration;
	if (o->kind == PROFILE_BUILD)
		profile_add_setting(p, "scenario", scenario_name(o->scenario));
	if (count(o->models))
		profile_add_setting(p, "models", join(p->arena, o->models));
	if (count(o->flags))
		profile_add_setting(p, "flags", join(p->arena, o->flags));
}

static struct profile *measure(struct recorder *r, struct buf *error)
{
	struct process_cost cost;
	int64_t calibration = calibrate_ns();
	os_remove_tree(r->profile_path);
	if (!run(r, &cost, error))
		return NULL;
	struct profile *p = r->o->only_totals ? profile_new(PROFILE_BUILD, 1) : profile_read(r->profile_path, error);
	if (p)
		complete(r, p, &cost, calibration);
	return p;
}

/* ---- edits ---- */

static bool write_edit(struct recorder *r, const struct edit *e, uint32_t number, struct buf *error)
{
	struct buf text = {0};
	const char *path = path_join(r->w.arena, r->w.project, e->path);
	buf_put(&text, e->text, e->at);
	buf_printf(&text, "(%.*s) + %u", (int)(e->end - e->at), e->text + e->at, number);
	buf_puts(&text, e->text + e->end);
	bool ok = os_rewrite(path, number ? text.at : e->text, number ? text.len : strlen(e->text));
	if (!ok)
		buf_printf(error, "cannot write `%s`: %s", path, strerror(errno));
	buf_free(&text);
	return ok;
}

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
static bool edit_works(struct recorder *r, const struct edit *e)
{
	struct buf ignored = {0};
	uint64_t before = output_inodes(r);
	struct process_cost cost;
	bool works = write_edit(r, e, ++r->edits, &ignored) && run(r, &cost, &ignored) && output_inodes(r) != before;
	if (!works)
		write_edit(r, e, 0, &ignored);
	buf_free(&ignored);
	return works;
}

static bool next_return(const char *text, size_t *from, struct edit *e)
{
	const char *at = strstr(text + *from, "return ");
	if (!at)
		return false;
	e->at = (size_t)(at - text) + strlen("return ");
	e->end = e->at + strcspn(text + e->at, "\n#");
	*from = e->end;
	return true;
}

/* Finds a place for edits by trying. */
static bool find_edit(struct recorder *r, struct buf *error)
{
	uint32_t tries = 0;
	for (uint32_t i = 0; i < r->w.sources.len && tries < MOST_EDITS; i++) {
		struct edit e = {.path = r->w.sources.at[i]};
		size_t from = 0, len;
		char *data;
		if (!os_read_file(path_join(r->w.arena, r->w.project, e.path), 0, &data, &len))
			continue;
		e.text = arena_strndup(r->w.arena, data, len);
		free(data);
		while (tries++ < MOST_EDITS && !os_interrupted() && next_return(e.text, &from, &e))
			if (edit_works(r, &e)) {
				r->edit = e;
				return true;
			}
	}
	buf_puts(error, "no `return` of one line could be edited so that a unit is compiled; record another scenario");
	return false;
}

/* ---- the recorder ---- */

/* Brings the workspace into the state that the scenario wants. */
static bool prepare(struct recorder *r, struct buf *error)
{
	if (r->o->kind == PROFILE_RUN)
		return true;
	switch (r->o->scenario) {
	case SCENARIO_COLD:
		workspace_forget_cache(&r->w);
		workspace_forget_build(&r->w);
		return true;
	case SCENARIO_WARM: workspace_forget_build(&r->w); return true;
	case SCENARIO_EDIT: return write_edit(r, &r->edit, ++r->edits, error);
	default: return true;
	}
}

static bool begin(struct recorder *r, struct buf *error)
{
	struct process_cost cost;
	r->profile_path = path_join(r->w.arena, r->w.folder, "profile.json");
	if (!run(r, &cost, error)) /* also brings the files of trib and of the project into memory */
		return false;
	return r->o->kind == PROFILE_RUN || r->o->scenario != SCENARIO_EDIT || find_edit(r, error);
}

struct recorder *recorder_open(const struct record_options *o, struct buf *error)
{
	struct recorder *r = alloc_zeroed(sizeof *r);
	r->o = o;
	if (workspace_open(&r->w, o->root, error) && begin(r, error))
		return r;
	recorder_close(r);
	return NULL;
}

struct profile *recorder_sample(struct recorder *r, struct buf *error) { return prepare(r, error) ? measure(r, error) : NULL; }

void recorder_close(struct recorder *r)
{
	if (!r)
		return;
	workspace_close(&r->w);
	free(r);
}
