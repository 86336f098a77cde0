/* Processor features by cpuid (Intel SDM vol. 2A, CPUID). The levels are those of the x86-64 psABI, "Micro-Architecture Levels". This
 * file is always compiled for the lowest level, because it runs before the rest of the library. */
#include "backend/runtime/cpu.h"
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum reg { EAX, EBX, ECX, EDX };
enum state { NONE, YMM = 0x6, ZMM = 0xe6 }; /* bits of XCR0 that the operating system must have set */

static const struct feature {
	const char *level, *name; /* level: the lowest that has it; NULL: no level has it */
	uint32_t leaf, subleaf;
	enum reg reg;
	uint32_t bit;
	enum state state;
} features[] = {
	{"x86-64-v2", "ssse3", 1, 0, ECX, 9, NONE},    {"x86-64-v2", "sse4.1", 1, 0, ECX, 19, NONE},
	{"x86-64-v2", "sse4.2", 1, 0, ECX, 20, NONE},  {"x86-64-v2", "popcnt", 1, 0, ECX, 23, NONE},
	{"x86-64-v3", "avx", 1, 0, ECX, 28, YMM},      {"x86-64-v3", "fma", 1, 0, ECX, 12, YMM},
	{"x86-64-v3", "f16c", 1, 0, ECX, 29, YMM},     {"x86-64-v3", "movbe", 1, 0, ECX, 22, NONE},
	{"x86-64-v3", "avx2", 7, 0, EBX, 5, YMM},      {"x86-64-v3", "bmi1", 7, 0, EBX, 3, NONE},
	{"x86-64-v3", "bmi2", 7, 0, EBX, 8, NONE},     {"x86-64-v3", "lzcnt", 0x80000001, 0, ECX, 5, NONE},
	{"x86-64-v4", "avx512f", 7, 0, EBX, 16, ZMM},  {"x86-64-v4", "avx512dq", 7, 0, EBX, 17, ZMM},
	{"x86-64-v4", "avx512cd", 7, 0, EBX, 28, ZMM}, {"x86-64-v4", "avx512bw", 7, 0, EBX, 30, ZMM},
	{"x86-64-v4", "avx512vl", 7, 0, EBX, 31, ZMM}, {NULL, "avx512vnni", 7, 0, ECX, 11, ZMM},
	{NULL, "avx512vbmi", 7, 0, ECX, 1, ZMM},       {NULL, "avx512vbmi2", 7, 0, ECX, 6, ZMM},
	{NULL, "avx512bf16", 7, 1, EAX, 5, ZMM},       {NULL, "gfni", 7, 0, ECX, 8, NONE},
	{NULL, "avx512vpopcntdq", 7, 0, ECX, 14, ZMM},
};

static uint32_t enabled_state(void)
{
	uint32_t low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static int cpu_has(const struct feature *f)
{
	uint32_t r[4];
	if (f->state) {
		if (!__get_cpuid(1, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) || !(r[ECX] >> 27 & 1)) /* OSXSAVE */
			return 0;
		if ((enabled_state() & f->state) != (uint32_t)f->state)
			return 0;
	}
	return __get_cpuid_count(f->leaf, f->subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) && (r[f->reg] >> f->bit & 1);
}

/* True if `word` is one of the words of `text`, which commas and spaces separate. */
static int has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = text; (at = strstr(at, word)); at += n) {
		int starts = at == text || strchr(" ,+", at[-1]);
		if (starts && (!at[n] || strchr(" ,", at[n])))
			return 1;
	}
	return 0;
}

static int needs_level(const char *target, const char *level)
{
	/* a level includes those below it; their names are in order */
	static const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
	for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
		if (strcmp(level, levels[i]) <= 0 && has_word(target, levels[i]))
			return 1;
	return 0;
}

const char *tri_cpu_lacks(const char *target)
{
	for (unsigned i = 0; target && i < sizeof features / sizeof *features; i++) {
		const struct feature *f = &features[i];
		if ((f->level ? needs_level(target, f->level) : has_word(target, f->name)) && !cpu_has(f))
			return f->name;
	}
	return NULL;
}
#else
const char *tri_cpu_lacks(const char *target)
{
	(void)target;
	return NULL;
}
#endif
