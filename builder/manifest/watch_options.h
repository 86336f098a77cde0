/* What `trib watch` does besides building. -1 or NULL: the flag was not given. */
#ifndef TRIB_BUILDER_MANIFEST_WATCH_OPTIONS_H
#define TRIB_BUILDER_MANIFEST_WATCH_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

struct watch_options {
	const char *on_success, *on_failure; /* shell commands */
	int poll_ms;                         /* 0: poll only if inotify fails */
};
#endif
