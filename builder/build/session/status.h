/* How a command ends. */
#ifndef TRIB_BUILDER_BUILD_SESSION_STATUS_H
#define TRIB_BUILDER_BUILD_SESSION_STATUS_H

struct diags;
struct options;

/* Exit codes of every command. */
enum status { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_ENVIRONMENT = 3, STATUS_INTERRUPTED = 130 };
/* The exit code of a command after these errors: STATUS_FAILED, STATUS_USAGE or STATUS_ENVIRONMENT. */
enum status build_diags_status(const struct diags *diags, const struct options *o);
#endif
