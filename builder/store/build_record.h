/* The record of a finished build: its inputs, settings and outputs. If nothing in it has changed, a build has nothing to do. To find
 * that out costs one look-up in the store and one stat for each file. */
#ifndef TRIB_BUILDER_STORE_BUILD_RECORD_H
#define TRIB_BUILDER_STORE_BUILD_RECORD_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/os.h"
#include "builder/store/inputs.h"

struct arena;
struct disk;
struct serializer;
struct store;

struct build_record_output {
	const char *path;
	struct file_stamp stamp;
};
struct build_record_source { /* a file that the front end of a model read */
	const char *path;
	uint32_t model;
	hash128 tokens; /* what they are, and their lines and columns */
};
struct build_record {
	hash128 rest; /* hash of flags, environment and format: every input that is not a file */
	struct input *inputs;
	uint32_t n_inputs;
	struct build_record_output *outputs;
	uint32_t n_outputs;
	struct build_record_source *sources;
	uint32_t n_sources;
	uint32_t units; /* of all models */
	bool committed; /* the outputs say that all inputs are committed, so that any edit changes them */
};

enum build_record_state {
	RECORD_NONE,    /* no record */
	RECORD_FRESH,   /* nothing to do; *touched: stamps were updated and should be saved */
	RECORD_SOURCES, /* only .tri files changed: compare their tokens */
	RECORD_STALE,   /* anything else changed; *why is the first change */
};

/* The record at `key`, with all memory in `a`. NULL: none, or damaged. */
struct build_record *build_record_load(struct arena *a, struct store *store, hash128 key);
/* Compares the record with the files on disk. */
enum build_record_state build_record_verify(const struct disk *d, struct arena *a, struct build_record *t, hash128 rest, bool *touched,
					    const char **why);
/* Writes or reads a list of sources. */
void build_record_serialize_sources(struct serializer *s, struct build_record_source **sources, uint32_t *n);
/* Queues it for the store's next flush. */
void build_record_save(struct store *store, hash128 key, const struct build_record *t);
/* True if these are the sources of the record, with the same tokens. */
bool build_record_same_sources(const struct build_record *t, const struct build_record_source *sources, uint32_t n);
#endif
