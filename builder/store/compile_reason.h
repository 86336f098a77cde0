/* Why a unit is compiled, for --explain and for the statistics of the cache. */
#ifndef TRIB_BUILDER_STORE_COMPILE_REASON_H
#define TRIB_BUILDER_STORE_COMPILE_REASON_H

enum compile_reason {
#define REASON(id, text) COMPILE_##id,
#include "builder/store/compile_reasons.def"
	COMPILE_REASONS
};

const char *compile_reason_text(enum compile_reason r);
#endif
