#include "builder/store/compile_reason.h"

const char *compile_reason_text(enum compile_reason r)
{
	static const char *const texts[] = {
#define REASON(id, text) text,
#include "builder/store/compile_reasons.def"
	};
	return texts[r];
}
