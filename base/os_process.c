/* What the system says of the process: processors it may use (affinity, cgroups), memory. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static bool read_small(const char *path, char *out, size_t size)
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

/* The tightest cpu.max from the process's cgroup (version 2) up to the root. */
static uint32_t cgroup2_count(void)
{
	char text[4096], path[4096 + 64], file[sizeof path + 16], max[64];
	uint32_t count = UINT32_MAX;
	char *own, *slash;

	if (!read_small("/proc/self/cgroup", text, sizeof text) || !(own = strstr(text, "0::/")))
		return count;
	own += 3;
	own[strcspn(own, "\n")] = '\0';
	snprintf(path, sizeof path, "/sys/fs/cgroup%s", own);
	do {
		long long quota, period;

		snprintf(file, sizeof file, "%s/cpu.max", path);
		if (read_small(file, max, sizeof max) && sscanf(max, "%lld %lld", &quota, &period) == 2) {
			uint32_t here = quota_count(quota, period);

			count = here < count ? here : count;
		}
		slash = strrchr(path, '/');
		*slash = '\0';
	} while (slash - path >= (int)sizeof "/sys/fs/cgroup" - 1);
	return count;
}

static uint32_t cgroup1_count(void)
{
	char quota[64], period[64];

	if (!read_small("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota, sizeof quota) ||
	    !read_small("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, sizeof period))
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

/* Not getrusage: its maximum outlives exec, so it may be that of the process that started this one. */
uint64_t os_peak_rss_kb(void)
{
	char text[4096], *at;
	struct rusage u;

	if (read_small("/proc/self/status", text, sizeof text) && (at = strstr(text, "VmHWM:")))
		return strtoull(at + sizeof "VmHWM:" - 1, NULL, 10);
	return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_maxrss : 0;
}
