/* The tensors of a run: checks names and shapes, reads or makes the inputs, allocates the outputs. */
#include <errno.h>
#include <string.h>
#include "backend/runtime/dims.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/manifest/options.h"
#include "builder/run/run.h"
#include "builder/run/run_input.h"

/* An unknown dimension counts as 0; the library checks the shapes that result. */
static const uint64_t all_dims = UINT64_MAX;
_Static_assert((int)TRI_BOOL == (int)DT_BOOL && (int)TRI_TRIT == (int)DT_TRIT && (int)TRI_FLOAT64 == (int)DT_FLOAT64 &&
		       (int)TRI_UINT8 == (int)DT_UINT8,
	       "types have the same numbers");

const char *run_file_for(const char *const *list, uint32_t n, const char *name)
{
	size_t len = strlen(name);
	for (uint32_t i = 0; i < n; i++)
		if (strncmp(list[i], name, len) == 0 && list[i][len] == '=')
			return list[i] + len + 1;
	return NULL;
}

void run_print_type(struct buf *b, const tri_tensor *t)
{
	buf_printf(b, "%s [", dtype_text((dtype)t->dtype));
	for (int32_t k = 0; k < t->rank; k++)
		buf_printf(b, "%s%lld", k ? ", " : "", (long long)t->shape[k]);
	buf_putc(b, ']');
}

static void print_expected(struct buf *b, const tri_entry_desc *e, const tri_io_desc *io)
{
	buf_printf(b, "%s [", dtype_text((dtype)io->dtype));
	for (int32_t k = 0; k < io->rank; k++) {
		const tri_dim_desc *d = &io->dims[k];
		int64_t v;
		if (k)
			buf_puts(b, ", ");
		if (d->n_steps == 1 && d->steps[0].op == TRI_DIM_SYM && d->steps[0].value < e->n_dims)
			buf_puts(b, e->dim_names[d->steps[0].value]);
		else if (tri_dim_value(d, NULL, 0, &v))
			buf_printf(b, "%lld", (long long)v);
		else
			buf_putc(b, '?');
	}
	buf_putc(b, ']');
}

/* True if every name of the flag exists in the entry. */
static bool run_io_check_names(const char *const *list, uint32_t n, const char *flag, const tri_io_desc *io, int32_t n_io, struct arena *a,
			       struct buf *error)
{
	const char **names = ARENA_ARRAY(a, const char *, n_io + 1);
	for (int32_t i = 0; i < n_io; i++)
		names[i] = io[i].name;
	for (uint32_t i = 0; i < n; i++) {
		size_t len = strcspn(list[i], "=");
		const char *name = arena_strndup(a, list[i], len);
		if (!list[i][len] || !list[i][len + 1]) {
			buf_printf(error, "%s takes NAME=FILE, not `%s`", flag, list[i]);
			return false;
		}
		for (uint32_t k = 0; k < i; k++)
			if (strncmp(list[k], list[i], len + 1) == 0) {
				buf_printf(error, "%s %s is given twice", flag, name);
				return false;
			}
		int32_t k = 0;
		while (k < n_io && strcmp(names[k], name) != 0)
			k++;
		if (k < n_io)
			continue;
		buf_printf(error, "the model has no %s `%s`", flag + 2, name);
		const char *near = diag_nearest(name, names, (uint32_t)n_io);
		if (near)
			buf_printf(error, "; did you mean `%s`?", near);
		for (k = 0; !near && k < n_io; k++)
			buf_printf(error, "%s`%s`", k == 0 ? "; it has " : k + 1 < n_io ? ", " : " and ", names[k]);
		return false;
	}
	return true;
}

static bool run_io_check_shape(const tri_entry_desc *e, const tri_io_desc *d, const tri_tensor *t, const int64_t *dims, const char *path,
			       bool is_made, struct buf *error)
{
	bool same = d->rank == t->rank;
	for (int32_t k = 0; same && k < d->rank; k++) {
		int64_t v;
		same = tri_dim_value(&d->dims[k], dims, all_dims, &v) && v == t->shape[k];
	}
	if (same)
		return true;
	buf_printf(error, "input `%s` is ", d->name);
	print_expected(error, e, d);
	buf_printf(error, ", but `%s` %s ", path, is_made ? "makes" : "holds");
	run_print_type(error, t);
	return false;
}

enum { SMALL = 1 << 28 }; /* bytes that are not compared with the free memory */

