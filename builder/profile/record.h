/* Measures whole processes of trib, each a sample of a profile. They run in a workspace, so the project is not changed. */
#ifndef TRIB_BUILDER_PROFILE_RECORD_H
#define TRIB_BUILDER_PROFILE_RECORD_H
#include "builder/profile/profile.h"

struct buf;

enum scenario {
#define SCENARIO(id, name, meaning) SCENARIO_##id,
#include "builder/profile/scenarios.def"
	SCENARIOS
};
const char *scenario_name(enum scenario s);
bool scenario_parse(const char *text, enum scenario *out);

/* The two runs of each scenario in a profile of SCENARIO_ALL. */
#define FIRST_RUN "first run"
#define SECOND_RUN "second run"

struct record_options {
	const char *program; /* trib */
	const char *root;    /* the project's folder, or a file .tri */
	enum profile_kind kind;
	enum scenario scenario;                   /* of builds */
	const char *const *models, *const *flags; /* NULL-terminated: of `trib build`, or of `trib bench` with one model */
	bool only_totals;                         /* the program may know no --profile-out */
	bool count_instructions;
	bool watch_memory; /* private dirty memory is that of an unmeasured first run, which is as a cold build */
};
struct recorder;
/* The options must outlive it. NULL: *error is a sentence. */
struct recorder *recorder_open(const struct record_options *o, struct buf *error);
/* Runs one process. Returns a profile of one sample; NULL: *error is a sentence, empty after an interrupt. */
struct profile *recorder_sample(struct recorder *r, struct buf *error);
void recorder_close(struct recorder *r); /* NULL is accepted */
#endif
