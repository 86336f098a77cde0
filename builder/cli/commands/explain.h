/* The pages of `trib explain`. */
#ifndef TRIB_BUILDER_CLI_COMMANDS_EXPLAIN_H
#define TRIB_BUILDER_CLI_COMMANDS_EXPLAIN_H
#include "base/diag.h"

enum explain_language { EXPLAIN_TRI, EXPLAIN_MANIFEST, EXPLAIN_SHELL };
struct explanation {
	const char *text, *wrong, *right;
	enum explain_language language; /* of the two examples */
};
/* Returns the page of a diagnostic; NULL if there is none. */
const struct explanation *explain_find(enum diag_code code);
#endif
