#include "builder/profile/machine.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/os.h"

/* Returns the rest of the first line of /proc/cpuinfo that begins with `key`, or NULL. */
static const char *cpu_field(struct arena *a, const char *text, const char *key)
{
	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		const char *colon = strchr(line, ':');
		if (!colon)
			return NULL;
		colon += 1 + strspn(colon + 1, " \t");
		return arena_strndup(a, colon, strcspn(colon, "\n"));
	}
	return NULL;
}

static const char *cpu_name(struct arena *a, const char *machine)
{
	char *text = NULL;
	size_t len;
	const char *name = NULL;
	if (os_read_file("/proc/cpuinfo", 1 << 20, &text, &len))
		name = cpu_field(a, text, "model name");
	free(text);
	return name ? name : machine;
}

struct profile_machine machine_describe(struct arena *a)
{
	struct utsname u;
	struct profile_machine m = {.device = "cpu", .cores = os_cpu_count()};
	if (uname(&u) != 0)
		memset(&u, 0, sizeof u);
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	m.memory_bytes = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
	m.cpu = cpu_name(a, arena_strdup(a, u.machine));
	m.system = arena_printf(a, "%s %s %s", u.sysname, u.release, u.machine);
	const char *kind = arena_printf(a, "%s/%u/%s", m.cpu, m.cores, u.machine);
	m.id = arena_printf(a, "%016" PRIx64, hash64_bytes(kind, strlen(kind)));
	return m;
}
