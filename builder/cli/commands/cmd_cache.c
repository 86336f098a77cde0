/* trib cache: statistics, clearing and checking of the user's cache. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/cache/maintenance.h"
#include "builder/cache/config.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"
#include "builder/cli/project.h"

struct cache_command {
	struct arena *a;
	const struct options *o;
	struct cache_config config;
	struct cache_options open;
	struct cache *cache; /* NULL if it does not exist yet */
	bool json;
};

static bool open_cache(struct cache_command *s, bool write)
{
	struct buf warning = {0};
	struct cache_options o = s->open;
	o.levels = ~0u;
	o.inspect = !write;
	s->cache = cache_open(&o, &warning);
	if (warning.len)
		print(stderr, "trib: %s\n", warning.at);
	bool ok = s->cache || !warning.len;
	buf_free(&warning);
	return ok;
}

/* ---- stats ---- */

static uint64_t missed(const struct cache_count *count)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < CACHE_MISSES; i++)
		n += count->misses[i];
	return n;
}

static double cache_percent(uint64_t part, uint64_t whole) { return whole ? 100.0 * (double)part / (double)whole : 0; }

static const char *cache_date(uint64_t seconds, char out[32])
{
	time_t t = (time_t)seconds;
	struct tm tm;
	if (!seconds || !localtime_r(&t, &tm))
		return "-";
	strftime(out, 32, "%Y-%m-%d %H:%M", &tm);
	return out;
}

static void print_kinds(const struct cache_report *report)
{
	char a[32], b[32];
	print(stdout, "\n%-10s %-5s %9s %11s %11s %10s %10s %9s\n", "kind", "level", "entries", "on disk", "content", "hits", "misses",
	      "evicted");
	for (uint32_t i = 0; i < CACHE_KINDS; i++) {
		const struct cache_count *t = &report->kind[i];
		print(stdout, "%-10s %-5s %9" PRIu64 " %11s %11s %10" PRIu64 " %10" PRIu64 " %9" PRIu64 "\n",
		      cache_kind_text((enum cache_kind)i), cache_level_text(cache_kind_level((enum cache_kind)i)), t->entries,
		      print_size(t->charge, a), print_size(t->raw, b), t->hits, missed(t), t->evicted);
	}
	print(stdout, "\nreasons of misses:");
	for (uint32_t i = 0; i < CACHE_MISSES; i++)
		print(stdout, "%s %s: %" PRIu64, i ? "," : "", cache_miss_text((enum cache_miss)i), report->all.misses[i]);
	print(stdout, "\n\nreasons of compilations\n");
	for (uint32_t i = 0; i < COMPILE_REASONS; i++)
		print(stdout, "%10" PRIu64 "  %s\n", report->compiled[i], compile_reason_text((enum compile_reason)i));
	print(stdout, "\nlevel l1 (definitions and fragments) is in the memory of `trib watch`, `trib lsp` and build servers\n");
	print(stdout, "\nlast used     entries     on disk\n");
	for (uint32_t i = 0; i < CACHE_AGES; i++)
		print(stdout, "%-10s %10" PRIu64 " %11s\n", cache_age_text(i), report->age_entries[i], print_size(report->age_disk[i], a));
}

static const char *cache_root(const struct cache_command *s) { return s->config.at[SETTING_DIR].text; }

static void print_stats(const struct cache_command *s, const struct cache_report *report)
{
	char a[32], b[32];
	struct cache_freed programs = cache_programs_count(cache_root(s));
	uint64_t asked = report->all.hits + missed(&report->all), limit = s->open.limits.size;
	print(stdout, "folder    %s\n", s->open.dir);
	print(stdout, "size      %s of %s (%.1f %%)\n", print_size(report->disk, a), print_size(limit, b),
	      cache_percent(report->disk, limit));
	print(stdout, "entries   %" PRIu64 "; content %s", report->all.entries, print_size(report->all.raw, a));
	print(stdout, ", made in %.1f s\n", (double)report->all_saved_us / 1e6);
	print(stdout, "hits      %" PRIu64 " of %" PRIu64 " (%.1f %%)\n", report->all.hits, asked, cache_percent(report->all.hits, asked));
	print(stdout, "made      %s to %s\n", cache_date(report->oldest, a), cache_date(report->newest, b));
	print(stdout, "git       %s of dependencies; no limit counts them, and `clear` leaves them\n",
	      print_size(cache_git_bytes(cache_root(s)), a));
	print(stdout, "opencl    %" PRIu64 " programs that drivers built, %s; at most 256, and only their age counts\n", programs.entries,
	      print_size(programs.disk, a));
	if (s->o->cache.detailed)
		print_kinds(report);
}

static void put_count(struct json_writer *w, const struct cache_count *count, uint64_t saved_us)
{
	json_member_int(w, "entries", count->entries);
	json_member_int(w, "disk_bytes", count->charge);
	json_member_int(w, "content_bytes", count->raw);
	json_member_int(w, "hits", count->hits);
	json_member_int(w, "misses", missed(count));
	json_member_open(w, "miss_reasons", '{');
	for (uint32_t i = 0; i < CACHE_MISSES; i++)
		json_member_int(w, cache_miss_text((enum cache_miss)i), count->misses[i]);
	json_close(w, '}');
	json_member_int(w, "kept", count->stored);
	json_member_int(w, "evicted", count->evicted);
	json_member_num(w, "made_in_ms", (double)saved_us / 1e3);
}

