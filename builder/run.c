#include "builder/run.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "backend/runtime/dims.h"
#include "backend/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/vec.h"
#include "builder/convert.h"
#include "builder/library.h"
#include "builder/npy.h"
#include "builder/options.h"

/* A dimension that no input shows counts as 0: the library checks what it makes of it. */
static const uint64_t all_dims = UINT64_MAX;
_Static_assert((int)TRI_BOOL == (int)DT_BOOL && (int)TRI_TRIT == (int)DT_TRIT && (int)TRI_FLOAT64 == (int)DT_FLOAT64, "the same numbers");

/* The file that `list` gives for `name`, or NULL. */
static const char *file_for(const char *const *list, uint32_t n, const char *name)
{
	size_t len = strlen(name);
	for (uint32_t i = 0; i < n; i++)
		if (strncmp(list[i], name, len) == 0 && list[i][len] == '=')
			return list[i] + len + 1;
	return NULL;
}

static void print_shape(struct buf *b, const tri_tensor *t)
{
	buf_printf(b, "%s [", dtype_text((dtype)t->dtype));
	for (int32_t k = 0; k < t->rank; k++)
		buf_printf(b, "%s%lld", k ? ", " : "", (long long)t->shape[k]);
	buf_putc(b, ']');
}

static void print_wanted(struct buf *b, const tri_entry_desc *e, const tri_io_desc *io)
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

/* Every name of a flag must be one of the entry's. */
static bool check_names(const char *const *list, uint32_t n, const char *flag, const tri_io_desc *io, int32_t n_io, struct arena *a,
			struct buf *error)
{
	const char **names = ARENA_ARRAY(a, const char *, n_io + 1);
	for (int32_t i = 0; i < n_io; i++)
		names[i] = io[i].name;
	for (uint32_t i = 0; i < n; i++) {
		size_t len = strcspn(list[i], "=");
		const char *name = arena_strndup(a, list[i], len);
		if (!list[i][len] || !list[i][len + 1]) {
			buf_printf(error, "%s wants NAME=FILE, not `%s`", flag, list[i]);
			return false;
		}
		int32_t k = 0;
		while (k < n_io && strcmp(names[k], name) != 0)
			k++;
		if (k < n_io)
			continue;
		buf_printf(error, "the model has no %s `%s`", flag + 2, name);
		const char *near = diag_nearest(name, names, (uint32_t)n_io);
		if (near || n_io)
			buf_printf(error, near ? "; did you mean `%s`?" : "; it has `%s`", near ? near : names[0]);
		return false;
	}
	return true;
}

/* Element types may widen as in the language; float16 and bfloat16 inputs take float32 files, which .npy has. */
static bool convert(struct arena *a, const struct tensor *from, dtype to, struct tensor *out, struct buf *error)
{
	int64_t n = tensor_count(from);
	size_t bad;
	double value;
	*out = *from;
	out->elem = to;
	if (from->elem == to && to != DT_BOOL)
		return true;
	out->data = arena_alloc(a, (size_t)n * dtype_size(to) + 1, 64);
	if (convert_allowed(from->elem, to)) {
		if (convert_elements(from->elem, from->data, to, out->data, (size_t)n, &bad, &value))
			return true;
		buf_printf(error, "element %zu is %g, which is no %s", bad, value, dtype_text(to));
		return false;
	}
	if (dtype_class(from->elem) == DTC_FLOAT && (to == DT_FLOAT16 || to == DT_BFLOAT16)) {
		for (int64_t i = 0; i < n; i++)
			elem_put_float(to, out->data, i, elem_float(from->elem, from->data, i));
		return true;
	}
	buf_printf(error, "its elements are %s", dtype_text(from->elem));
	return false;
}

static bool read_input(struct arena *a, const tri_io_desc *d, const char *path, tri_tensor *out, struct tensor *t, struct buf *error)
{
	struct tensor raw;
	char *bytes;
	size_t len;
	const char *why;
	struct buf detail = {0};
	if (!os_read_file(path, 0, &bytes, &len)) {
		buf_printf(error, "cannot read `%s`: %s", path, strerror(errno));
		return false;
	}
	char *kept = memcpy(arena_alloc(a, len + 1, 64), bytes, len);
	vec_free_raw(bytes);
	if (!npy_parse(a, kept, len, &raw, &why)) {
		buf_printf(error, "`%s` cannot be read: %s", path, why);
		return false;
	}
	bool ok = convert(a, &raw, (dtype)d->dtype, t, &detail);
	if (!ok)
		buf_printf(error, "input `%s` is %s, but in `%s` %s", d->name, dtype_text((dtype)d->dtype), path, detail.at);
	buf_free(&detail);
	*out = (tri_tensor){.data = t->data, .rank = t->rank, .dtype = d->dtype};
	memcpy(out->shape, t->dims, sizeof out->shape);
	return ok;
}

