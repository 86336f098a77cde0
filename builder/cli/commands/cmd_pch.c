/* trib pch create --stdlib: the standard library is precompiled when trib itself is built. This command verifies it, and measures the
 * time that it saves for each module and for the models of this project. */
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/print.h"
#include "base/vec.h"
#include "builder/build/load.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "frontend/frontend.h"

enum { MOST_MODULES = 64, ROUNDS = 7 };

struct std_module {
	const char *name;
	struct frontend_precompiled cost;
};
struct model_cost {
	const char *name;
	int64_t front_ns, saved_ns; /* of the front end; of lexing and parsing the modules */
};
struct measure {
	struct arena *a;
	struct std_module modules[MOST_MODULES];
	uint32_t n;
	VEC(struct model_cost) models;
};

static double ms(int64_t ns) { return (double)ns / 1e6; }
static double pch_share(const struct model_cost *m) { return 100.0 * (double)m->saved_ns / (double)(m->front_ns + m->saved_ns); }

static int64_t saved_by(const struct measure *k, const struct frontend *f)
{
	int64_t ns = 0;
	for (uint32_t i = 0; i < frontend_files(f); i++)
		for (uint32_t m = 0; m < k->n; m++)
			if (strcmp(frontend_file_path(f, i), arena_printf(k->a, "std/%s.tri", k->modules[m].name)) == 0)
				ns += k->modules[m].cost.parse_ns;
	return ns;
}

/* Runs all front ends once. The fastest of several runs counts. */
static void note(struct measure *k, const struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct frontend_times *t = frontend_times(p->models[i].frontend);
		struct model_cost m = {arena_strdup(k->a, p->models[i].spec->name), t->lex + t->parse + t->check + t->elaborate,
				       saved_by(k, p->models[i].frontend)};
		if (i == k->models.len)
			vec_push(&k->models, m);
		else if (m.front_ns < k->models.at[i].front_ns)
			k->models.at[i] = m;
	}
}

static bool measure_modules(struct measure *k)
{
	const char *names[MOST_MODULES];
	bool same = true;
	k->n = frontend_std_names(names, MOST_MODULES);
	for (uint32_t i = 0; i < k->n; i++) {
		k->modules[i].name = names[i];
		frontend_check_precompiled(names[i], &k->modules[i].cost);
		same = same && k->modules[i].cost.same;
	}
	return same;
}

static void print_measure(const struct measure *k)
{
	print(stdout, "The standard library is precompiled when trib is built. There is nothing to create.\nVerified now:\n\n");
	for (uint32_t i = 0; i < k->n; i++)
		print(stdout, "  %-8s %4u lines, %.3f ms to lex and parse, saved in a build\n", k->modules[i].name,
		      k->modules[i].cost.lines, ms(k->modules[i].cost.parse_ns));
	for (uint32_t i = 0; i < k->models.len; i++)
		print(stdout, "%s  model %s: front end %.3f ms, without precompiling %.3f ms (%.0f %% saved)\n", i ? "" : "\n",
		      k->models.at[i].name, ms(k->models.at[i].front_ns), ms(k->models.at[i].front_ns + k->models.at[i].saved_ns),
		      pch_share(&k->models.at[i]));
}

static void pch_print_as_json(const struct measure *k, bool same)
{
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	json_open(&w, '{');
	json_member_bool(&w, "verified", same);
	json_member_open(&w, "modules", '[');
	for (uint32_t i = 0; i < k->n; i++) {
		json_open(&w, '{');
		json_member_str(&w, "name", k->modules[i].name);
		json_member_int(&w, "lines", k->modules[i].cost.lines);
		json_member_num(&w, "parse_ms", ms(k->modules[i].cost.parse_ns));
		json_member_bool(&w, "verified", k->modules[i].cost.same);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_member_open(&w, "models", '[');
	for (uint32_t i = 0; i < k->models.len; i++) {
		json_open(&w, '{');
		json_member_str(&w, "name", k->models.at[i].name);
		json_member_num(&w, "front_end_ms", ms(k->models.at[i].front_ns));
		json_member_num(&w, "saved_ms", ms(k->models.at[i].saved_ns));
		json_member_num(&w, "saved_percent", pch_share(&k->models.at[i]));
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_close(&w, '}');
	print_json(&out);
}

static enum status pch_measure(struct measure *k, const struct options *o)
{
	struct options all = *o;
	struct file_stamp manifest;
	enum status s = STATUS_OK;
	bool same = measure_modules(k), json = o->format == PRINT_JSON;
	all.n_operands = 0;
	for (int i = 0; i < ROUNDS && s == STATUS_OK && os_stamp("tri.build", &manifest); i++) {
		struct loaded_project l;
		s = project_load(&l, &all, LOAD_ELABORATED);
		if (s == STATUS_OK)
			note(k, &l.project);
		project_unload(&l, s);
	}
	if (s != STATUS_OK)
		return s;
	if (json)
		pch_print_as_json(k, same);
	else if (same)
		print_measure(k);
	return same ? STATUS_OK : fail_environment("the precompiled standard library belongs to another version: build trib again");
}

enum status cmd_pch(const struct options *o)
{
	if (!o->stdlib)
		return fail_usage("wrong usage: write `trib pch create --stdlib`");
	struct measure k = {.a = arena_new(0)};
	enum status s = pch_measure(&k, o);
	vec_free(&k.models);
	arena_free(k.a);
	return s;
}
