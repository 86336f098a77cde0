/* --explain: why a unit is compiled. */
#include "builder/store/history.h"
#include <string.h>
#include "base/arena.h"
#include "builder/manifest/manifest.h"

static const char *opt_text(uint8_t opt)
{
	static const char *const texts[] = {"0", "1", "2", "3", "s"};
	return opt <= MANIFEST_OPT_SIZE ? texts[opt] : "?";
}

/* The first callee taken in whose code is not what it was. */
static const char *changed_part(struct arena *a, const struct unit_record *then, const struct unit_record *now)
{
	for (uint32_t i = 0; i < now->made.n_parts; i++) {
		uint32_t k = 0;
		if (now->made.parts[i].kind != PART_INLINED)
			continue;
		while (k < then->made.n_parts &&
		       !(hash_eq(then->made.parts[k].identity, now->made.parts[i].identity) && then->made.parts[k].kind == PART_INLINED))
			k++;
		if (k == then->made.n_parts)
			return arena_printf(a, "it takes in %s now", now->made.parts[i].name);
		if (!hash_eq(then->made.parts[k].code, now->made.parts[i].code))
			return arena_printf(a, "inlined callee %s changed", now->made.parts[i].name);
	}
	return NULL;
}

struct why history_explain(struct arena *a, const struct unit_record *then, const struct unit_record *kin, const struct unit_record *now,
			   uint32_t line)
{
	if (!then && kin)
		return (struct why){COMPILE_SHAPES, arena_printf(a, "arguments or shapes changed (it was %s)", kin->name)};
	if (!then)
		return (struct why){COMPILE_NEW, "new"};
	if (hash_eq(then->key, now->key))
		return (struct why){COMPILE_LOST, "fragment missing from the cache"};
	if (!hash_eq(then->made.compiler, now->made.compiler))
		return (struct why){COMPILE_COMPILER, "the compiler changed"};
	if (then->made.opt != now->made.opt)
		return (struct why){COMPILE_OPTION,
				    arena_printf(a, "option changed: opt %s -> %s", opt_text(then->made.opt), opt_text(now->made.opt))};
	if (!hash_eq(then->target, now->target))
		return (struct why){COMPILE_OPTION, arena_printf(a, "option changed: cpu %s -> %s", then->cpu, now->cpu)};
	if (!hash_eq(then->tokens, now->tokens))
		return (struct why){COMPILE_BODY, arena_printf(a, "its body changed (%s:%u)", now->file, line)};
	const char *part = changed_part(a, then, now);
	if (part)
		return (struct why){COMPILE_INLINED, part};
	if (!hash_eq(then->made.code, now->made.code))
		return (struct why){COMPILE_USES, "a constant, type or signature that it uses changed"};
	return (struct why){COMPILE_CALLS, "what it calls changed"};
}
