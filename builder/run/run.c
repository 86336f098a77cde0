#include "builder/run/run.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/format.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/manifest/options.h"
#include "builder/run/results.h"
#include "builder/run/run_input.h"
#include "builder/run/test_case.h"
#include "builder/weights/npy.h"

static int entry_named(const struct run_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->n_entries; i++)
		if (!strcmp(m->entries[i].name, name))
			return (int)i;
	return -1;
}

int run_find_entry(struct arena *a, const struct run_model *m, const char *name, struct buf *error)
{
	if (!name)
		return 0;
	const char *dot = strrchr(name, '.');
	char *joined = arena_strdup(a, name);
	for (char *c = joined; *c; c++)
		*c = *c == '.' ? '_' : *c;
	int at = entry_named(m, name);
	at = at < 0 ? entry_named(m, joined) : at;
	at = at < 0 && dot ? entry_named(m, dot + 1) : at;
	if (at >= 0)
		return at;
	buf_printf(error, "the model has no entry `%s`: it has", name);
	for (uint32_t i = 0; i < m->n_entries; i++)
		buf_printf(error, "%s `%s`", !i ? "" : i + 1 < m->n_entries ? "," : " and", m->entries[i].name);
	return -1;
}

static bool run_publish(const struct run_io *io, const struct run_options *options, struct buf *error)
{
	const tri_entry_desc *e = io->entry;
	for (int32_t i = 0; i < e->n_outputs; i++) {
		const tri_tensor *t = &io->tensors[e->n_inputs + i];
		const char *path = run_file_for(options->outputs, options->n_outputs, e->outputs[i].name);
		struct tensor host = results_tensor(t);
		struct buf b = {0};
		if (!path)
			continue;
		npy_write(&host, &b);
		bool ok = os_write_atomic(path, b.at, b.len, 0666, false);
		buf_free(&b);
		if (!ok) {
			buf_printf(error, "cannot write `%s`: %s", path, strerror(errno));
			return false;
		}
	}
	return true;
}

static void put_stdout(void *ctx, const char *s, size_t n)
{
	(void)ctx;
	print_data(stdout, s, n);
}

/* Type and shape of each output, and its values unless they went into a file. */
static void print_outputs(const struct run_io *io, const struct options *o)
{
	const tri_entry_desc *e = io->entry;
	struct format_out out = {put_stdout, NULL};
	struct buf line = {0};
	for (int32_t i = 0; i < e->n_outputs; i++) {
		const tri_tensor *t = &io->tensors[e->n_inputs + i];
		struct format_value v = {(enum format_elem)t->dtype, (uint32_t)t->rank, t->shape, t->data};
		buf_clear(&line);
		run_print_type(&line, t);
		print(stdout, "%s: %s\n", e->outputs[i].name, line.at);
		if (run_file_for(o->run.outputs, o->run.n_outputs, e->outputs[i].name))
			continue;
		format_tensor(NULL, &v, &out);
		print(stdout, "\n");
	}
	buf_free(&line);
}

/* Without --input, the inputs are those of the model's first test. */
static struct options with_test_inputs(struct arena *a, const struct run_model *m, const tri_entry_desc *e, const struct options *o)
{
	struct options with = *o;
	if (o->n_inputs || !e->n_inputs || !m->name)
		return with;
	const struct test_case *c = test_case_first(a, m, e);
	if (!c)
		return with;
	with.inputs = c->inputs;
	with.n_inputs = c->n_inputs;
	if (!o->quiet)
		print(stderr, "trib: no --input: inputs from %s\n", c->folder);
	return with;
}

enum status run_once(struct arena *a, const struct run_model *m, void *options)
{
	const struct options *given = options;
	struct buf why = {0};
	struct run_io io;
	enum status s = STATUS_USAGE;
	int entry = run_find_entry(a, m, given->entry, &why);
	if (entry >= 0) {
		const tri_entry_desc *e = &m->entries[entry];
		struct options o = with_test_inputs(a, m, e, given);
		if (run_check_names(a, m, e, &o, &why))
			s = run_prepare(a, e, &o, &io, &why) ? run_execute(a, m, (uint32_t)entry, &io, &o.run, &why)
			    : io.environment                 ? STATUS_ENVIRONMENT
							     : STATUS_FAILED;
		if (s == STATUS_OK && !run_publish(&io, &o.run, &why))
			s = STATUS_ENVIRONMENT;
		if (s == STATUS_OK && !o.quiet)
			print_outputs(&io, &o);
	}
	if (s != STATUS_OK)
		print(stderr, "trib: %s\n", why.at ? why.at : "interrupted");
	buf_free(&why);
	return s;
}
