#include "builder/weights/convert.h"
#include <string.h>
#include "backend/ir/halves.h"
#include "backend/ir/tensor.h"

bool convert_allowed(dtype from, dtype to)
{
	if (from >= DT_COUNT || to >= DT_COUNT)
		return false;
	if (to == DT_TRIT)
		return from != DT_BOOL;
	return from == to || (dtype_class(from) == dtype_class(to) && dtype_widens(from, to));
}

/* The common cases, without a call for each element. */
static bool convert_fast(dtype from, const void *in, dtype to, void *out, size_t n)
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
	if ((from == DT_BFLOAT16 || from == DT_FLOAT16) && to == DT_FLOAT32 && (uintptr_t)in % sizeof(uint16_t) == 0) {
		(from == DT_BFLOAT16 ? halves_from_bfloat16 : halves_from_float16)(in, out, (int64_t)n);
		return true;
	}
	return false;
}

static bool is_allowed_value(dtype to, double v)
{
	if (to == DT_TRIT)
		return v == -1 || v == 0 || v == 1;
	return to != DT_BOOL || v == 0 || v == 1;
}

bool convert_elements(dtype from, const void *in, dtype to, void *out, size_t n, size_t *bad, double *value)
{
	if (n == 0 || convert_fast(from, in, to, out, n))
		return true;
	size_t step = dtype_size(from);
	bool is_float = dtype_class(from) == DTC_FLOAT;
	for (size_t i = 0; i < n; i++) {
		int64_t one; /* aligned */
		memcpy(&one, (const char *)in + i * step, step);
		double v = is_float ? elem_float(from, &one, 0) : from == DT_BOOL ? *(int8_t *)&one : (double)elem_int(from, &one, 0);
		if (!is_allowed_value(to, v)) {
			*bad = i;
			*value = v;
			return false;
		}
		if (dtype_class(to) == DTC_FLOAT)
			elem_put_float(to, out, (int64_t)i, is_float ? v : (double)elem_int(from, &one, 0));
		else
			elem_put_int(to, out, (int64_t)i, is_float ? (int64_t)v : elem_int(from, &one, 0));
	}
	return true;
}
