/* The last build with the same flags: its record, and what has changed since. */
#ifndef TRIB_BUILDER_BUILD_REUSE_LAST_BUILD_H
#define TRIB_BUILDER_BUILD_REUSE_LAST_BUILD_H
#include <stdint.h>
#include "base/hash.h"
#include "builder/build/session/context.h"
#include "builder/store/build_record.h"

struct build_record;
struct build_record_source;
struct build_result;
struct project;
struct repository;

struct last_build {
	hash128 key;                 /* of the record, by the flags */
	hash128 rest;                /* all that decides a build but flags and files */
	struct build_record *record; /* NULL: none */
	enum build_record_state state;
	const char *why_stale;
};

/* The key alone: no record is read. */
struct last_build last_build_key(struct arena *arena, const struct options *options);
/* Reads the record and compares it with the files. RECORD_FRESH: there is nothing to do, and `r` gets the outputs. */
struct last_build last_build_find(struct build_context *c, struct build_result *r);
/* Step: ends the build if only comments or white space of the sources changed. */
enum step last_build_compare_tokens(struct build_context *c, const struct project *p, struct last_build *last, struct repository *repo,
				    struct build_result *r);
/* Writes the record of this build. A build with warnings leaves none: the next one reports them again. */
void last_build_save(struct build_context *c, const struct project *p, const struct last_build *last, const struct repository *repo,
		     const struct build_result *r);
/* All files of all front ends, in the build's memory. */
struct build_record_source *project_list_sources(struct arena *arena, const struct project *p, uint32_t *n);
#endif
