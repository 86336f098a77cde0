/* The record of a finished build: what it read, everything else that decided it, what it wrote. A build whose record still verifies has nothing to do;
 * finding that out costs one look-up in the store and one stat a file. */
#ifndef TRIB_BUILDER_STORE_BUILD_RECORD_H
#define TRIB_BUILDER_STORE_BUILD_RECORD_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/os.h"
#include "builder/store/inputs.h"

struct arena;
struct serializer;
struct store;

struct build_record_output {
	const char *path;
	struct file_stamp stamp;
};
struct build_record_source { /* one file of one model's front end */
	const char *path;
	uint32_t model;
	hash128 tokens;
};
struct build_record {
	hash128 rest; /* flags, environment, format: everything that is not a file */
	struct input *inputs;
	uint32_t n_inputs;
	struct build_record_output *outputs;
	uint32_t n_outputs;
	struct build_record_source *sources;
	uint32_t n_sources;
	uint32_t units; /* in all */
	bool committed; /* the outputs say that every input is as in the commit: any edit then changes them */
};

enum build_record_state {
	RECORD_NONE,    /* no record, or of something else */
	RECORD_FRESH,   /* nothing to do; *touched: its stamps were brought up to date and should be written back */
	RECORD_SOURCES, /* only .tri files changed; outputs are in place: their tokens decide */
	RECORD_STALE,   /* anything else; *why says the first change found */
};

/* The record under `key`, all memory in `a`; NULL: none, or damaged. */
struct build_record *build_record_load(struct arena *a, struct store *s, hash128 key);
/* Compares with the disk as it is now. */
enum build_record_state build_record_verify(struct arena *a, struct build_record *t, hash128 rest, bool *touched, const char **why);
/* Writes or reads a list of sources. */
void build_record_serialize_sources(struct serializer *s, struct build_record_source **sources, uint32_t *n);
/* Queues it for the store's next flush. */
void build_record_save(struct store *s, hash128 key, const struct build_record *t);
/* Is this list of sources that of the record, tokens and all? */
bool build_record_same_sources(const struct build_record *t, const struct build_record_source *sources, uint32_t n);
#endif
