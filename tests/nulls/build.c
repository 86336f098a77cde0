/* Builds. */
#include "nulls.h"
#include "tri_build.h"

static void on_progress(void *user, const tri_build_progress *p)
{
	struct subject *s = user;
	FILLED(tri_build_progress, p, name, 1);
	FILLED(tri_build_progress, p, kind, 1);
	FILLED(tri_build_progress, p, reason, 1);
}

static void on_diagnostic(void *user, const tri_build_diagnostic *d)
{
	struct subject *s = user;
	FILLED(tri_build_diagnostic, d, code, 1);
	FILLED(tri_build_diagnostic, d, message, 1);
	FILLED(tri_build_diagnostic, d, label, 1);
	FILLED(tri_build_diagnostic, d, help, 1);
	FILLED(tri_build_diagnostic, d, file, 1);
}

static tri_builder *builder(struct subject *s)
{
	tri_builder *b = tri_builder_open(s->args[0], &s->err);
	CHECK(b);
	return b;
}

void build_open(struct subject *s)
{
	GIVES_NULL(TRI_ERR_ARGUMENT, tri_builder_open(NULL, err));
	OK("tri_builder_open.folder");
	tri_builder *b = tri_builder_open(s->args[0], NULL);
	CHECK(b);
	OK("tri_builder_open.err");
	tri_builder_cancel(NULL);
	tri_builder_close(NULL);
	tri_builder_close(b);
	OK("tri_builder_cancel.b");
	OK("tri_builder_close.b");
}

void build_run(struct subject *s)
{
	tri_build_summary out = {.size = sizeof out};
	CHECK(tri_builder_run(NULL, NULL, &out) == TRI_BUILD_USAGE && out.code == TRI_BUILD_USAGE && *out.message);
	CHECK(tri_builder_run(NULL, NULL, NULL) == TRI_BUILD_USAGE);
	OK("tri_builder_run.b");
	tri_builder *b = builder(s);
	CHECK(tri_builder_run(b, NULL, NULL) == TRI_BUILD_OK);
	OK("tri_builder_run.opt");
	OK("tri_builder_run.out");
	tri_builder_close(b);
}

void build_options(struct subject *s)
{
	const char *names[] = {NULL};
	tri_builder *b = builder(s);
	tri_build_summary out = {.size = sizeof out};
	tri_build_options o = {.size = sizeof o, .n_models = 1};
	CHECK(tri_builder_run(b, &o, &out) == TRI_BUILD_USAGE && *out.message);
	OK("tri_build_options.models");
	o.models = names;
	CHECK(tri_builder_run(b, &o, &out) == TRI_BUILD_USAGE && *out.message);
	OK("tri_build_options.models[]");
	o = (tri_build_options){.size = sizeof o, .messages = TRI_BUILD_EXPLAIN, .profile = 1};
	CHECK(tri_builder_run(b, &o, &out) == TRI_BUILD_OK && out.profile);
	OK("tri_build_options.target");
	OK("tri_build_options.cpu");
	OK("tri_build_options.out");
	OK("tri_build_options.cache_dir");
	OK("tri_build_options.manifest_profile");
	OK("tri_build_options.profile_file");
	OK("tri_build_options.on_progress");
	OK("tri_build_options.on_diagnostic");
	OK("tri_build_options.user");
	tri_builder_close(b);
}

void build_results(struct subject *s)
{
	tri_builder *b = builder(s);
	tri_build_summary out = {.size = sizeof out};
	tri_build_options o = {.size = sizeof o,
			       .no_cache = 1,
			       .messages = TRI_BUILD_EXPLAIN,
			       .on_progress = on_progress,
			       .on_diagnostic = on_diagnostic,
			       .user = s};
	CHECK(tri_builder_run(b, &o, &out) == TRI_BUILD_OK);
	OK("tri_build_options.on_progress.p");
	OK("tri_build_options.on_progress.user");
	OK("tri_build_options.on_diagnostic.d");
	OK("tri_build_options.on_diagnostic.user");
	FILLED(tri_build_summary, &out, message, 1);
	FILLED(tri_build_summary, &out, phases, out.n_phases);
	FILLED(tri_build_summary, &out, outputs, out.n_outputs);
	FILLED(tri_build_summary, &out, profile, 0);
	for (uint32_t i = 0; i < out.n_phases; i++)
		FILLED(tri_build_phase, &out.phases[i], name, 1);
	for (uint32_t i = 0; i < out.n_outputs; i++)
		CHECK(out.outputs[i]);
	OK("tri_build_summary.outputs[]");
	tri_builder_close(b);
}
