/* trib test: runs the cases in tests/ and compares their outputs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/cli/project.h"
#include "builder/run/drivers.h"
#include "builder/run/rounding.h"
#include "builder/run/run.h"
#include "builder/run/run_input.h"
#include "builder/run/results.h"
#include "builder/run/test_case.h"

struct testing {
	const struct options *options, *of_model;
	uint32_t passed, failed;
};

/* The result of one case; the text is empty if it passed. */
struct verdict {
	struct buf text;
	const char *output; /* the output that differs, or NULL */
	struct comparison difference;
};

static void test_put_index(struct buf *b, const struct tensor *t, int64_t at)
{
	int64_t index[TRI_MAX_RANK];
	for (uint32_t k = t->rank; k-- > 0; at /= t->dims[k])
		index[k] = at % t->dims[k];
	for (uint32_t k = 0; k < t->rank; k++)
		buf_printf(b, "%s%lld", k ? ", " : "[", (long long)index[k]);
	buf_puts(b, t->rank ? "]" : "");
}

static void tell_difference(struct arena *a, struct verdict *v, const struct tensor *got, struct tolerance t)
{
	const struct comparison *c = &v->difference;
	buf_printf(&v->text, "%s", v->output);
	test_put_index(&v->text, got, c->worst);
	buf_printf(&v->text, " is %.9g, want %.9g", c->got, c->want);
	if (t.rtol > 0 || t.atol > 0)
		buf_printf(&v->text, " (rtol %g, atol %g%s)", t.rtol, t.atol,
			   t.rounding > 0 ? arena_printf(a, ", rounding %.3g", t.rounding) : "");
	buf_printf(&v->text, "; %" PRId64 " of %" PRId64 " element%s differ%s", c->n_wrong, c->n, c->n == 1 ? "" : "s",
		   c->n_wrong == 1 ? "s" : "");
}

/* One run of a case. */
struct tried {
	struct arena *arena;
	const struct run_model *model;
	const struct test_case *test;
	const struct options *options; /* with the inputs of the case */
	struct run_io io;
	double *rounding; /* of each output; NULL: not measured yet */
};

/* Compares with the tolerance of the type. If that is too narrow and the user gave none, also with what rounding changes in this model. */
static bool test_compare(struct tried *r, const struct tensor *got, const struct tensor *want, int32_t output, struct tolerance *tolerance,
			 struct comparison *difference, struct buf *why)
{
	const struct options *o = r->options;
	*tolerance = tolerance_of(got->elem, o->run.rtol, o->run.atol);
	if (!compare_tensors(got, want, *tolerance, difference, why))
		return false;
	if (!difference->n_wrong || o->run.rtol >= 0 || o->run.atol >= 0 || dtype_class(got->elem) != DTC_FLOAT)
		return true;
	struct buf ignored = {0};
	if (!r->rounding)
		r->rounding = rounding_measure(r->arena, r->model, r->test->entry, &r->io, o, &ignored);
	buf_free(&ignored);
	if (!r->rounding)
		return true;
	*tolerance = rounding_widen(*tolerance, r->rounding[output], want);
	return compare_tensors(got, want, *tolerance, difference, why);
}

/* Compares the output of `text` ("out=FILE"). */
static bool check_output(struct tried *r, const char *text, struct verdict *v)
{
	struct arena *a = r->arena;
	const struct run_io *io = &r->io;
	const tri_entry_desc *e = io->entry;
	size_t len = strcspn(text, "=");
	struct tensor want, got = {0};
	struct tolerance t;
	int32_t output = 0;
	for (int32_t i = 0; i < e->n_outputs; i++) {
		const tri_tensor *its = &io->tensors[e->n_inputs + i];
		if (strncmp(e->outputs[i].name, text, len) != 0 || e->outputs[i].name[len])
			continue;
		got = (struct tensor){.elem = (dtype)its->dtype, .rank = (uint8_t)its->rank, .data = its->data};
		memcpy(got.dims, its->shape, sizeof got.dims);
		v->output = e->outputs[i].name;
		output = i;
	}
	struct buf why = {0};
	bool ok = run_read_npy(a, text + len + 1, &want, &v->text);
	if (ok && !test_compare(r, &got, &want, output, &t, &v->difference, &why)) {
		buf_printf(&v->text, "%s %s", v->output, why.at);
		ok = false;
	} else if (ok && v->difference.n_wrong) {
		tell_difference(a, v, &got, t);
		ok = false;
	}
	buf_free(&why);
	return ok;
}

static bool is_complete(const struct test_case *test, const tri_entry_desc *e, struct buf *error)
{
	if (test->n_strays)
		buf_printf(error, "`%s` is not an input or output of entry `%s`", test->strays[0], e->name);
	else if (!test->n_expected)
		buf_printf(error, "%s has no expected output: `%s.npy`", test->folder, e->n_outputs ? e->outputs[0].name : "out");
	else if (test->n_inputs == (uint32_t)e->n_inputs)
		return true;
	for (int32_t i = 0; i < e->n_inputs && !error->len; i++) {
		size_t n = strlen(e->inputs[i].name);
		bool there = false;
		for (uint32_t k = 0; k < test->n_inputs; k++)
			there |= strncmp(test->inputs[k], e->inputs[i].name, n) == 0 && test->inputs[k][n] == '=';
		if (!there)
			buf_printf(error, "%s has no `%s.npy`", test->folder, e->inputs[i].name);
	}
	return false;
}

