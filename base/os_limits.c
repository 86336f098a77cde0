/* What this process may use: processors (affinity, cgroups) and memory. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include "base/os.h"

static uint32_t affinity_count(void)
{
	for (size_t n = 1024; n <= (1 << 20); n *= 2) {
		cpu_set_t *set = CPU_ALLOC(n);
		size_t size = CPU_ALLOC_SIZE(n);
		int count = 0;

		if (!set)
			break;
		if (sched_getaffinity(0, size, set) == 0)
			count = CPU_COUNT_S(size, set);
		CPU_FREE(set);
		if (count > 0)
			return (uint32_t)count;
		if (errno != EINVAL) /* EINVAL: the mask is too small */
			break;
	}
	return 1;
}

/* The text of a small file in `out`; false if there is none. */
static bool os_limits_read_small(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return false;
	n = fread(out, 1, size - 1, f);
	fclose(f);
	out[n] = '\0';
	return n > 0;
}

/* Processors allowed by quota/period, rounded up; UINT32_MAX: no limit. */
static uint32_t quota_count(long long quota, long long period)
{
	return quota > 0 && period > 0 ? (uint32_t)((quota + period - 1) / period) : UINT32_MAX;
}

#define CGROUP_ROOT "/sys/fs/cgroup"
enum { CGROUP_PATH = 4096 + 64 };

/* The folder of the process's cgroup (version 2). False: it has none. */
static bool cgroup2_path(char path[CGROUP_PATH])
{
	char text[4096], *own;

	if (!os_limits_read_small("/proc/self/cgroup", text, sizeof text) || !(own = strstr(text, "0::/")))
		return false;
	own += 3;
	own[strcspn(own, "\n")] = '\0';
	snprintf(path, CGROUP_PATH, CGROUP_ROOT "%s", own);
	return true;
}

/* Goes to the parent folder. False: this was the root. */
static bool cgroup2_up(char path[CGROUP_PATH])
{
	char *slash = strrchr(path, '/');

	*slash = '\0';
	return slash - path >= (int)sizeof CGROUP_ROOT - 1;
}

/* The tightest cpu.max from the process's cgroup up to the root. */
static uint32_t cgroup2_count(void)
{
	char path[CGROUP_PATH], file[CGROUP_PATH + 16], max[64];
	uint32_t count = UINT32_MAX;

	if (!cgroup2_path(path))
		return count;
	do {
		long long quota, period;

		snprintf(file, sizeof file, "%s/cpu.max", path);
		if (os_limits_read_small(file, max, sizeof max) && sscanf(max, "%lld %lld", &quota, &period) == 2) {
			uint32_t here = quota_count(quota, period);

			count = here < count ? here : count;
		}
	} while (cgroup2_up(path));
	return count;
}

static uint32_t cgroup1_count(void)
{
	char quota[64], period[64];

	if (!os_limits_read_small("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota, sizeof quota) ||
	    !os_limits_read_small("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, sizeof period))
		return UINT32_MAX;
	return quota_count(atoll(quota), atoll(period));
}

uint32_t os_cpu_count(void)
{
	uint32_t counts[] = {affinity_count(), cgroup2_count(), cgroup1_count()};
	uint32_t count = counts[0];

	for (int i = 1; i < 3; i++)
		count = counts[i] < count ? counts[i] : count;
	return count ? count : 1;
}

/* ---- memory and load ---- */

/* The number behind `key` in a file of lines "key … number"; UINT64_MAX: none. */
static uint64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

/* Bytes left in one cgroup (version 2): its limit less its use, without inactive file pages. */
static uint64_t cgroup2_left(const char *folder)
{
	char file[4096 + 80], text[4096];
	uint64_t most, used, cached;

	snprintf(file, sizeof file, "%s/memory.max", folder);
	if (!os_limits_read_small(file, text, sizeof text) || text[0] == 'm') /* "max" */
		return UINT64_MAX;
	most = strtoull(text, NULL, 10);
	snprintf(file, sizeof file, "%s/memory.current", folder);
	if (!os_limits_read_small(file, text, sizeof text))
		return most;
	used = strtoull(text, NULL, 10);
	snprintf(file, sizeof file, "%s/memory.stat", folder);
	cached = os_limits_read_small(file, text, sizeof text) ? number_after(text, "\ninactive_file ") : 0;
	used -= cached < used ? cached : 0;
	return most > used ? most - used : 1;
}

static uint64_t cgroup1_left(void)
{
	char most[64], used[64];

	if (!os_limits_read_small("/sys/fs/cgroup/memory/memory.limit_in_bytes", most, sizeof most) ||
	    !os_limits_read_small("/sys/fs/cgroup/memory/memory.usage_in_bytes", used, sizeof used))
		return UINT64_MAX;
	uint64_t m = strtoull(most, NULL, 10), u = strtoull(used, NULL, 10);
	return m > u ? m - u : 1;
}

static uint64_t os_limits_least(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint64_t os_available_memory(void)
{
	char text[4096], path[CGROUP_PATH];
	uint64_t left = UINT64_MAX, kb;

	if (os_limits_read_small("/proc/meminfo", text, sizeof text)) {
		kb = number_after(text, "MemAvailable:");
		left = kb < UINT64_MAX / 1024 ? kb * 1024 : left;
	}
	if (cgroup2_path(path))
		do
			left = os_limits_least(left, cgroup2_left(path));
		while (cgroup2_up(path));
	left = os_limits_least(left, cgroup1_left());
	return left == UINT64_MAX ? 0 : left;
}

double os_load_average(void)
{
	double load;

	return getloadavg(&load, 1) == 1 ? load : 0;
}

/* getrusage is not used: its maximum survives exec, so it may belong to the process that started this one. */
uint64_t os_rss_bytes(void)
{
	char text[128], *at;

	if (!os_limits_read_small("/proc/self/statm", text, sizeof text) || !(at = strchr(text, ' ')))
		return 0;
	return strtoull(at + 1, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t os_private_dirty_bytes(pid_t pid)
{
	char path[64], text[4096];
	uint64_t kb;

	snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)(pid ? pid : getpid()));
	if (!os_limits_read_small(path, text, sizeof text))
		return 0;
	/* Pages of a file that was just written are dirty wherever it is mapped, such as those of a new executable. */
	kb = os_limits_least(number_after(text, "\nPrivate_Dirty:"), number_after(text, "\nAnonymous:"));
	return kb == UINT64_MAX ? 0 : kb * 1024;
}

uint64_t os_peak_rss_kb(void)
{
	char text[4096], *at;
	struct rusage u;

	if (os_limits_read_small("/proc/self/status", text, sizeof text) && (at = strstr(text, "VmHWM:")))
		return strtoull(at + sizeof "VmHWM:" - 1, NULL, 10);
	return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_maxrss : 0;
}
