/* Checks the tensors of a run call: element types, shapes, dynamic dimensions. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "backend/runtime/dims.h"
#include "backend/runtime/model.h"

enum { TEXT = 160 };

int tri_error_set(tri_error *err, int code, const char *fmt, ...)
{
	if (!err)
		return code;
	va_list ap;
	va_start(ap, fmt);
	err->code = code;
	vsnprintf(err->message, sizeof err->message, fmt, ap);
	va_end(ap);
	return code;
}

static const char *dtype_name(int32_t t)
{
	static const char *const names[] = {"bool",    "trit",     "int8",    "int16",   "int32", "int64",
					    "float16", "bfloat16", "float32", "float64", "uint8"};
	return t >= 0 && t < (int32_t)(sizeof names / sizeof *names) ? names[t] : "an unknown dtype";
}

struct message {
	char at[TEXT];
	size_t len;
};
static void model_io_add(struct message *t, const char *s)
{
	while (*s && t->len + 1 < TEXT)
		t->at[t->len++] = *s++;
	t->at[t->len] = 0;
}
static void add_int(struct message *t, int64_t v)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%lld", (long long)v);
	model_io_add(t, digits);
}

static const char *model_io_shape_text(const tri_tensor *t, struct message *out)
{
	model_io_add(out, "[");
	for (int32_t k = 0; k < t->rank && k < TRI_MAX_RANK; k++) {
		model_io_add(out, k ? ", " : "");
		add_int(out, t->shape[k]);
	}
	model_io_add(out, "]");
	return out->at;
}

/* Appends a dimension: a constant, a name with its value, or the value of an expression. */
static void model_io_add_dim(const tri_entry_desc *e, const tri_dim_desc *d, const int64_t *dims, uint64_t known, struct message *out)
{
	int64_t v;
	if (d->n_steps == 1 && d->steps[0].op == TRI_DIM_SYM) {
		const char *name = e->dim_names[d->steps[0].value];
		model_io_add(out, name);
		if (strcmp(name, "?") == 0 || !(known >> d->steps[0].value & 1))
			return;
		model_io_add(out, "=");
	}
	if (tri_dim_value(d, dims, known, &v))
		add_int(out, v);
	else
		model_io_add(out, "?");
}
static const char *want_text(const tri_entry_desc *e, const tri_io_desc *t, const int64_t *dims, uint64_t known, struct message *out)
{
	model_io_add(out, "[");
	for (int32_t k = 0; k < t->rank; k++) {
		model_io_add(out, k ? ", " : "");
		model_io_add_dim(e, &t->dims[k], dims, known, out);
	}
	model_io_add(out, "]");
	return out->at;
}

static int shape_error(const tri_entry_desc *e, const tri_io_desc *d, const char *what, const tri_tensor *t, const int64_t *dims,
		       uint64_t known, tri_error *err)
{
	struct message want = {{0}, 0}, got = {{0}, 0};
	return tri_error_set(err, TRI_ERR_SHAPE, "%s %.60s: expected %.70s, got %.70s", what, d->name, want_text(e, d, dims, known, &want),
			     model_io_shape_text(t, &got));
}

int tri_error_sizes(tri_error *err, const char *line, const tri_entry_desc *e, int64_t kind, const int64_t *dims)
{
	static const char *const texts[] = {
#define SIZE_ERROR(id, word, message) message,
#include "backend/runtime/abi/size_errors.def"
#undef SIZE_ERROR
	};
	struct message sizes = {{0}, 0};
	for (int32_t i = 0; i < e->n_dims; i++) {
		model_io_add(&sizes, i ? ", " : ": ");
		model_io_add(&sizes, e->dim_names[i]);
		model_io_add(&sizes, " = ");
		add_int(&sizes, dims[i]);
	}
	return tri_error_set(err, TRI_ERR_SHAPE, "%s%s%.110s", line, texts[kind], sizes.at);
}

/* Checks element type, rank, and that the sizes and data are valid. Needs no values of dynamic dimensions. */
static int model_io_check_form(const tri_entry_desc *e, const tri_io_desc *d, const char *what, const tri_tensor *t, const int64_t *dims,
			       tri_error *err)
{
	int64_t bytes = tri_dtype_bytes(d->dtype);
	if (t->dtype != d->dtype)
		return tri_error_set(err, TRI_ERR_DTYPE, "%s %.100s: expected %s, got %s", what, d->name, dtype_name(d->dtype),
				     dtype_name(t->dtype));
	if (t->rank != d->rank)
		return shape_error(e, d, what, t, dims, 0, err);
	for (int32_t k = 0; k < t->rank; k++) {
		struct message got = {{0}, 0};
		if (t->shape[k] < 0)
			return shape_error(e, d, what, t, dims, 0, err);
		if (t->shape[k] > 0 && __builtin_mul_overflow(bytes, t->shape[k], &bytes))
			return tri_error_set(err, TRI_ERR_SHAPE, "%s %.60s: the number of bytes of shape %.100s exceeds 64 bits", what,
					     d->name, model_io_shape_text(t, &got));
	}
	for (int32_t k = 0; k < t->rank; k++)
		if (t->shape[k] == 0)
			bytes = 0;
	if (!t->data && bytes)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "%s %.100s: data is NULL", what, d->name);
	return TRI_OK;
}

static int model_io_check_shape(const tri_entry_desc *e, const tri_io_desc *d, const char *what, const tri_tensor *t, const int64_t *dims,
				uint64_t known, tri_error *err)
{
	for (int32_t k = 0; k < t->rank; k++) {
		int64_t want;
		if (!tri_dim_value(&d->dims[k], dims, known, &want))
			return tri_error_set(err, TRI_ERR_SHAPE, "%s %.100s: dimension %d does not follow from the inputs", what, d->name,
					     (int)k);
		if (want != t->shape[k])
			return shape_error(e, d, what, t, dims, known, err);
	}
	return TRI_OK;
}

int tri_io_check(const tri_entry_desc *e, const tri_tensor *io, int64_t *dims, tri_error *err)
{
	int32_t n = e->n_inputs + e->n_outputs;
	uint64_t known = 0;
	int code = TRI_OK;
	if (!io && n)
		return tri_error_set(err, TRI_ERR_ARGUMENT, "io is NULL");
	for (int32_t i = 0; i < e->n_dims; i++)
		dims[i] = 0;
	for (int32_t i = 0; i < n && code == TRI_OK; i++)
		code = i < e->n_inputs ? model_io_check_form(e, &e->inputs[i], "input", &io[i], dims, err)
				       : model_io_check_form(e, &e->outputs[i - e->n_inputs], "output", &io[i], dims, err);
	if (code != TRI_OK)
		return code;
	tri_dims_solve(e, io, dims, &known);
	for (int32_t i = 0; i < e->n_dims; i++)
		if (dims[i] < 0) /* from an expression that has no solution: the check of that input fails */
			known &= ~(1ull << i);
	for (int32_t i = 0; i < n && code == TRI_OK; i++)
		code = i < e->n_inputs ? model_io_check_shape(e, &e->inputs[i], "input", &io[i], dims, known, err)
				       : model_io_check_shape(e, &e->outputs[i - e->n_inputs], "output", &io[i], dims, known, err);
	return code;
}
