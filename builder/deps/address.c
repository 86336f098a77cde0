#include "builder/deps/checkout.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/path.h"

/* Returns the offset of the path in https://host/path, ssh://… and host:path; 0 for a local path. */
static size_t path_start(const char *url)
{
	const char *scheme = strstr(url, "://"), *colon = strchr(url, ':'), *slash = strchr(url, '/');
	if (scheme) {
		const char *path = strchr(scheme + 3, '/');
		return path ? (size_t)(path - url) : strlen(url);
	}
	return colon && (!slash || colon < slash) ? (size_t)(colon - url) + 1 : 0;
}

bool address_is_remote(const char *url) { return path_start(url) && strncasecmp(url, "file:", 5) != 0; }

const char *address_local_path(const char *url) { return path_start(url) ? NULL : url; }

const char *address_join(struct arena *a, const char *base, const char *url)
{
	size_t start = path_start(base);
	if (path_start(url) || *url == '/' || !*base)
		return url;
	return arena_printf(a, "%.*s%s", (int)start, base, path_normal(a, arena_printf(a, "%s/%s", base + start, url)));
}

const char *address_absolute(struct arena *a, const char *url)
{
	char *cwd = path_start(url) || *url == '/' ? NULL : getcwd(NULL, 0);
	const char *absolute = cwd ? path_normal(a, path_join(a, cwd, url)) : url;
	free(cwd);
	return absolute;
}
