#include "builder/history.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/manifest.h"
#include "builder/store.h"
#include "builder/wire.h"

#define HISTORY_MAGIC 0x31545348u /* "HST1" */

const struct history *history_load(struct arena *a, struct store *project, const char *model)
{
	struct history *h = ARENA_NEW(a, struct history);
	struct wire w = {.ok = true};
	w.at = store_get(project, store_key("units", model), &w.left);
	if (!w.at || wire_u32(&w) != HISTORY_MAGIC)
		return h;
	uint32_t n = wire_count(&w, 130);
	h->units = ARENA_ARRAY(a, struct unit_record, n + 1);
	for (uint32_t i = 0; i < n && w.ok; i++) {
		struct unit_record *u = &h->units[i];
		u->name = wire_str(&w);
		u->file = wire_str(&w);
		u->definition = wire_str(&w);
		u->cpu = wire_str(&w);
		u->identity = wire_hash(&w);
		u->tokens = wire_hash(&w);
		u->code = wire_hash(&w);
		u->key = wire_hash(&w);
		u->compiler = wire_hash(&w);
		u->target = wire_hash(&w);
		u->opt = wire_u8(&w);
		u->compile_ns = (int64_t)wire_u64(&w);
		u->n_parts = wire_count(&w, 37);
		u->parts = ARENA_ARRAY(a, struct unit_part, u->n_parts + 1);
		for (uint32_t k = 0; k < u->n_parts && w.ok; k++) {
			u->parts[k].name = wire_str(&w);
			u->parts[k].identity = wire_hash(&w);
			u->parts[k].code = wire_hash(&w);
		}
	}
	h->n = wire_end(&w) ? n : 0;
	return h;
}

void history_save(struct store *project, const char *model, const struct history *h)
{
	struct buf b = {0};
	buf_u32(&b, HISTORY_MAGIC);
	buf_u32(&b, h->n);
	for (uint32_t i = 0; i < h->n; i++) {
		const struct unit_record *u = &h->units[i];
		wire_put_str(&b, u->name);
		wire_put_str(&b, u->file);
		wire_put_str(&b, u->definition);
		wire_put_str(&b, u->cpu);
		wire_put_hash(&b, u->identity);
		wire_put_hash(&b, u->tokens);
		wire_put_hash(&b, u->code);
		wire_put_hash(&b, u->key);
		wire_put_hash(&b, u->compiler);
		wire_put_hash(&b, u->target);
		buf_u8(&b, u->opt);
		buf_u64(&b, (uint64_t)u->compile_ns);
		buf_u32(&b, u->n_parts);
		for (uint32_t k = 0; k < u->n_parts; k++) {
			wire_put_str(&b, u->parts[k].name);
			wire_put_hash(&b, u->parts[k].identity);
			wire_put_hash(&b, u->parts[k].code);
		}
	}
	store_put(project, store_key("units", model), b.at, b.len);
	buf_free(&b);
}

const struct unit_record *history_find(const struct history *h, hash128 identity)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (hash_eq(h->units[i].identity, identity))
			return &h->units[i];
	return NULL;
}

static const struct unit_record *same_definition(const struct history *h, const struct unit_record *now)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (strcmp(h->units[i].definition, now->definition) == 0 && strcmp(h->units[i].file, now->file) == 0)
			return &h->units[i];
	return NULL;
}

static const char *opt_text(uint8_t opt)
{
	static const char *const texts[] = {"0", "1", "2", "3", "s"};
	return opt <= MANIFEST_OPT_SIZE ? texts[opt] : "?";
}

/* The first callee taken in whose code is not what it was. */
static const char *changed_part(struct arena *a, const struct unit_record *then, const struct unit_record *now)
{
	for (uint32_t i = 0; i < now->n_parts; i++) {
		uint32_t k = 0;
		while (k < then->n_parts && !hash_eq(then->parts[k].identity, now->parts[i].identity))
			k++;
		if (k == then->n_parts)
			return arena_printf(a, "it takes in %s now", now->parts[i].name);
		if (!hash_eq(then->parts[k].code, now->parts[i].code))
			return arena_printf(a, "inlined callee %s changed", now->parts[i].name);
	}
	return NULL;
}

const char *history_explain(struct arena *a, const struct history *h, const struct unit_record *now, uint32_t line)
{
	const struct unit_record *then = history_find(h, now->identity);
	if (!then) {
		then = same_definition(h, now);
		if (then)
			return arena_printf(a, "arguments or shapes changed (it was %s)", then->name);
		return "new";
	}
	if (hash_eq(then->key, now->key))
		return "fragment missing from the cache";
	if (!hash_eq(then->compiler, now->compiler))
		return "the compiler changed";
	if (then->opt != now->opt)
		return arena_printf(a, "option changed: opt %s -> %s", opt_text(then->opt), opt_text(now->opt));
	if (!hash_eq(then->target, now->target))
		return arena_printf(a, "option changed: cpu %s -> %s", then->cpu, now->cpu);
	if (!hash_eq(then->tokens, now->tokens))
		return arena_printf(a, "its body changed (%s:%u)", now->file, line);
	const char *part = changed_part(a, then, now);
	if (part)
		return part;
	if (!hash_eq(then->code, now->code))
		return "a constant, type or signature that it uses changed";
	return "what it calls changed";
}
