/* Private to this folder: the decisions of decisions.def. */
#ifndef TRIB_BACKEND_IR_PROGRAM_STATE_H
#define TRIB_BACKEND_IR_PROGRAM_STATE_H
#include <stddef.h>
#include "backend/ir/program.h"

enum decision_of { OF_INPUTS, OF_WEIGHTS, OF_OUTPUTS };
enum decision_kind { DECIDED_LAYOUT, DECIDED_ELEM, DECIDED_FLAG, DECIDED_PLACE };
struct decision {
	enum decision_of of;
	enum decision_kind kind;
	const char *word;
	size_t member; /* the offset of the pointer to the values in struct program_unit */
};
enum {
	DECISIONS = 0
#define DECISION(of, kind, member, word) +1
#include "backend/ir/decisions.def"
#undef DECISION
};
extern const struct decision ir_decisions[DECISIONS];

static inline uint32_t **decision_values(struct program_unit *u, const struct decision *d)
{
	return (uint32_t **)(void *)((char *)u + d->member);
}
static inline uint32_t decision_value(const struct program_unit *u, const struct decision *d, uint32_t k)
{
	return (*(uint32_t *const *)(const void *)((const char *)u + d->member))[k];
}
/* Returns the value of item k before any pass decided it. */
uint32_t decision_none(const struct program_unit *u, const struct decision *d, uint32_t k);
#endif
