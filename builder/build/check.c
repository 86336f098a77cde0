/* `trib check`: the front end alone, after the safe fixes of --fix. */
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/fix.h"
#include "builder/build/session.h"
#include "builder/build/build_steps.h"
#include "builder/manifest/options.h"

enum { MOST_ROUNDS = 200 }; /* an edit may uncover another error; two edits that undo each other would never end */

struct check {
	struct session session;
	struct build_context context;
	struct project project;
	struct build_result result;
};

static bool run_steps(struct build_context *c, struct project *p)
{
	if (c->request.options->n_operands)
		return context_next(c, sources_load_files(c, p)) && context_next(c, sources_check(c, p)) && sources_elaborate_mains(c, p);
	return context_next(c, project_read_manifest(c, p)) && context_next(c, sources_load(c, p)) &&
	       context_next(c, sources_check(c, p)) && context_next(c, params_open_files(c, p)) &&
	       context_next(c, sources_elaborate(c, p)) && sources_elaborate_mains(c, p);
}

static void start(struct check *k, const struct options *o, FILE *out, FILE *err)
{
	*k = (struct check){.result.started = os_now_ns()};
	k->context = context_new(&k->session, (struct build_request){.options = o, .out = out, .err = err, .check = true});
	k->context.done = run_steps(&k->context, &k->project) && !os_interrupted();
}

static enum status report(struct check *k)
{
	enum status s = report_print(&k->context, &k->project, &k->result);
	report_timing(&k->context, &k->project.spec, &k->result);
	return s;
}

static void end(struct check *k)
{
	project_free(&k->project);
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
		start(&k, o, out, err);
		diags_sort(k.context.diags);
		fixed = fix_sources(&k.context, &fixes);
		bool failed = k.context.environment && fixed == 0;
		ended = failed || o->diff || os_interrupted();
		if (ended) {
			*s = context_status(&k.context);
			fixes_print(&fixes, o->json > 0, o->json > 0 ? out : err);
		}
		if (failed)
			report(&k);
		end(&k);
	}
	if (!ended)
		fixes_print(&fixes, o->json > 0, o->json > 0 ? out : err);
	return ended;
}

enum status check_run(const struct options *o, FILE *out, FILE *err)
{
	struct check k;
	enum status s;
	if (o->fix && fix(o, out, err, &s))
		return s;
	start(&k, o, out, err);
	s = report(&k);
	end(&k);
	return s;
}
