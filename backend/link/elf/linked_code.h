/* The code of units in a linked library: which statement it is of, and names that people can read. */
#ifndef TRIB_BACKEND_LINK_ELF_LINKED_CODE_H
#define TRIB_BACKEND_LINK_ELF_LINKED_CODE_H
#include <stdint.h>

struct arena;
struct line_origin;
struct link;
struct obj_symbol;
struct object;
struct unit_lines;

/* The code from an offset in .text on. Several rows of one number begin at the first instructions of a statement. */
struct code_row {
	uint32_t offset, number; /* number: of the statement, from 1 on */
};
/* The code of one object. Without rows it has no lines. */
struct linked_code {
	const struct unit_lines *lines;
	const struct object *o;
	uint32_t section; /* .text of o */
	uint64_t address;
	const struct code_row *rows; /* one more than n, at the end of the section */
	uint32_t n;
	const char *layer; /* the first place of the unit in the model, such as "layer1.0"; "" for the model itself */
	uint32_t n_layers; /* all its places */
};
/* Returns the code of each object of the request, once the link has addresses. */
struct linked_code *linked_code_find(const struct link *l);
/* Returns the operation that a statement comes from; of number 0 it is the unit. */
const struct line_origin *linked_code_place(const struct linked_code *c, uint32_t number);
/* Returns the name of a function of the code: "layer1.0 and 1 more: BasicBlock(64) [N, 56]" is the code of a unit, and "fc1 matmul nest: Net() [N, 64]"
 * is what its threads run of one statement. Allocated in `a`. */
const char *linked_code_name(struct arena *a, const struct linked_code *c, const struct obj_symbol *s);
#endif