/* Allocates the values of a tensor. False: the machine has less free memory; *error says so. */
static bool run_io_allocate(struct arena *a, struct run_io *io, tri_tensor *t, size_t bytes, const char *what, const char *name,
			    struct buf *error)
{
	uint64_t left = bytes > SMALL ? os_available_memory() : 0;
	io->environment = left && bytes > left;
	if (io->environment)
		buf_printf(error, "%s `%s` of %.1f GiB does not fit into memory", what, name, (double)bytes / (1 << 30));
	else
		t->data = arena_alloc(a, bytes ? bytes : 1, 64);
	return !io->environment;
}

static bool allocate_outputs(struct arena *a, struct run_io *io, struct buf *error)
{
	const tri_entry_desc *e = io->entry;
	for (int32_t i = 0; i < e->n_outputs; i++) {
		const tri_io_desc *d = &e->outputs[i];
		tri_tensor *t = &io->tensors[e->n_inputs + i];
		size_t bytes = dtype_size((dtype)d->dtype);
		*t = (tri_tensor){.rank = d->rank, .dtype = d->dtype};
		for (int32_t k = 0; k < d->rank; k++) {
			bool known = tri_dim_value(&d->dims[k], io->dims, all_dims, &t->shape[k]);
			if (known && t->shape[k] < 0) {
				buf_printf(error, "the input sizes do not fit: output `%s` would have the size %lld", d->name,
					   (long long)t->shape[k]);
				return false;
			}
			if (!known || __builtin_mul_overflow(bytes, (size_t)t->shape[k], &bytes) || bytes > PTRDIFF_MAX) {
				buf_printf(error, "the shape of output `%s` cannot be computed from these inputs", d->name);
				return false;
			}
		}
		if (!run_io_allocate(a, io, t, bytes, "output", d->name, error))
			return false;
	}
	return true;
}

/* "no --input for `x`, float32 [N, 16]; to try it: `trib run net --input x=random`" */
static void missing_inputs(const struct run_model *m, const tri_entry_desc *e, const struct options *o, struct buf *error)
{
	bool first = true;
	for (int32_t i = 0; i < e->n_inputs; i++) {
		if (run_file_for(o->inputs, o->n_inputs, e->inputs[i].name))
			continue;
		buf_printf(error, "%s`%s`, ", first ? "no --input for " : "; nor for ", e->inputs[i].name);
		print_expected(error, e, &e->inputs[i]);
		first = false;
	}
	buf_printf(error, "; to try it with random values: `trib run %s", o->n_operands ? o->operands[0] : m->name ? m->name : "LIBRARY");
	if (o->entry)
		buf_printf(error, " --entry %s", o->entry);
	for (int32_t i = 0; i < e->n_inputs; i++) {
		const char *file = run_file_for(o->inputs, o->n_inputs, e->inputs[i].name);
		buf_printf(error, " --input %s=%s", e->inputs[i].name, file ? file : "random");
	}
	buf_putc(error, '`');
}

bool run_check_names(struct arena *a, const struct run_model *m, const tri_entry_desc *e, const struct options *o, struct buf *error)
{
	if (!run_io_check_names(o->inputs, o->n_inputs, "--input", e->inputs, e->n_inputs, a, error) ||
	    !run_io_check_names(o->run.outputs, o->run.n_outputs, "--output", e->outputs, e->n_outputs, a, error))
		return false;
	for (int32_t i = 0; i < e->n_inputs; i++) {
		struct run_source source;
		const char *text = run_file_for(o->inputs, o->n_inputs, e->inputs[i].name);
		if (text && run_source_parse(text, &source, error))
			continue;
		if (!text)
			missing_inputs(m, e, o, error);
		return false;
	}
	return true;
}

/* Solves the sizes that the shapes of files and options fix. */
static void solve_known(struct arena *a, const struct run_io *io, const struct run_source *sources, uint64_t *known)
{
	tri_entry_desc some = *io->entry;
	tri_io_desc *inputs = ARENA_ARRAY(a, tri_io_desc, some.n_inputs + 1);
	tri_tensor *tensors = ARENA_ARRAY(a, tri_tensor, some.n_inputs + 1);
	int32_t n = 0;
	for (int32_t i = 0; i < some.n_inputs; i++)
		if (sources[i].kind == SOURCE_FILE || sources[i].has_shape) {
			inputs[n] = io->entry->inputs[i];
			tensors[n] = io->tensors[i];
			if (inputs[n].rank != tensors[n].rank) /* reported later */
				continue;
			n++;
		}
	some.inputs = inputs;
	some.n_inputs = n;
	tri_dims_solve(&some, tensors, io->dims, known);
}

enum { FREE_BATCH = 1, FREE_SIZE = 8 };

