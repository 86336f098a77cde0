/* Element types: dtypes.def, and the widening order of the language reference. */
#include "frontend/hir/dtype.h"
#include <string.h>
#include "base/bug.h"

static const struct {
	const char *text;
	size_t bytes;
	enum dtype_class cls;
	int64_t least, largest;
} table[DT_COUNT] = {
#define DTYPE(id, text, bytes, cls, least, largest) [DT_##id] = {text, bytes, DTC_##cls, least, largest},
#include "frontend/hir/dtypes.def"
#undef DTYPE
};

const char *dtype_text(dtype t) { return (unsigned)t < DT_COUNT ? table[t].text : "?"; }

size_t dtype_size(dtype t)
{
	BUG_ON((unsigned)t >= DT_COUNT);
	return table[t].bytes;
}

enum dtype_class dtype_class(dtype t)
{
	BUG_ON((unsigned)t >= DT_COUNT);
	return table[t].cls;
}

int64_t dtype_int(dtype t, const void *data, int64_t i)
{
	switch (t) {
	case DT_BOOL: return ((const uint8_t *)data)[i] != 0;
	case DT_UINT8: return ((const uint8_t *)data)[i];
	case DT_TRIT:
	case DT_INT8: return ((const int8_t *)data)[i];
	case DT_INT16: return ((const int16_t *)data)[i];
	case DT_INT32: return ((const int32_t *)data)[i];
	case DT_INT64: return ((const int64_t *)data)[i];
	default: BUG("not an integer");
	}
}

void dtype_put_int(dtype t, void *data, int64_t i, int64_t v)
{
	switch (t) {
	case DT_BOOL: ((uint8_t *)data)[i] = v != 0; return;
	case DT_UINT8: ((uint8_t *)data)[i] = (uint8_t)v; return;
	case DT_TRIT:
	case DT_INT8: ((int8_t *)data)[i] = (int8_t)v; return;
	case DT_INT16: ((int16_t *)data)[i] = (int16_t)v; return;
	case DT_INT32: ((int32_t *)data)[i] = (int32_t)v; return;
	case DT_INT64: ((int64_t *)data)[i] = v; return;
	default: BUG("not an integer");
	}
}

int64_t dtype_least_int(dtype t)
{
	BUG_ON(dtype_class(t) == DTC_FLOAT);
	return table[t].least;
}

int64_t dtype_largest_int(dtype t)
{
	BUG_ON(dtype_class(t) == DTC_FLOAT);
	return table[t].largest;
}

bool dtype_is_unsigned(dtype t) { return dtype_class(t) != DTC_FLOAT && table[t].least == 0; }

dtype dtype_find(const char *text)
{
	for (int t = 0; t < DT_COUNT; t++)
		if (*table[t].text == *text && !strcmp(table[t].text, text))
			return (dtype)t;
	if (!strcmp(text, "int"))
		return DT_INT32;
	if (!strcmp(text, "float"))
		return DT_FLOAT32;
	return DT_COUNT;
}

/* trit < int8 < int16 < int32 < int64 < float32 < float64, uint8 < int16, and trit < float16, bfloat16 < float32. */
bool dtype_widens(dtype from, dtype to)
{
	if (from == to)
		return true;
	if (from == DT_BOOL || to == DT_BOOL || to == DT_TRIT)
		return false;
	if (from == DT_TRIT)
		return !dtype_is_unsigned(to);
	if (dtype_class(from) == DTC_INT && dtype_class(to) == DTC_INT)
		return table[to].least <= table[from].least && table[to].largest >= table[from].largest;
	if (dtype_class(from) == DTC_INT)
		return to == DT_FLOAT32 || to == DT_FLOAT64;
	if (dtype_class(to) != DTC_FLOAT)
		return false;
	if (from == DT_FLOAT32)
		return to == DT_FLOAT64;
	return (from == DT_FLOAT16 || from == DT_BFLOAT16) && (to == DT_FLOAT32 || to == DT_FLOAT64);
}

dtype dtype_join(dtype a, dtype b)
{
	if (a == b)
		return a;
	for (int t = 0; t < DT_COUNT; t++)
		if (dtype_widens(a, (dtype)t) && dtype_widens(b, (dtype)t))
			return (dtype)t;
	return DT_COUNT;
}

dtype dtype_join_operands(dtype a, dtype b)
{
	if (a == DT_TRIT && b == DT_TRIT)
		return DT_INT8;
	if (a == DT_TRIT || b == DT_TRIT) {
		dtype other = a == DT_TRIT ? b : a;
		return dtype_is_unsigned(other) ? dtype_join(a, b) : other;
	}
	return dtype_join(a, b);
}

/* ---- traits ---- */

static const char *const traits[] = {
#define TRAIT(name, classes) #name,
#include "frontend/hir/traits.def"
#undef TRAIT
};
enum { TRAITS = sizeof traits / sizeof *traits };

const char *const *dtype_traits(uint32_t *n)
{
	*n = TRAITS;
	return traits;
}

bool dtype_has_trait(dtype t, const char *trait)
{
	static const unsigned classes[TRAITS] = {
#define TRAIT(name, classes) classes,
#include "frontend/hir/traits.def"
#undef TRAIT
	};
	for (uint32_t i = 0; i < TRAITS; i++)
		if (!strcmp(traits[i], trait))
			return classes[i] >> dtype_class(t) & 1;
	return true;
}
