/* The actions of `trib profile`, a file each, and what they share. */
#ifndef TRIB_BUILDER_CLI_PROFILE_PROFILE_H
#define TRIB_BUILDER_CLI_PROFILE_PROFILE_H
#include "builder/cli/command.h"
#include "builder/profile/profile.h"
#include "builder/profile/record.h"
#include "builder/profile/report.h"

enum status profile_record(const struct options *o);
enum status profile_report(const struct options *o);
enum status profile_compare(const struct options *o);
enum status profile_check(const struct options *o);
enum status profile_suggest(const struct options *o);
enum status profile_scaling(const struct options *o);
enum status profile_targets(const struct options *o);
enum status profile_html(const struct options *o);
enum status profile_serve(const struct options *o);
enum status profile_ab(const struct options *o);

struct report_options report_options_of(const struct options *o);
/* Reads --threshold as a ratio such as 1.2. False: an error was printed. */
bool threshold_of(const struct options *o, double otherwise, double *out);
/* Reads --max-time into *ns, which has the default. False: an error was printed. */
bool max_time_of(const struct options *o, double *ns);
/* Reads a profile. NULL: an error was printed. */
struct profile *read_profile(const char *path);
/* Prints the report and frees it. */
void print_report(struct buf *report);

/* A recording of several samples with the progress on a terminal. Options as of the command line. */
struct recording {
	struct record_options options;
	struct recorder *recorder;
	uint32_t done, total; /* samples, those of the warm-up included */
	const char *label;    /* NULL: none */
};
/* Opens the recorder and runs the warm-up. NULL in r->recorder: an error was printed. */
void recording_open(struct recording *r, int warm_up, uint32_t samples);
/* Takes one sample and appends it to *profile, which may be NULL. False: an error was printed, or an interrupt arrived. */
bool recording_sample(struct recording *r, struct profile **profile);
/* Takes `wanted` samples; 0: from 10 to 60, as many as fit into 20 s. */
bool recording_samples(struct recording *r, int wanted, struct profile **profile);
uint32_t recording_most(int wanted); /* of samples */
/* Opens both sides and measures them in pairs; the order alternates, so that a machine that slows down slows both. Returns the side that
 * failed, after an error was printed; 2: none. */
uint32_t recording_pairs(struct recording sides[2], struct profile *profiles[2], int warm_up, uint32_t pairs);
void recording_close(struct recording *r);
/* Returns the words of a text, NULL-terminated. Words in quotation marks may have spaces. */
const char *const *split_words(struct arena *a, const char *text);
#endif