/* Chooses the sizes of made inputs that nothing else fixes. */
static void choose_free(const struct run_io *io, const struct options *o, uint64_t *known)
{
	for (int32_t i = 0; i < io->entry->n_inputs; i++)
		for (int32_t k = 0; k < io->entry->inputs[i].rank; k++) {
			const tri_dim_desc *d = &io->entry->inputs[i].dims[k];
			for (int32_t s = 0; s < d->n_steps; s++) {
				int64_t symbol = d->steps[s].value;
				if (d->steps[s].op != TRI_DIM_SYM || (*known >> symbol & 1))
					continue;
				io->dims[symbol] = k ? FREE_SIZE : o->run.batch_size > 0 ? o->run.batch_size : FREE_BATCH;
				*known |= UINT64_C(1) << symbol;
			}
		}
}

static bool run_io_count_bytes(const tri_tensor *t, size_t *bytes)
{
	*bytes = dtype_size((dtype)t->dtype);
	for (int32_t k = 0; k < t->rank; k++)
		if (t->shape[k] < 0 || __builtin_mul_overflow(*bytes, (size_t)t->shape[k], bytes) || *bytes > PTRDIFF_MAX / 4)
			return false;
	return true;
}

static bool make_input(struct arena *a, struct run_io *io, int32_t i, const struct run_source *source, struct buf *error)
{
	const tri_io_desc *d = &io->entry->inputs[i];
	tri_tensor *t = &io->tensors[i];
	bool ok = true;
	size_t bytes;
	t->dtype = d->dtype;
	if (!source->has_shape) {
		t->rank = d->rank;
		for (int32_t k = 0; k < d->rank; k++)
			ok = ok && tri_dim_value(&d->dims[k], io->dims, all_dims, &t->shape[k]);
	}
	if (!ok || !run_io_count_bytes(t, &bytes)) {
		buf_printf(error, "the shape of input `%s` is unknown: give one, as in `--input %s=%s:4x16`", d->name, d->name,
			   run_source_text(source->kind));
		return false;
	}
	if (!run_io_allocate(a, io, t, bytes, "input", d->name, error))
		return false;
	run_make_input(d->name, source->kind, t);
	return true;
}

bool run_prepare_tensors(struct arena *a, const tri_entry_desc *e, const tri_tensor *inputs, struct run_io *io, struct buf *error)
{
	uint64_t known = 0;
	*io = (struct run_io){.entry = e,
			      .tensors = ARENA_ARRAY(a, tri_tensor, e->n_inputs + e->n_outputs + 1),
			      .dims = ARENA_ARRAY(a, int64_t, e->n_dims + 1)};
	memcpy(io->tensors, inputs, (size_t)e->n_inputs * sizeof *inputs);
	tri_dims_solve(e, io->tensors, io->dims, &known);
	for (int32_t i = 0; i < e->n_inputs; i++)
		if (!run_io_check_shape(e, &e->inputs[i], &io->tensors[i], io->dims, "its caller", true, error))
			return false;
	return allocate_outputs(a, io, error);
}

bool run_prepare(struct arena *a, const tri_entry_desc *e, const struct options *o, struct run_io *io, struct buf *error)
{
	uint64_t known = 0;
	struct run_source *sources = ARENA_ARRAY(a, struct run_source, e->n_inputs + 1);
	*io = (struct run_io){.entry = e};
	io->tensors = ARENA_ARRAY(a, tri_tensor, e->n_inputs + e->n_outputs + 1);
	io->dims = ARENA_ARRAY(a, int64_t, e->n_dims + 1);
	for (int32_t i = 0; i < e->n_inputs; i++) {
		tri_tensor *t = &io->tensors[i];
		if (!run_source_parse(run_file_for(o->inputs, o->n_inputs, e->inputs[i].name), &sources[i], error))
			return false;
		t->rank = sources[i].rank;
		memcpy(t->shape, sources[i].dims, sizeof t->shape);
		errno = 0;
		if (sources[i].kind == SOURCE_FILE && !run_read_input(a, &e->inputs[i], sources[i].path, t, error)) {
			io->environment = errno != 0;
			return false;
		}
	}
	solve_known(a, io, sources, &known);
	choose_free(io, o, &known);
	for (int32_t i = 0; i < e->n_inputs; i++) {
		if (sources[i].kind != SOURCE_FILE && !make_input(a, io, i, &sources[i], error))
			return false;
		if (!run_io_check_shape(e, &e->inputs[i], &io->tensors[i], io->dims, sources[i].path, sources[i].kind != SOURCE_FILE,
					error))
			return false;
	}
	return allocate_outputs(a, io, error);
}
