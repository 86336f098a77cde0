/* Figures and JSON as the commands print them. */
#ifndef TRIB_BUILDER_CLI_PRINT_H
#define TRIB_BUILDER_CLI_PRINT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/json.h"
#include "builder/build/build.h"

/* "1.5 GiB"; in `out`, which it returns. */
const char *print_size(uint64_t bytes, char out[32]);
/* Writes the finished object and a line end to stdout, and frees it. */
void print_json(struct buf *out);
/* An error on stderr in one line. */
enum status say_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
enum status say_failure(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#endif
