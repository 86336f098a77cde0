#include "builder/convert.h"
#include <math.h>
#include <string.h>

float convert_bfloat16(uint16_t bits)
{
	uint32_t u = (uint32_t)bits << 16;
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

float convert_float16(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff, u;
	float f;
	if (exponent == 0) { /* zero or subnormal */
		f = ldexpf((float)fraction, -24);
		return sign ? -f : f;
	}
	if (exponent == 31)
		u = sign | 0x7f800000u | fraction << 13;
	else
		u = sign | (exponent + 112) << 23 | fraction << 13;
	memcpy(&f, &u, sizeof f);
	return f;
}

bool convert_allowed(dtype from, dtype to)
{
	if (from >= DT_COUNT || to >= DT_COUNT)
		return false;
	if (to == DT_TRIT)
		return from != DT_BOOL;
	return from == to || (from != DT_BOOL && from != DT_TRIT && dtype_widens(from, to));
}

/* Element i as the two representations that hold every element type exactly. */
static void load(dtype t, const char *p, double *f, int64_t *v)
{
	int8_t i8;
	int16_t i16;
	int32_t i32;
	uint16_t u16;
	float f32;
	*v = 0;
	switch (t) {
	case DT_BOOL:
	case DT_TRIT:
	case DT_INT8:
		memcpy(&i8, p, 1);
		*v = i8;
		break;
	case DT_INT16:
		memcpy(&i16, p, 2);
		*v = i16;
		break;
	case DT_INT32:
		memcpy(&i32, p, 4);
		*v = i32;
		break;
	case DT_INT64:
		memcpy(v, p, 8);
		break;
	case DT_FLOAT16:
		memcpy(&u16, p, 2);
		*f = (double)convert_float16(u16);
		return;
	case DT_BFLOAT16:
		memcpy(&u16, p, 2);
		*f = (double)convert_bfloat16(u16);
		return;
	case DT_FLOAT32:
		memcpy(&f32, p, 4);
		*f = (double)f32;
		return;
	default:
		memcpy(f, p, 8);
		return;
	}
	*f = (double)*v;
}

static void store(dtype t, char *p, double f, int64_t v)
{
	int8_t i8 = (int8_t)v;
	int16_t i16 = (int16_t)v;
	int32_t i32 = (int32_t)v;
	float f32 = (float)f;
	switch (t) {
	case DT_BOOL:
	case DT_TRIT:
	case DT_INT8:
		memcpy(p, &i8, 1);
		break;
	case DT_INT16:
		memcpy(p, &i16, 2);
		break;
	case DT_INT32:
		memcpy(p, &i32, 4);
		break;
	case DT_INT64:
		memcpy(p, &v, 8);
		break;
	case DT_FLOAT32:
		memcpy(p, &f32, 4);
		break;
	default: /* nothing widens to a 16-bit float */
		memcpy(p, &f, 8);
		break;
	}
}

/* The usual cases, without the detour over double. */
static bool fast(dtype from, const void *in, dtype to, void *out, size_t n)
{
	if (to == DT_TRIT && from == DT_INT8) {
		const int8_t *s = in;
		unsigned worst = 0;
		for (size_t i = 0; i < n; i++) {
			unsigned off = (unsigned)(uint8_t)(s[i] + 1);
			worst = off > worst ? off : worst;
		}
		if (worst > 2)
			return false;
		memcpy(out, in, n);
		return true;
	}
	if (from == to && to != DT_BOOL && to != DT_TRIT) {
		memcpy(out, in, n * dtype_size(to));
		return true;
	}
	return false;
}

bool convert_elements(dtype from, const void *in, dtype to, void *out, size_t n, size_t *bad, double *value)
{
	if (n == 0 || fast(from, in, to, out, n))
		return true;
	size_t step_in = dtype_size(from), step_out = dtype_size(to);
	for (size_t i = 0; i < n; i++) {
		double f;
		int64_t v;
		load(from, (const char *)in + i * step_in, &f, &v);
		bool ok = to == DT_TRIT ? f == -1 || f == 0 || f == 1 : to != DT_BOOL || v == 0 || v == 1;
		if (!ok) {
			*bad = i;
			*value = f;
			return false;
		}
		store(to, (char *)out + i * step_out, f, to == DT_TRIT ? (int64_t)f : v);
	}
	return true;
}
