/* Numbers, strings and tensors as text: format specifications as in Python's f-strings, tensors as PyTorch prints them. It uses only the
 * C library, because the libraries that trib builds contain it too. */
#ifndef TRIB_BASE_FORMAT_H
#define TRIB_BASE_FORMAT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Element types, with the numbers of enum dtype. */
enum format_elem {
	FORMAT_BOOL,
	FORMAT_TRIT,
	FORMAT_INT8,
	FORMAT_INT16,
	FORMAT_INT32,
	FORMAT_INT64,
	FORMAT_FLOAT16,
	FORMAT_BFLOAT16,
	FORMAT_FLOAT32,
	FORMAT_FLOAT64,
	FORMAT_UINT8
};
enum format_class { FORMAT_CLASS_BOOL, FORMAT_CLASS_INT, FORMAT_CLASS_FLOAT, FORMAT_CLASS_STR };

/* [[fill]align][sign][#][0][width][, or _][.precision][type] */
struct format_spec {
	char fill[5]; /* one character, UTF-8; "" for a space */
	char align;   /* < > ^ = or 0 */
	char sign;    /* + - space or 0 */
	char group;   /* , _ or 0 */
	char type;    /* b d o x X e E f F g G % s or 0 */
	bool alternate;
	int width, precision; /* precision: -1 if not given */
};
struct format_out {
	void (*put)(void *ctx, const char *s, size_t n);
	void *ctx;
};
/* A dense row-major tensor in host layout; a scalar has rank 0. */
struct format_value {
	enum format_elem elem;
	uint32_t rank;
	const int64_t *dims;
	const void *data;
};

/* Parses s of n bytes. NULL, or the error, for example "unknown format type". */
const char *format_parse(const char *s, size_t n, struct format_spec *out);
/* Checks that the specification suits values of the class. NULL, or the error. */
const char *format_check(const struct format_spec *spec, enum format_class class);
enum format_class format_class(enum format_elem elem);

void format_int(const struct format_spec *spec, int64_t v, struct format_out *out);
/* Without a type: the shortest text that reads back as the same value of `elem`, like Python's repr. */
void format_float(const struct format_spec *spec, double v, enum format_elem elem, struct format_out *out);
void format_bool(const struct format_spec *spec, bool v, struct format_out *out);
void format_str(const struct format_spec *spec, const char *s, size_t n, struct format_out *out);
/* Element i of an array as a number. */
double format_element_float(enum format_elem elem, const void *data, int64_t i);
/* A scalar as a number; a tensor as `tensor([[1., 2.],\n        [3., 4.]])`, with the first and last three of each dimension if it has more than 1000
 * elements. `spec` formats each element; it may be NULL. */
void format_tensor(const struct format_spec *spec, const struct format_value *v, struct format_out *out);
/* A template has placeholders `{}` and `{:spec}` for the values in order, `{{` and `}}` for braces, and 0xC0 0x80 for a NUL. Returns the
 * number of placeholders; -1: the template is invalid. */
int format_placeholders(const char *text);
void format_template(const char *text, const struct format_value *values, struct format_out *out);
#endif