static enum status test_run_case(struct arena *a, const struct run_model *m, const struct test_case *test, const struct options *o,
				 struct verdict *v)
{
	const tri_entry_desc *e = &m->entries[test->entry];
	struct options with = *o;
	struct tried r = {.arena = a, .model = m, .test = test, .options = &with};
	with.inputs = test->inputs;
	with.n_inputs = test->n_inputs;
	if (!is_complete(test, e, &v->text))
		return STATUS_FAILED;
	if (!run_prepare(a, e, &with, &r.io, &v->text))
		return r.io.environment ? STATUS_ENVIRONMENT : STATUS_FAILED;
	m->reset(m->ctx);
	enum status s = run_execute(a, m, test->entry, &r.io, &with.run, &v->text);
	for (uint32_t i = 0; s == STATUS_OK && i < test->n_expected; i++)
		if (!check_output(&r, test->expected[i], v))
			s = STATUS_FAILED;
	return s;
}

static void tell_json(const struct run_model *m, const struct test_case *test, const struct verdict *v)
{
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	json_open(&w, '{');
	json_member_str(&w, "type", "test");
	json_member_str(&w, "model", m->name);
	json_member_str(&w, "name", test->name);
	json_member_bool(&w, "ok", !v->text.len);
	if (v->text.len) {
		json_member_str(&w, "output", v->output);
		json_member_int(&w, "different", (uint64_t)v->difference.n_wrong);
		json_member_str(&w, "message", v->text.at);
	}
	json_close(&w, '}');
	print_json(&out);
}

static enum status test_model(struct arena *a, const struct run_model *m, void *ctx)
{
	struct testing *t = ctx;
	uint32_t n;
	const struct test_case *cases = test_cases(a, m, &n);
	enum status worst = STATUS_OK;
	for (uint32_t i = 0; i < n; i++) {
		struct verdict v = {0};
		arena_mark_t before = arena_mark(a);
		enum status s = test_run_case(a, m, &cases[i], t->of_model, &v);
		if (s != STATUS_OK && !v.text.len)
			buf_puts(&v.text, "interrupted");
		if (t->options->json > 0)
			tell_json(m, &cases[i], &v);
		else if (s != STATUS_OK)
			print(stdout, "%s: FAILED: %s\n", cases[i].name, v.text.at);
		else if (!t->options->quiet)
			print(stdout, "%s: ok\n", cases[i].name);
		fflush(stdout);
		t->passed += s == STATUS_OK;
		t->failed += s != STATUS_OK;
		worst = s > worst ? s : worst;
		buf_free(&v.text);
		arena_release(a, before);
	}
	return worst;
}

static void test_print_summary(const struct testing *t)
{
	if (t->options->json > 0) {
		struct buf out = {0};
		struct json_writer w = {.out = &out};
		json_open(&w, '{');
		json_member_str(&w, "type", "tests");
		json_member_int(&w, "passed", t->passed);
		json_member_int(&w, "failed", t->failed);
		json_member_bool(&w, "ok", !t->failed);
		json_close(&w, '}');
		print_json(&out);
	} else if (t->passed + t->failed == 0) {
		print(stdout,
		      "trib: no tests: put inputs and expected outputs into " TEST_FOLDER "/MODEL/ as NAME.npy (`trib test --help`)\n");
	} else {
		print(stdout, "trib: %u passed, %u failed\n", t->passed, t->failed);
	}
}

static enum status test_one(struct arena *a, const struct model_spec *spec, struct testing *t)
{
	struct options of_model = *t->options;
	enum status s;
	of_model.operands = &spec->name;
	of_model.n_operands = 1;
	of_model.run.device = t->options->run.device ? t->options->run.device : "cpu";
	t->of_model = &of_model;
	if (run_on_reference(&t->options->run))
		return reference_visit(&of_model, reference_interpret, test_model, t);
	const char *path = run_library_path(a, spec, &of_model, &s);
	return path ? run_visit_library(a, path, spec->name, &of_model, test_model, t) : s;
}

enum status cmd_test(const struct options *o)
{
	struct arena *a = arena_new(0);
	struct build_spec spec;
	struct testing t = {.options = o};
	drivers_supervise(o->run.device);
	enum status worst = run_check_device(&o->run) ? project_read(a, o, &spec) : STATUS_USAGE;
	if (worst == STATUS_OK) {
		worst = run_on_reference(&o->run) ? STATUS_OK : run_build_first(a, &spec, o);
		bool built = worst == STATUS_OK;
		for (uint32_t i = 0; built && i < spec.n_models; i++) {
			enum status s = test_one(a, &spec.models[i], &t);
			worst = s > worst ? s : worst;
		}
		if (built)
			test_print_summary(&t);
	}
	arena_free(a);
	return worst;
}
