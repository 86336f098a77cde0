/* How often a build looked for what was made before, and found it. */
#ifndef TRIB_BUILDER_STORE_LOOKUPS_H
#define TRIB_BUILDER_STORE_LOOKUPS_H
#include <stdbool.h>
#include <stdint.h>

struct json_writer;

enum lookup_level {
#define LEVEL(id, name, title) LOOKUPS_##id,
#include "builder/store/lookup_levels.def"
	LOOKUP_LEVELS
};
struct lookups {
	uint32_t hits, misses;
};
static inline void lookups_count(struct lookups *l, bool found) { *(found ? &l->hits : &l->misses) += 1; }
static inline uint32_t lookups_all(const struct lookups *l) { return l->hits + l->misses; }
/* The share of hits; 0 if there was no look-up. */
static inline double lookups_rate(const struct lookups *l) { return lookups_all(l) ? (double)l->hits / lookups_all(l) : 0; }

const char *lookup_level_name(enum lookup_level l);
const char *lookup_level_title(enum lookup_level l);
/* Appends the member "levels": look-ups, hits and, if there were look-ups, the rate of each level. */
void lookups_print(struct json_writer *w, const struct lookups levels[LOOKUP_LEVELS]);
#endif
