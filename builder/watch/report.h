/* The output of `trib watch`: a line for each save, or JSON events. */
#ifndef TRIB_BUILDER_WATCH_REPORT_H
#define TRIB_BUILDER_WATCH_REPORT_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/build.h"
#include "builder/watch/command.h"
#include "builder/watch/edit.h"

struct reporter {
	FILE *out, *err;
	bool json, quiet;
};
/* A save and its build. */
struct save_report {
	const struct edit *edits;
	uint32_t n_edits;
	enum status status;
	uint32_t compiled, linked, errors;
	int64_t latency_ns, build_ns; /* from the save, or the start, to the published library or to the errors */
	const char *const *outputs;   /* of the last good build */
	uint32_t n_outputs, behind;   /* behind: saves since the last good build */
	int64_t good_at;              /* when it ended, in seconds since 1970 */
	uint64_t generation;          /* number of good builds */
};

void report_watching(const struct reporter *r, uint32_t files, uint32_t folders, const char *why_polling, int poll_ms);
void report_save(const struct reporter *r, const struct save_report *s);
/* A newer save cancelled the build. */
void report_superseded(const struct reporter *r);
/* All inputs are compared, because events were lost or folders moved. */
void report_rescan(const struct reporter *r);
void report_command(const struct reporter *r, const char *name, const struct command_change *change, int64_t pid);
void report_end(const struct reporter *r);
#endif
