/* One file under construction. */
#ifndef TRIB_BACKEND_PYTORCH_PRINTER_H
#define TRIB_BACKEND_PYTORCH_PRINTER_H
#include "base/source.h"

struct arena;
struct diags;
struct hir_program;
struct owner;
struct owner_list;

struct printer {
	struct arena *a;
	const struct hir_program *program;
	const struct sources *sources;
	struct diags *diags;
	struct owner *file;        /* of the functions that are no methods */
	struct owner_list *owners; /* all of them */
};
/* Reports what cannot be written in Python. */
void report_unprintable(struct printer *p, span at, const char *what);
#endif
