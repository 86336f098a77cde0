/* Sizes, JSON and errors as the commands print them. */
#ifndef TRIB_BUILDER_CLI_PRINT_H
#define TRIB_BUILDER_CLI_PRINT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/json.h"
#include "builder/build/build.h"

/* Writes "1.5 GiB" to `out` and returns it. */
const char *print_size(uint64_t bytes, char out[32]);
/* Writes the object and a line end to stdout, and frees it. */
void print_json(struct buf *out);
/* Writes to a file, or to stdout if `path` is NULL or "-". Prints an error if it cannot. */
enum status print_to(const char *path, const struct buf *text);
/* Print an error on stderr and return STATUS_USAGE or STATUS_ENVIRONMENT. */
enum status fail_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
enum status fail_environment(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#endif
