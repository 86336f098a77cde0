/* Prints a model as Python source for PyTorch: one nn.Module for each kind of layer, with the names of the source. It has the parameters' names of
 * the weights file, and can be trained. */
#ifndef TRIB_BACKEND_PYTORCH_PYTORCH_H
#define TRIB_BACKEND_PYTORCH_PYTORCH_H
#include <stdbool.h>

struct buf;
struct diags;
struct hir_program;
struct sources;

/* Appends the source of `model`. Comments above definitions come from `sources`. Returns false if part of the program cannot be written in
 * PyTorch: each such part is reported. */
bool pytorch_print(const struct hir_program *program, const struct sources *sources, const char *model, struct diags *diags,
		   struct buf *out);
#endif
