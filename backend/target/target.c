/* CPU targets. `native` is the highest level that cpuid reports, with the extensions that code and kernels can use. */
#include "backend/target/target.h"
#include <string.h>

static const struct {
	const char *name, *cpu, *features;
	uint32_t vector_bytes;
} levels[CPU_LEVELS] = {
	[CPU_V2] = {"x86-64-v2", "x86-64-v2", "", 16},
	[CPU_V3] = {"x86-64-v3", "x86-64-v3", "", 32},
	[CPU_V4] = {"x86-64-v4", "x86-64-v4", "", 64},
	[CPU_V4_VNNI] = {"x86-64-v4-vnni", "x86-64-v4", "+avx512vnni", 64},
};

static void set_level(enum cpu_level level, struct target *out)
{
	out->cpu = levels[level].cpu;
	out->vector_bytes = levels[level].vector_bytes;
	out->level = level;
	strcpy(out->features, levels[level].features);
}

static enum cpu_level host_level(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
	bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
		  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
	if (v4)
		return __builtin_cpu_supports("avx512vnni") ? CPU_V4_VNNI : CPU_V4;
	return v3 ? CPU_V3 : CPU_V2;
#else
	return CPU_V2;
#endif
}

static void add_feature(bool has, const char *feature, struct target *out)
{
	if (!has)
		return;
	if (out->features[0])
		strcat(out->features, ",");
	strcat(out->features, feature);
}

static void native(struct target *out)
{
	set_level(host_level(), out);
#if defined(__x86_64__)
	if (out->level < CPU_V4)
		return;
	add_feature(__builtin_cpu_supports("avx512vbmi"), "+avx512vbmi", out);
	add_feature(__builtin_cpu_supports("avx512vbmi2"), "+avx512vbmi2", out);
	add_feature(__builtin_cpu_supports("avx512bf16"), "+avx512bf16", out);
	add_feature(__builtin_cpu_supports("gfni"), "+gfni", out);
#endif
}

bool target_resolve(const char *name, struct target *out)
{
	memset(out, 0, sizeof *out);
	if (!name || strcmp(name, "native") == 0) {
		native(out);
		return true;
	}
	for (int k = 0; k < CPU_LEVELS; k++)
		if (strcmp(name, levels[k].name) == 0) {
			set_level((enum cpu_level)k, out);
			return true;
		}
	return false;
}

const char *const *target_names(void)
{
	static const char *const names[] = {"native", "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", NULL};
	return names;
}

bool target_runs_here(const struct target *t) { return t->level <= host_level(); }
