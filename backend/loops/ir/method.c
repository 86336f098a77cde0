#include "backend/loops/ir/method.h"

const char *method_text(enum loop_method m)
{
	static const char *const words[] = {
		"plain",
#define METHOD(id, word) word,
#include "backend/loops/ir/methods.def"
#undef METHOD
	};
	return words[m];
}

bool method_error(enum loop_method m, enum ir_op op, double *error)
{
	static const double errors[METHOD_COUNT][OP_COUNT] = {
#define APPROXIMATION(of, method, ulps) [METHOD_##method][OP_##of] = ulps,
#include "backend/loops/ir/approximations.def"
#undef APPROXIMATION
	};
	*error = errors[m][op];
	return *error > 0;
}
