#include "builder/target.h"
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"

static const struct {
	const char *name;
	uint32_t vector_bytes;
} levels[] = {{"x86-64-v2", 16}, {"x86-64-v3", 32}, {"x86-64-v4", 64}, {"native", 0}};
static const char *const platforms[] = {"native", "x86_64-linux", "x86_64-linux-gnu", "x86_64-unknown-linux-gnu", "x86_64-pc-linux-gnu"};

hash128 target_host_id(void)
{
	unsigned a = 0, b = 0, c = 0, d = 0, words[12] = {0};
	if (__get_cpuid(0, &a, &b, &c, &d))
		memcpy(words, (unsigned[3]){b, c, d}, sizeof(unsigned[3]));
	if (__get_cpuid(1, &a, &b, &c, &d)) /* not b: it tells which core we are on */
		memcpy(words + 3, (unsigned[3]){a, c, d}, sizeof(unsigned[3]));
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		memcpy(words + 6, (unsigned[3]){b, c, d}, sizeof(unsigned[3]));
	if (__get_cpuid_count(7, 1, &a, &b, &c, &d))
		memcpy(words + 9, (unsigned[3]){a, c, d}, sizeof(unsigned[3]));
	return hash_bytes(words, sizeof words);
}

static uint32_t host_vector_bytes(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
		return 64;
	return __builtin_cpu_supports("avx2") ? 32 : 16;
}

static bool one_of(const char *text, const char *const *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}

bool target_resolve(struct arena *a, const char *target, const char *cpu, struct target *out, const char **error, const char **near)
{
	enum { N_LEVELS = sizeof levels / sizeof *levels, N_PLATFORMS = sizeof platforms / sizeof *platforms };
	const char *names[N_LEVELS];
	uint32_t k = 0;
	if (!one_of(target, platforms, N_PLATFORMS)) {
		*error = arena_printf(a, "target `%s` is not supported: this trib generates code for x86_64-linux", target);
		*near = diag_nearest(target, platforms, N_PLATFORMS);
		return false;
	}
	for (uint32_t i = 0; i < N_LEVELS; i++)
		names[i] = levels[i].name;
	while (k < N_LEVELS && strcmp(levels[k].name, cpu) != 0)
		k++;
	if (k == N_LEVELS) {
		*error = arena_printf(a, "cpu `%s` is not known: choose native, x86-64-v2, x86-64-v3 or x86-64-v4", cpu);
		*near = diag_nearest(cpu, names, N_LEVELS);
		return false;
	}
	*out = (struct target){.cpu = levels[k].name, .native = levels[k].vector_bytes == 0, .vector_bytes = levels[k].vector_bytes};
	out->text = arena_printf(a, "x86_64-linux %s", out->cpu);
	out->id = hash_bytes(out->text, strlen(out->text));
	if (out->native) {
		out->vector_bytes = host_vector_bytes();
		out->id = hash_combine(out->id, target_host_id());
	}
	return true;
}

struct codegen_target target_codegen(struct arena *a, const struct target *t, const struct codegen_api *api, uint8_t opt, bool size)
{
	struct codegen_target c = {.cpu = t->cpu, .features = "", .vector_bytes = t->vector_bytes, .opt = opt, .size = size};
	if (t->native) {
		char *cpu = NULL, *features = NULL;
		api->host(&cpu, &features);
		c.cpu = arena_strdup(a, cpu ? cpu : "x86-64-v2");
		c.features = arena_strdup(a, features ? features : "");
		free(cpu);
		free(features);
	}
	return c;
}