static bool check_shape(const tri_entry_desc *e, const tri_io_desc *d, const tri_tensor *t, const int64_t *dims, const char *path,
			struct buf *error)
{
	bool same = d->rank == t->rank;
	for (int32_t k = 0; same && k < d->rank; k++) {
		int64_t v;
		same = tri_dim_value(&d->dims[k], dims, all_dims, &v) && v == t->shape[k];
	}
	if (same)
		return true;
	buf_printf(error, "input `%s` is ", d->name);
	print_wanted(error, e, d);
	buf_printf(error, ", but `%s` holds ", path);
	print_shape(error, t);
	return false;
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
			if (!tri_dim_value(&d->dims[k], io->dims, all_dims, &t->shape[k]) || t->shape[k] < 0 ||
			    __builtin_mul_overflow(bytes, (size_t)t->shape[k], &bytes) || bytes > PTRDIFF_MAX) {
				buf_printf(error, "the shape of output `%s` cannot be computed from these inputs", d->name);
				return false;
			}
		}
		t->data = arena_alloc(a, bytes ? bytes : 1, 64);
	}
	return true;
}

static int entry_named(const char *const *names, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

int run_find_entry(struct arena *a, const char *const *names, uint32_t n, const char *name, struct buf *error)
{
	if (!name)
		return 0;
	const char *dot = strrchr(name, '.');
	char *joined = arena_strdup(a, name);
	for (char *c = joined; *c; c++)
		*c = *c == '.' ? '_' : *c;
	int at = entry_named(names, n, name);
	at = at < 0 ? entry_named(names, n, joined) : at;
	at = at < 0 && dot ? entry_named(names, n, dot + 1) : at;
	if (at >= 0)
		return at;
	buf_printf(error, "the model has no entry `%s`: it has", name);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(error, "%s `%s`", !i ? "" : i + 1 < n ? "," : " and", names[i]);
	return -1;
}

bool run_check_names(struct arena *a, const tri_entry_desc *e, const struct options *o, struct buf *error)
{
	if (!check_names(o->inputs, o->n_inputs, "--input", e->inputs, e->n_inputs, a, error) ||
	    !check_names(o->outputs, o->n_outputs, "--output", e->outputs, e->n_outputs, a, error))
		return false;
	for (int32_t i = 0; i < e->n_inputs; i++) {
		if (file_for(o->inputs, o->n_inputs, e->inputs[i].name))
			continue;
		buf_printf(error, "no --input for `%s`, ", e->inputs[i].name);
		print_wanted(error, e, &e->inputs[i]);
		return false;
	}
	return true;
}

bool run_prepare(struct arena *a, const tri_entry_desc *e, const struct options *o, struct run_io *io, struct buf *error)
{
	uint64_t known = 0;
	*io = (struct run_io){.entry = e};
	io->tensors = ARENA_ARRAY(a, tri_tensor, e->n_inputs + e->n_outputs + 1);
	io->dims = ARENA_ARRAY(a, int64_t, e->n_dims + 1);
	for (int32_t i = 0; i < e->n_inputs; i++) {
		const tri_io_desc *d = &e->inputs[i];
		const char *path = file_for(o->inputs, o->n_inputs, d->name);
		struct tensor t;
		if (!read_input(a, d, path, &io->tensors[i], &t, error))
			return false;
	}
	tri_dims_solve(e, io->tensors, io->dims, &known);
	for (int32_t i = 0; i < e->n_inputs; i++)
		if (!check_shape(e, &e->inputs[i], &io->tensors[i], io->dims, file_for(o->inputs, o->n_inputs, e->inputs[i].name), error))
			return false;
	return allocate_outputs(a, io, error);
}

bool run_publish(const struct run_io *io, const struct options *o, struct buf *error)
{
	const tri_entry_desc *e = io->entry;
	for (int32_t i = 0; i < e->n_outputs; i++) {
		const tri_tensor *t = &io->tensors[e->n_inputs + i];
		const char *path = file_for(o->outputs, o->n_outputs, e->outputs[i].name);
		struct tensor host = {.elem = (dtype)t->dtype, .rank = (uint8_t)t->rank, .data = t->data};
		struct buf b = {0};
		memcpy(host.dims, t->shape, sizeof host.dims);
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

void run_print_outputs(const struct run_io *io)
{
	const tri_entry_desc *e = io->entry;
	for (int32_t i = 0; i < e->n_outputs; i++) {
		const tri_tensor *t = &io->tensors[e->n_inputs + i];
		printf("%s: %s [", e->outputs[i].name, dtype_text((dtype)t->dtype));
		for (int32_t k = 0; k < t->rank; k++)
			printf("%s%lld", k ? ", " : "", (long long)t->shape[k]);
		puts("]");
	}
}
