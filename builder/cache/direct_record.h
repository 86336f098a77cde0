/* The records of direct mode in the user's cache (builder/build/direct.c): the files that a build reads, and the results of that build. */
#ifndef TRIB_BUILDER_CACHE_DIRECT_RECORD_H
#define TRIB_BUILDER_CACHE_DIRECT_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "builder/store/inputs.h"
#include "builder/store/interface_record.h"

struct cost;
struct history;
struct build_record_source;
struct serializer;

struct direct_file {
	enum input_kind kind;
	const char *path;
};
struct direct_output {
	const char *path;
	hash128 content;
	const void *bytes; /* not part of the record */
	size_t len;
};
struct direct_model {
	struct history *history;
	struct interface_record interface;
	struct cost *costs; /* of compiling each unit of the history; zero: unknown */
};
struct direct_record {
	uint32_t units;
	struct direct_output *outputs;
	uint32_t n_outputs;
	struct build_record_source *sources;
	uint32_t n_sources;
	struct direct_model *models; /* all models of the build */
	uint32_t n_models;
};

/* Writes or reads the list of files. */
void direct_serialize_files(struct serializer *s, struct direct_file **files, uint32_t *n);
/* Writes or reads the record. After reading, even of invalid bytes, direct_free frees the maps of the histories. */
void direct_serialize(struct serializer *s, struct direct_record *r);
void direct_free(struct direct_record *r);
#endif
