/* Decides which rows of a comparison are changes. */
#ifndef TRIB_BUILDER_PROFILE_JUDGE_H
#define TRIB_BUILDER_PROFILE_JUDGE_H
#include "builder/profile/compare.h"

/* Sets the change of each row that is in both profiles, and what of *c depends on it. */
void judge_rows(struct comparison *c);
#endif
