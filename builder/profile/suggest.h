/* What to do about a profile: the rules of suggestions.def. */
#ifndef TRIB_BUILDER_PROFILE_SUGGEST_H
#define TRIB_BUILDER_PROFILE_SUGGEST_H
#include "builder/profile/profile.h"

enum suggestion_type { SUGGEST_ROUTING, SUGGEST_BATCHING, SUGGEST_MEMORY, SUGGEST_CACHING, SUGGEST_ALGORITHM, SUGGEST_PARALLEL };
enum suggestion_priority { PRIORITY_CRITICAL, PRIORITY_HIGH, PRIORITY_MEDIUM, PRIORITY_LOW };
enum suggestion_effort { EFFORT_SMALL, EFFORT_MEDIUM, EFFORT_LARGE };
enum saving_kind { SAVING_UNKNOWN, SAVING_ESTIMATED, SAVING_MEASURED };

struct suggestion {
	const char *rule; /* its name in suggestions.def */
	enum suggestion_type type;
	enum suggestion_priority priority;
	enum suggestion_effort effort;
	const char *subject;  /* the path of an item, a weight, or "whole process" */
	const char *at;       /* a place in the sources; may be NULL */
	const char *evidence; /* a sentence with figures of the profile */
	const char *action;   /* what to do */
	const char *edit;     /* a flag, or text for the sources; may be NULL */
	const char *variant;  /* flags of `trib bench` or `trib build` that try it; NULL: trib cannot */
	enum saving_kind saving_kind;
	double saving;    /* of the whole time, as a fraction; negative: slower. 0 if it is unknown */
	double low, high; /* the interval of a measured saving, at 95 % */
};
struct suggestions {
	struct arena *arena;
	const struct profile *profile;
	VEC(struct suggestion) list; /* the most important first */
};

/* The profile must outlive the result. Freed with suggestions_free. */
struct suggestions *suggest(const struct profile *p);
void suggestions_free(struct suggestions *s); /* NULL is accepted */
/* Sets the priorities from the savings, and sorts. */
void suggestions_sort(struct suggestions *s);
/* The words for the enumerators. */
extern const char *const suggestion_types[], *const suggestion_priorities[], *const suggestion_efforts[], *const saving_kinds[];
#endif
