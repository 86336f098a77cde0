/* Python text in which numbers may become arguments of a class. A *hole* is a literal that may vary: classes that differ only in the values of their
 * holes are one class. A text keeps its holes when it becomes part of another. */
#ifndef TRIB_BACKEND_PYTORCH_TEXT_H
#define TRIB_BACKEND_PYTORCH_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;

struct hole {
	const char *value;
	const char *before;   /* the text before it, which is omitted with it: ", stride=" */
	const char *standard; /* a literal of this value is omitted; NULL: never */
};
/* Returns the text of one hole. before and standard may be NULL. */
const char *hole_text(struct arena *a, const char *before, const char *value, const char *standard);
/* Returns the holes of a text, in order. */
struct hole *holes_of(struct arena *a, const char *text, uint32_t *n);
/* True if two texts differ only in the values of their holes. */
bool text_is_like(const char *x, const char *y);
/* Appends the text. names[i]: the text of hole i; NULL: its literal. `names` NULL: literals only. Returns the number of holes. */
uint32_t text_fill(const char *text, const char *const *names, struct buf *out);
/* The same without holes, in `a`. */
const char *text_plain(struct arena *a, const char *text);

/* Appends a statement indented by `indent` spaces, broken at its last pair of brackets as ruff breaks it if it is longer than a line. */
void put_statement(struct buf *out, uint32_t indent, const char *text);
/* Appends lines that have their own indentation, `indent` spaces further to the right. Comments and docstrings stay as they are. */
void put_lines(struct buf *out, uint32_t indent, const char *lines);
/* Replaces calls of one list's layers one after the other by a loop (chains.c). */
const char *fold_chains(struct arena *a, const char *lines);
/* Returns a name that Python takes: "class" becomes "class_". */
const char *python_name(struct arena *a, const char *name);
/* The same of an argument's name, which may have dots. */
const char *function_argument(struct arena *a, const char *name);
/* Returns a float as Python reads it back: "1e-05", "2.0", "float(\"inf\")". single: of float32. */
const char *python_float(struct arena *a, double v, bool single);
const char *python_string(struct arena *a, const char *s);
/* Returns the attribute of `self` with a dotted path: "self.layers[0].attn" of "layers.0.attn", "self" of "". In a function, where the layers are
 * arguments, "layers[0].attn". */
const char *member_path(struct arena *a, bool in_function, const char *path);
#endif
