/* What the code of a unit comes from, in the present sources: for debuggers and for the descriptor of a library. */
#ifndef TRIB_BACKEND_LINK_ELF_LINES_H
#define TRIB_BACKEND_LINK_ELF_LINES_H
#include <stdint.h>

#define LINES_NONE UINT32_MAX
/* A place in the sources. */
struct line_origin {
	const char *file;
	uint32_t line, column;
	const char *function;  /* the definition that it is in */
	const char *operation; /* "conv2d" */
	const char *layer;     /* the layer in the unit's layer: "layer1.0.conv1"; "" for that layer itself, or outside of layers */
	uint32_t inlined_at;   /* if the definition was inlined: the origin of the call, before this one; else LINES_NONE */
};
struct line_statement {
	const char *name; /* loop_stmt_name */
	uint32_t *origins, n_origins;
	uint8_t kind, ceiling; /* enum tri_statement_kind, enum tri_ceiling */
};
struct unit_lines {
	struct line_origin *origins; /* number 0 is the definition of the unit itself */
	struct line_statement *statements;
	uint32_t n_origins, n_statements;
};
#endif
