/* Private to this folder: the rules of suggestions. */
#ifndef TRIB_BUILDER_PROFILE_SUGGEST_RULES_H
#define TRIB_BUILDER_PROFILE_SUGGEST_RULES_H
#include "builder/profile/suggest.h"

struct rule {
	const char *name, *action;
	enum profile_kind kind;
	enum suggestion_type type;
	enum suggestion_effort effort;
	double limit;
	void (*find)(struct suggestions *s, const struct rule *r);
};

/* A suggestion of a rule about an item; PROFILE_NONE: about the whole process. The rest is its evidence. The caller sets more of it. */
struct suggestion *suggest_add(struct suggestions *s, const struct rule *r, uint32_t item, const char *evidence, ...)
	__attribute__((format(printf, 4, 5)));
/* Sets an estimated saving, as a fraction of the whole time. */
void suggest_estimate(struct suggestion *x, double saving);
/* Sets the flags, which trib can try. */
void suggest_flags(struct suggestion *x, const char *flags);
/* The wall time of the whole process, or of an item, or for one call of it; and the share of an item. */
double suggest_whole_ns(const struct suggestions *s);
double suggest_item_ns(const struct suggestions *s, uint32_t item);
double suggest_call_ns(const struct suggestions *s, uint32_t item);
double suggest_share(const struct suggestions *s, uint32_t item);
/* True for kernels, and for statements that contain no others: what a run spends its time in. */
bool suggest_is_work(const struct suggestions *s, uint32_t item);
/* A setting that is a number. */
double suggest_setting(const struct suggestions *s, const char *name, double otherwise);

#define SUGGESTION(id, name, kind, type, effort, limit, action) void suggest_##id(struct suggestions *s, const struct rule *r);
#include "builder/profile/suggestions.def"
#endif
