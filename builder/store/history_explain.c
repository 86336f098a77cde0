/* The reasons of --explain. */
#include "builder/store/history.h"
#include <string.h>
#include "base/arena.h"
#include "builder/manifest/manifest.h"

const char *compile_reason_text(enum compile_reason r)
{
	static const char *const texts[] = {
#define REASON(id, text) text,
#include "builder/store/compile_reasons.def"
	};
	return texts[r];
}

static const char *opt_text(uint8_t opt)
{
	static const char *const texts[] = {"0", "1", "2", "3", "s"};
	return opt <= MANIFEST_OPT_SIZE ? texts[opt] : "?";
}

/* The first inlined callee whose code changed; NULL: there is none. */
static const char *changed_part(struct arena *a, const struct unit_record *old, const struct unit_record *now)
{
	for (uint32_t i = 0; i < now->made.n_parts; i++) {
		uint32_t k = 0;
		if (now->made.parts[i].kind != PART_INLINED)
			continue;
		while (k < old->made.n_parts &&
		       !(hash_eq(old->made.parts[k].identity, now->made.parts[i].identity) && old->made.parts[k].kind == PART_INLINED))
			k++;
		if (k == old->made.n_parts)
			return arena_printf(a, "it now inlines %s", now->made.parts[i].name);
		if (!hash_eq(old->made.parts[k].code, now->made.parts[i].code))
			return arena_printf(a, "inlined callee %s changed", now->made.parts[i].name);
	}
	return NULL;
}

/* True if another decision holds for a unit that it calls. */
static bool decisions_changed(const struct unit_record *old, const struct unit_record *now)
{
	for (uint32_t i = 0; i < now->made.n_parts; i++)
		for (uint32_t k = 0; k < old->made.n_parts; k++)
			if (hash_eq(old->made.parts[k].identity, now->made.parts[i].identity) &&
			    old->made.parts[k].decided != now->made.parts[i].decided)
				return true;
	return false;
}

struct why history_explain(struct arena *a, const struct unit_record *old, const struct unit_record *kin, const struct unit_record *now,
			   uint32_t line)
{
	if (!old && kin)
		return (struct why){COMPILE_SHAPES, arena_printf(a, "arguments or shapes changed (it was %s)", kin->name)};
	if (!old)
		return (struct why){COMPILE_NEW, "new"};
	if (hash_eq(old->key, now->key))
		return (struct why){COMPILE_LOST, "fragment missing from the cache"};
	if (!hash_eq(old->made.compiler, now->made.compiler))
		return (struct why){COMPILE_COMPILER, "the compiler changed"};
	if (old->made.opt != now->made.opt)
		return (struct why){COMPILE_OPTION,
				    arena_printf(a, "option changed: opt %s -> %s", opt_text(old->made.opt), opt_text(now->made.opt))};
	if (!hash_eq(old->target, now->target))
		return (struct why){COMPILE_OPTION, arena_printf(a, "option changed: cpu %s -> %s", old->cpu, now->cpu)};
	if (!hash_eq(old->tokens, now->tokens))
		return (struct why){COMPILE_BODY, arena_printf(a, "its body changed (%s:%u)", now->file, line)};
	const char *part = changed_part(a, old, now);
	if (part)
		return (struct why){COMPILE_INLINED, part};
	if (!hash_eq(old->made.code, now->made.code))
		return (struct why){COMPILE_USES, "a constant, type or signature that it uses changed"};
	if (old->made.decided != now->made.decided || decisions_changed(old, now))
		return (struct why){COMPILE_CALLS, "layouts of arguments changed"};
	return (struct why){COMPILE_CALLS, "what it calls changed"};
}
