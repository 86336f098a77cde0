#include "backend/target/target.h"
#include <string.h>
#include "base/arena.h"

static const struct target targets[] = {
#define TARGET(id, name, arch, cpu, features, level, vector, registers, l1, l2, l3, group, unroll, functions, hook, also) \
	[TARGET_##id] = {name,   ARCH_##arch,           cpu,  features,      level, vector, registers, l1, l2, l3, group, \
			 unroll, FUNCTIONS_##functions, hook, TARGET_##also, false},
#include "backend/target/targets.def"
#undef TARGET
};

const struct target *target_get(enum target_id id) { return &targets[id]; }

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

#if defined(__x86_64__)
static const char *add_feature(struct arena *a, const char *features, bool has, const char *feature)
{
	return has ? arena_printf(a, "%s%s%s", features, *features ? "," : "", feature) : features;
}

static const char *host_features(struct arena *a, const char *features)
{
	features = add_feature(a, features, __builtin_cpu_supports("avx512vbmi"), "+avx512vbmi");
	features = add_feature(a, features, __builtin_cpu_supports("avx512vbmi2"), "+avx512vbmi2");
	features = add_feature(a, features, __builtin_cpu_supports("avx512bf16"), "+avx512bf16");
	return add_feature(a, features, __builtin_cpu_supports("gfni"), "+gfni");
}
#endif

static const struct target *native(struct arena *a)
{
	struct target *t = ARENA_NEW(a, struct target);
	*t = targets[TARGET_X86_64_V2 + host_level()];
#if defined(__x86_64__)
	if (t->level >= CPU_V4)
		t->features = host_features(a, t->features);
#endif
	return t;
}

_Static_assert(TARGET_X86_64_V2 + CPU_V4_VNNI == TARGET_X86_64_V4_VNNI, "the rows of x86-64 come first, by level");

const struct target *target_find_cpu(struct arena *a, const char *name)
{
	if (strcmp(name, "native") == 0)
		return native(a);
	for (int i = TARGET_X86_64_V2; i <= TARGET_X86_64_V4_VNNI; i++)
		if (strcmp(name, targets[i].name) == 0)
			return &targets[i];
	return NULL;
}

const struct target *target_dense(struct arena *a, const struct target *t, bool dense)
{
	if (t->dense_trits == dense)
		return t;
	struct target *copy = ARENA_NEW(a, struct target);
	*copy = *t;
	copy->dense_trits = dense;
	return copy;
}

const char *const *target_cpu_names(void)
{
	static const char *const names[] = {"native", "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", NULL};
	return names;
}

hash128 target_hash(const struct target *t)
{
	const uint64_t numbers[] = {t->arch,       t->level,    t->vector_bytes, t->n_vector_registers, t->l1_bytes,
				    t->l2_bytes,   t->l3_bytes, t->group_size,   t->max_unroll,         t->functions,
				    t->calls_hook, t->also,     t->dense_trits};
	struct hasher *h = hasher_new();
	hasher_add_str(h, t->cpu);
	hasher_add_str(h, t->features);
	for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		hasher_add_u64(h, numbers[i]);
	return hasher_finish(h);
}

bool target_runs_here(const struct target *t) { return t->arch == ARCH_X86_64 && t->level <= host_level(); }
