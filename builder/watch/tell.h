/* What is said while trib watches: lines for people, one a save, or JSON events. */
#ifndef TRIB_BUILDER_WATCH_TELL_H
#define TRIB_BUILDER_WATCH_TELL_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/build/build.h"
#include "builder/watch/command.h"
#include "builder/watch/edit.h"

struct tell {
	FILE *out, *err;
	bool json, quiet;
};
/* A save and what came of it. */
struct save {
	const struct edit *edits;
	uint32_t n_edits;
	enum status status;
	uint32_t compiled, linked, errors;
	int64_t latency_ns, build_ns; /* from the save to the published library, or to the verdict */
	const char *const *outputs;   /* of the last good build */
	uint32_t n_outputs, behind;   /* behind: how many saves those are behind */
	int64_t good_at;              /* when it ended, in seconds since 1970 */
	uint64_t generation;          /* how many good builds there were */
};

void tell_watching(const struct tell *t, uint32_t files, uint32_t folders, const char *why_polling, int poll_ms);
void tell_save(const struct tell *t, const struct save *s);
/* A newer save came while the build ran. */
void tell_superseded(const struct tell *t);
/* Everything is looked at because events were lost or folders moved. */
void tell_rescan(const struct tell *t);
void tell_command(const struct tell *t, const char *name, const struct command_report *r, int64_t pid);
void tell_end(const struct tell *t);
#endif
