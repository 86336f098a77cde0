/* The project's store and the user's cache, as one build uses them. */
#ifndef TRIB_BUILDER_BUILD_SESSION_STORES_H
#define TRIB_BUILDER_BUILD_SESSION_STORES_H
#include <stdbool.h>
#include "base/buf.h"
#include "base/hash.h"

struct build_context;
struct build_spec;
struct cache;
struct store;

struct stores {
	struct store *project; /* NULL: none */
	struct cache *cache;   /* NULL: none */
	struct buf warnings;   /* a line for each damage */
	int lock;              /* on the project; -1: none */
	hash128 compiler;      /* digest of what decides the code that is generated */
	hash128 generator;     /* digest of the code generator's file */
};

/* Opens the project's store if it exists. */
void stores_open_existing(struct build_context *c);
/* Locks the project against other builds. True: it waited for another build, and has opened the store again. */
bool stores_lock(struct build_context *c);
/* Step: makes the project's store if there is none, and identifies the compiler. */
bool stores_create(struct build_context *c);
/* Step: opens the user's cache, by the settings. */
bool stores_open_cache(struct build_context *c, const struct build_spec *spec);
void stores_close_cache(struct stores *s);
void stores_close_project(struct stores *s);
#endif
