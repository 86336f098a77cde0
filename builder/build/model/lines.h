/* Today's positions of what units were made from. Plans and fragments have numbers of HIR nodes; here they become lines. */
#ifndef TRIB_BUILDER_BUILD_MODEL_LINES_H
#define TRIB_BUILDER_BUILD_MODEL_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct hasher;
struct ir_fn;
struct ir_notes;
struct loop_fn;
struct model_job;
struct sources;
struct unit_job;
struct unit_lines;

/* Sets the lines of a unit with a plan. On the main thread. */
void lines_find(struct arena *arena, struct sources *sources, struct unit_job *j);
/* Adds them to h. */
void lines_hash(const struct unit_lines *lines, struct hasher *h);
/* Appends a comment for each instruction of a run_fn that the loops compute: "; %4 net.tri:12:5 conv2d layer1.conv1". */
void lines_print(const struct sources *s, const struct ir_fn *run_fn, const struct loop_fn *loops, struct buf *out);
/* Comments for the tensor IR of dumps: "net.tri:12:5 conv2d layer1.conv1". */
struct ir_notes lines_notes(const struct sources *s);
#endif
