/* `trib check`: the front end alone, after the safe fixes of --fix. */
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/line_diff.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "base/source.h"
#include "base/vec.h"
#include "builder/build/build.h"
#include "builder/build/model/project.h"
#include "builder/build/report/report.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/sources/param_names.h"
#include "builder/build/sources/params.h"
#include "builder/build/sources/sources.h"
#include "builder/profile/profile.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"

struct fixed_file {
	char *path;
	uint32_t changes;
};
/* The files that were changed in all rounds so far. */
struct fixes {
	VEC(struct fixed_file) files;
};

/* True for files of the project, and for those that the options name. */
static bool may_change(struct arena *arena, const struct options *options, const struct source *s)
{
	for (uint32_t i = 0; i < options->n_operands; i++)
		if (!strcmp(options->operands[i], s->path))
			return true;
	return s->path[0] != '/' && outputs_is_inside(arena, s->path) && strncmp(s->path, "../", 3) != 0 &&
	       strcmp(s->path, "tri.build") != 0;
}

/* True if the file has the text that was checked. The modules of the standard library have no file. */
static bool unchanged(const struct source *s)
{
	char *text;
	size_t len;
	if (!os_read_file(s->path, INT32_MAX, &text, &len))
		return false;
	bool same = len == s->len && memcmp(text, s->text, len) == 0;
	free(text);
	return same;
}

static void check_count(struct fixes *f, const char *path, uint32_t n)
{
	uint32_t i = 0;
	while (i < f->files.len && strcmp(f->files.at[i].path, path) != 0)
		i++;
	if (i == f->files.len)
		vec_push(&f->files, ((struct fixed_file){strdup(path), 0}));
	if (!f->files.at[i].path)
		bug_no_memory();
	f->files.at[i].changes += n;
}

static void check_print_json(const struct fixed_file *file, FILE *out)
{
	struct buf line = {0};
	struct json_writer w = {.out = &line};
	json_open(&w, '{');
	json_member_str(&w, "type", "fix");
	json_member_str(&w, "file", file->path);
	json_member_int(&w, "changes", file->changes);
	json_close(&w, '}');
	print(out, "%s\n", line.at);
	buf_free(&line);
}

/* Prints a line for each file, and frees the list. */
static void print_fixes(struct fixes *f, bool json, FILE *out)
{
	for (uint32_t i = 0; i < f->files.len; i++) {
		struct fixed_file *file = &f->files.at[i];
		if (json)
			check_print_json(file, out);
		else
			print(out, "fixed %s: %u change%s\n", file->path, file->changes, file->changes == 1 ? "" : "s");
		free(file->path);
	}
	vec_free(&f->files);
}

static void print_diff(FILE *out, const struct source *s, const struct buf *text)
{
	struct buf diff = {0};
	line_diff(s->path, s->text, s->len, text->at ? text->at : "", text->len, &diff);
	print_text(out, &diff);
	buf_free(&diff);
}

static uint32_t fix_source(struct build_context *c, const struct source *s, struct fixes *f)
{
	struct buf text = {0};
	uint32_t n = diags_fix(c->diags, s, &text);
	if (n && !unchanged(s))
		n = 0;
	if (n && c->request.options->diff) {
		print_diff(c->request.out, s, &text);
		buf_free(&text);
		return n;
	}
	if (n && !os_rewrite(s->path, text.at ? text.at : "", text.len)) {
		diag_add(c->diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write `%s`", s->path);
		c->outcome.environment = true;
		n = 0;
	}
	if (n) {
		os_remove_temporaries(path_dir(c->arena, s->path)); /* temporary files of killed processes */
		check_count(f, s->path, n);
	}
	buf_free(&text);
	return n;
}

/* After a check: applies edits to the project's sources and to the named files; never to the standard library, nor above the project's
 * folder. Returns the number of edits. With --diff the changes are only printed. */
static uint32_t fix_sources(struct build_context *c, struct fixes *f)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < sources_count(c->sources); i++)
		if (may_change(c->arena, c->request.options, sources_get(c->sources, i)))
			n += fix_source(c, sources_get(c->sources, i), f);
	return n;
}

enum { MOST_ROUNDS = 200 }; /* an edit may uncover another error; two edits that undo each other would never end */

struct check {
	struct session session;
	struct build_context context;
	struct project project;
	struct build_result result;
};

static bool check_run_steps(struct build_context *c, struct project *p)
{
	if (c->request.options->n_operands)
		return context_next(c, sources_load_files(c, p)) && context_next(c, sources_check(c, p)) && sources_elaborate_mains(c, p);
	return context_next(c, project_read_manifest(c, p)) && context_next(c, sources_load(c, p)) &&
	       context_next(c, sources_check(c, p)) && context_next(c, params_open_files(c, p)) &&
	       context_next(c, sources_elaborate(c, p)) && params_warn_names(c, p) && sources_elaborate_mains(c, p);
}

static void check_start(struct check *k, const struct options *o, FILE *out, FILE *err)
{
	*k = (struct check){.result.started = os_now_ns()};
	k->context = context_new(&k->session, (struct build_request){.options = o, .out = out, .err = err, .check = true});
	k->context.outcome.done = check_run_steps(&k->context, &k->project) && !os_interrupted();
}

static enum status check_report(struct check *k)
{
	struct profile *profile = report_profile_of(&k->context, &k->project, &k->result);
	enum status s = report_print(&k->context, &k->project, &k->result);
	report_timing(&k->context.request, &k->project.spec, profile);
	profile_free(profile);
	return s;
}

static void check_end(struct check *k)
{
	project_free(&k->context, &k->project);
	context_free(&k->context);
	session_free(&k->session);
}

/* Checks and edits until no edit is left. True: *s is the status of the command. */
static bool fix(const struct options *o, FILE *out, FILE *err, enum status *s)
{
	struct fixes fixes = {0};
	struct check k;
	bool ended = false;
	for (uint32_t round = 0, fixed = 1; fixed && !ended && round < MOST_ROUNDS; round++) {
		check_start(&k, o, out, err);
		diags_sort(k.context.diags);
		sources_verify_edits(k.context.diags, &k.project);
		fixed = fix_sources(&k.context, &fixes);
		bool failed = k.context.outcome.environment && fixed == 0;
		ended = failed || o->diff || os_interrupted();
		if (ended) {
			*s = context_status(&k.context);
			print_fixes(&fixes, o->json > 0, o->json > 0 ? out : err);
		}
		if (failed)
			check_report(&k);
		check_end(&k);
	}
	if (!ended)
		print_fixes(&fixes, o->json > 0, o->json > 0 ? out : err);
	return ended;
}

enum status check_run(const struct options *o, FILE *out, FILE *err)
{
	struct check k;
	enum status s;
	if (o->fix && fix(o, out, err, &s))
		return s;
	check_start(&k, o, out, err);
	s = check_report(&k);
	check_end(&k);
	return s;
}
