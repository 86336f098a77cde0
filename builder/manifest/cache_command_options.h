/* Of the actions of `trib cache`. -1 or NULL: the flag was not given. */
#ifndef TRIB_BUILDER_MANIFEST_CACHE_COMMAND_OPTIONS_H
#define TRIB_BUILDER_MANIFEST_CACHE_COMMAND_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

struct cache_command_options {
	const char *level; /* of `clear` */
	const char *size;  /* of `prune` */
	int days;          /* of `prune` */
	bool detailed;     /* of `stats` */
	bool repair;       /* of `validate` */
};
#endif
