#include "builder/cli/explain.h"
#include <stddef.h>

static const struct explanation pages[DIAG_COUNT] = {
#define EXPLAIN(id, language, text, wrong, right) [DIAG_##id] = {text, wrong, right, EXPLAIN_##language},
#include "builder/cli/explain.def"
#undef EXPLAIN
};

const struct explanation *explain_find(enum diag_code code) { return code < DIAG_COUNT && pages[code].text ? &pages[code] : NULL; }
