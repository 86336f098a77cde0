#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/print.h"
#include "builder/build/load.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/profile/figures.h"
#include "frontend/hir/hir.h"

/* Elements and tensors: of parameters, and of buffers. */
struct totals {
	int64_t count[2];
	uint32_t tensors[2];
};

static int64_t params_extent(const struct hir_param *p, uint32_t k) { return dim_eval(p->dims, p->type.dims[k], NULL); }

static int64_t params_count(const struct hir_param *p)
{
	int64_t n = 1;
	for (uint32_t k = 0; k < p->type.rank; k++)
		n *= params_extent(p, k);
	return n;
}

static struct totals params_total(const struct hir_program *p)
{
	struct totals t = {0};
	for (uint32_t i = 0; i < p->n_params; i++) {
		t.count[p->params[i].buffer] += params_count(&p->params[i]);
		t.tensors[p->params[i].buffer]++;
	}
	return t;
}

/* 11,689,512 */
static const char *grouped(int64_t v, char out[FIGURE_SIZE]) { return figure_text(UNIT_COUNT, (double)v, out); }

static void list_text(const char *model, const struct hir_program *p)
{
	struct totals t = params_total(p);
	char a[FIGURE_SIZE], b[FIGURE_SIZE];
	int width = 0;
	for (uint32_t i = 0; i < p->n_params; i++)
		if ((int)strlen(p->params[i].name) > width)
			width = (int)strlen(p->params[i].name);
	for (uint32_t i = 0; i < p->n_params; i++) {
		const struct hir_param *m = &p->params[i];
		struct buf shape = {0};
		for (uint32_t k = 0; k < m->type.rank; k++)
			buf_printf(&shape, "%s%" PRId64, k ? ", " : "", params_extent(m, k));
		print(stdout, "%-*s  %-8s [%s] %s%s", width, m->name, dtype_text(m->type.elem), shape.at ? shape.at : "",
		      grouped(params_count(m), a), m->buffer ? " buffer" : "");
		for (uint32_t k = 0; k < m->n_aliases; k++)
			print(stdout, "%s%s", k ? ", " : ", also ", m->aliases[k]);
		print(stdout, "\n");
		buf_free(&shape);
	}
	print(stdout, "%s: %s parameters in %u tensors", model, grouped(t.count[0], a), t.tensors[0]);
	if (t.tensors[1])
		print(stdout, "; buffers: %s in %u", grouped(t.count[1], b), t.tensors[1]);
	print(stdout, "\n");
}

static void put_param(struct json_writer *w, const char *model, const struct hir_param *p)
{
	json_open(w, '{');
	json_member_str(w, "type", "parameter");
	json_member_str(w, "model", model);
	json_member_str(w, "name", p->name);
	json_member_str(w, "dtype", dtype_text(p->type.elem));
	json_member_open(w, "shape", '[');
	for (uint32_t k = 0; k < p->type.rank; k++)
		json_int(w, params_extent(p, k));
	json_close(w, ']');
	json_member_bool(w, "buffer", p->buffer);
	json_member_open(w, "aliases", '[');
	for (uint32_t k = 0; k < p->n_aliases; k++)
		json_str(w, p->aliases[k]);
	json_close(w, ']');
	json_close(w, '}');
}

static void list_json(const char *model, const struct hir_program *p)
{
	struct totals t = params_total(p);
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	for (uint32_t i = 0; i < p->n_params; i++) {
		put_param(&w, model, &p->params[i]);
		buf_putc(&out, '\n');
		w.need_comma = false;
	}
	json_open(&w, '{');
	json_member_str(&w, "type", "parameters");
	json_member_str(&w, "model", model);
	json_member_int(&w, "count", t.count[0]);
	json_member_int(&w, "buffers", t.count[1]);
	json_close(&w, '}');
	print_json(&out);
}

/* ---- a functional entry whose weights file is missing ---- */

static const char *given_type(struct arena *a, const struct elab_input *in)
{
	struct buf b = {0};
	buf_printf(&b, "%s [", dtype_text(in->elem));
	for (uint32_t k = 0; k < in->rank; k++)
		buf_printf(&b, in->dims[k] < 0 ? "%s?" : "%s%" PRId64, k ? ", " : "", in->dims[k]);
	const char *text = arena_printf(a, "%s]", b.at);
	buf_free(&b);
	return text;
}

/* The `input` line of the manifest for this argument; NULL if there is none. */
static const struct elab_input *params_find_input(const struct model_spec *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_inputs; i++)
		if (strcmp(s->inputs[i].name, name) == 0)
			return &s->inputs[i];
	return NULL;
}

static void put_arg(struct arena *a, const struct model_spec *s, const struct frontend_arg *arg, bool json)
{
	const struct elab_input *in = params_find_input(s, arg->name);
	const char *type = in ? given_type(a, in) : arg->type ? arg->type : "";
	if (!json) {
		print(stdout, "%-16s %s%s\n", arg->name, type, in ? " input" : arg->has_default ? " has a default" : "");
		return;
	}
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	json_open(&w, '{');
	json_member_str(&w, "type", "argument");
	json_member_str(&w, "model", s->name);
	json_member_str(&w, "name", arg->name);
	json_member_str(&w, "declared", *type ? type : NULL);
	json_member_bool(&w, "input", in != NULL);
	json_close(&w, '}');
	print_json(&out);
}

static void print_args(struct arena *a, const struct model_job *m, bool json)
{
	const struct model_spec *s = m->spec;
	uint32_t n, would = 0;
	for (uint32_t e = 0; e < s->n_entries; e++) {
		const struct frontend_arg *args = frontend_entry_args(m->frontend, s->entries[e], a, &n);
		for (uint32_t i = 0; args && i < n; i++) {
			put_arg(a, s, &args[i], json);
			would += !params_find_input(s, args[i].name) && !args[i].has_default;
		}
	}
	if (!json)
		print(stdout, "%s: `%s` is missing. It would say which arguments of `%s` are parameters%s\n", s->name, s->weights->text,
		      s->entries[0],
		      s->n_inputs ? arena_printf(a, ": probably the %u without an `input` line in the manifest", would) : "");
}

static void params_list(struct arena *a, const struct project *p, bool json)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		if (m->params.unknown)
			print_args(a, m, json);
		else
			(json ? list_json : list_text)(m->spec->name, m->program);
		if (m->params.file_absent && !m->params.unknown && !json)
			print(stdout, "%s: `%s` is missing\n", m->spec->name, m->spec->weights->text);
	}
}

enum status cmd_params(const struct options *o)
{
	struct loaded_project l;
	enum status s = project_load(&l, o, LOAD_PARAMS);
	if (s == STATUS_OK)
		params_list(l.context.arena, &l.project, o->json > 0);
	return project_unload(&l, s);
}
