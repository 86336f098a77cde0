/* What direct mode keeps in the user's cache (build/direct.c): the files that a build reads, and what they gave. */
#ifndef TRIB_BUILDER_CACHE_DIRECT_RECORD_H
#define TRIB_BUILDER_CACHE_DIRECT_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "builder/store/inputs.h"

#define DIRECT_MAGIC 0x32524944u /* "DIR2": both begin with it */

struct cost;
struct history;
struct build_record_source;

struct direct_file {
	enum input_kind kind;
	const char *path;
};
struct direct_output {
	const char *path;
	hash128 content;
	const void *bytes; /* NULL until they were fetched */
	size_t len;
};
struct direct_record {
	uint32_t units;
	struct direct_output *outputs;
	uint32_t n_outputs;
	struct build_record_source *sources;
	uint32_t n_sources;
	struct history **histories; /* per model of the build */
	struct cost **costs;        /* of compiling each unit of a history; zero: not known */
	uint32_t n_models;
};

/* Memory in `a`, strings in `bytes`. NULL: it is none. */
struct direct_file *direct_decode_list(struct arena *a, const void *bytes, size_t len, uint32_t *n);
/* The same; false: it is none. In any case direct_free frees what is in no arena. */
bool direct_decode(struct arena *a, const void *bytes, size_t len, struct direct_record *r);
void direct_free(struct direct_record *r);
#endif