static void print_stats_json(const struct cache_command *s, const struct cache_report *report)
{
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	struct cache_freed programs = cache_programs_count(cache_root(s));
	json_open(&w, '{');
	json_member_str(&w, "dir", s->open.dir);
	json_member_int(&w, "size_bytes", report->disk);
	json_member_int(&w, "git_bytes", cache_git_bytes(cache_root(s)));
	json_member_open(&w, "opencl", '{');
	json_member_int(&w, "entries", programs.entries);
	json_member_int(&w, "disk_bytes", programs.disk);
	json_close(&w, '}');
	json_member_open(&w, "limits", '{');
	json_member_int(&w, "size_bytes", s->open.limits.size);
	json_member_int(&w, "entries", s->open.limits.entries);
	json_member_int(&w, "days", s->open.limits.days);
	json_close(&w, '}');
	put_count(&w, &report->all, report->all_saved_us);
	json_member_int(&w, "oldest", report->oldest);
	json_member_int(&w, "newest", report->newest);
	json_member_open(&w, "kinds", '[');
	for (uint32_t i = 0; i < CACHE_KINDS; i++) {
		json_open(&w, '{');
		json_member_str(&w, "kind", cache_kind_text((enum cache_kind)i));
		json_member_str(&w, "level", cache_level_text(cache_kind_level((enum cache_kind)i)));
		put_count(&w, &report->kind[i], report->saved_us[i]);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_member_open(&w, "compiled", '{');
	for (uint32_t i = 0; i < COMPILE_REASONS; i++)
		json_member_int(&w, compile_reason_text((enum compile_reason)i), report->compiled[i]);
	json_close(&w, '}');
	json_member_open(&w, "last_used", '[');
	for (uint32_t i = 0; i < CACHE_AGES; i++) {
		json_open(&w, '{');
		json_member_str(&w, "age", cache_age_text(i));
		json_member_int(&w, "entries", report->age_entries[i]);
		json_member_int(&w, "disk_bytes", report->age_disk[i]);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_close(&w, '}');
	print_json(&out);
}

static enum status stats(struct cache_command *s)
{
	struct cache_report r = {0};
	if (!open_cache(s, false))
		return STATUS_ENVIRONMENT;
	if (s->cache && !cache_report(s->cache, &r))
		return fail_environment("cannot read the cache in %s: %s", s->open.dir, strerror(errno));
	(s->json ? print_stats_json : print_stats)(s, &r);
	return STATUS_OK;
}

/* ---- clear, prune ---- */

static enum status report_freed(const struct cache_command *s, const struct cache_freed *freed)
{
	char size[32];
	if (!s->json) {
		print(stdout, "trib: removed %" PRIu64 " entries, %s\n", freed->entries, print_size(freed->disk, size));
		return STATUS_OK;
	}
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	json_open(&w, '{');
	json_member_int(&w, "removed_entries", freed->entries);
	json_member_int(&w, "removed_bytes", freed->disk);
	json_close(&w, '}');
	print_json(&out);
	return STATUS_OK;
}

static enum status clear_all(struct cache_command *s)
{
	struct cache_report r = {0};
	if (!open_cache(s, false))
		return STATUS_ENVIRONMENT;
	if (s->cache)
		cache_report(s->cache, &r);
	cache_close(s->cache, NULL);
	s->cache = NULL;
	struct cache_freed freed = cache_programs_count(cache_root(s));
	if (!cache_remove_all(cache_root(s)))
		return fail_environment("cannot remove the cache in %s: %s", cache_root(s), strerror(errno));
	freed.entries += r.all.entries;
	freed.disk += r.disk;
	return report_freed(s, &freed);
}

static enum status cache_clear(struct cache_command *s)
{
	struct cache_freed freed = {0};
	const char *level = s->o->cache.level;
	if (!level)
		return clear_all(s);
	if (strcmp(level, "l2") != 0 && strcmp(level, "l3") != 0)
		return fail_usage("--level wants l2 or l3, not `%s`; level l1 is in memory", level);
	if (!open_cache(s, false))
		return STATUS_ENVIRONMENT;
	if (!s->cache)
		return report_freed(s, &freed);
	cache_close(s->cache, NULL);
	if (!open_cache(s, true) || !cache_clear_levels(s->cache, 1u << (level[1] == '2' ? CACHE_L2 : CACHE_L3), &freed))
		return fail_environment("cannot clear the cache in %s: %s", s->open.dir, strerror(errno));
	return report_freed(s, &freed);
}

static enum status commands_cache_prune(struct cache_command *s)
{
	struct cache_limits l = s->open.limits;
	struct cache_freed freed = {0};
	if (s->o->cache.size && (!manifest_parse_size(s->o->cache.size, &l.size) || l.size < CACHE_LEAST_SIZE))
		return fail_usage("--size wants a size of at least 16MiB, such as 1GiB, not `%s`; `trib cache clear` removes everything",
				  s->o->cache.size);
	if (s->o->cache.days)
		l.days = (uint64_t)s->o->cache.days;
	if (!open_cache(s, false))
		return STATUS_ENVIRONMENT;
	bool exists = s->cache;
	cache_close(s->cache, NULL);
	s->cache = NULL;
	if (exists && (!open_cache(s, true) || !cache_prune(s->cache, &l, &freed)))
		return fail_environment("cannot prune the cache in %s: %s", s->open.dir, strerror(errno));
	struct cache_freed programs = cache_programs_prune(cache_root(s), l.days);
	freed.entries += programs.entries;
	freed.disk += programs.disk;
	return report_freed(s, &freed);
}

/* ---- validate ---- */

enum { FAULTS_SHOWN = 100 };

struct faults {
	struct json_writer *w; /* NULL: text */
	uint64_t n;
};

static void cache_on_fault(void *ctx, const char *kind, const char *id, const char *what)
{
	struct faults *f = ctx;
	if (!f->w) {
		if (f->n++ < FAULTS_SHOWN)
			print(stderr, "trib: %s %s: %s\n", kind, id, what);
		return;
	}
	json_open(f->w, '{');
	json_member_str(f->w, "kind", kind);
	json_member_str(f->w, "id", id);
	json_member_str(f->w, "fault", what);
	json_close(f->w, '}');
}

static enum status commands_cache_validate(struct cache_command *s)
{
	struct buf out = {0};
	struct json_writer w = {.out = &out};
	struct faults f = {.w = s->json ? &w : NULL};
	uint64_t checked = 0, faults = 0;
	if (!open_cache(s, s->o->cache.repair))
		return STATUS_ENVIRONMENT;
	json_open(&w, '{');
	json_member_open(&w, "faults", '[');
	bool ok = !s->cache || cache_validate(s->cache, s->o->cache.repair, cache_on_fault, &f, &checked, &faults);
	json_close(&w, ']');
	json_member_int(&w, "checked", checked);
	json_member_bool(&w, "repaired", s->o->cache.repair && ok);
	json_close(&w, '}');
	if (f.n > FAULTS_SHOWN)
		print(stderr, "trib: … and %" PRIu64 " more; --format=json lists all\n", f.n - FAULTS_SHOWN);
	if (s->json)
		print_json(&out);
	else if (ok && faults)
		print(stdout, "trib: %" PRIu64 " entries checked, %" PRIu64 " faults%s\n", checked, faults,
		      s->o->cache.repair ? "; invalid entries were removed" : "; `trib cache validate --repair` removes invalid entries");
	else if (ok)
		print(stdout, "trib: %" PRIu64 " entries checked, all valid\n", checked);
	buf_free(&out);
	if (!ok)
		return fail_environment("cannot check the cache in %s: %s", s->open.dir, strerror(errno));
	return faults && !s->o->cache.repair ? STATUS_FAILED : STATUS_OK;
}

/* ---- put ---- */

static bool find_kind(const char *text, enum cache_kind *out)
{
	for (uint32_t k = 0; k < CACHE_KINDS; k++)
		if (strcmp(text, cache_kind_text((enum cache_kind)k)) == 0) {
			*out = (enum cache_kind)k;
			return true;
		}
	return false;
}

/* Adds what libtrib compiled. libtrib runs this in another process, because a damaged cache may crash it. */
static enum status commands_cache_put(struct cache_command *s)
{
	enum cache_kind kind;
	hash128 key;
	char *bytes;
	size_t len;
	const char *const *args = s->o->operands;
	if (!find_kind(args[1], &kind) || !hash_parse_hex(args[2], &key))
		return fail_usage(
			"`trib cache put` wants a kind, a key of 32 hex digits and nanoseconds; the value is read from standard input");
	if (!os_read_stream("/dev/stdin", 0, &bytes, &len))
		return fail_environment("cannot read standard input: %s", strerror(errno));
	bool ok = open_cache(s, true);
	cache_put(s->cache, kind, key, bytes, len, strtoll(args[3], NULL, 10));
	free(bytes);
	return ok ? STATUS_OK : STATUS_ENVIRONMENT;
}

static enum status cache_run(struct cache_command *s)
{
	static enum status (*const runs[])(struct cache_command *) = {[ACTION_CACHE_STATS] = stats,
								      [ACTION_CACHE_CLEAR] = cache_clear,
								      [ACTION_CACHE_PRUNE] = commands_cache_prune,
								      [ACTION_CACHE_VALIDATE] = commands_cache_validate,
								      [ACTION_CACHE_PUT] = commands_cache_put};
	return runs[s->o->action](s);
}

enum status cmd_cache(const struct options *o)
{
	struct cache_command s = {.a = arena_new(0), .o = o, .json = o->format == PRINT_JSON};
	enum status status = project_cache_config(s.a, o, &s.config);
	if (status == STATUS_OK) {
		s.open = cache_config_options(s.a, &s.config);
		status = cache_run(&s);
		cache_close(s.cache, NULL);
	}
	arena_free(s.a);
	return status;
}
