#include "builder/lib/build_request.h"
#include <stdbool.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/path.h"

static void put_word(struct buf *out, const char *flag, const char *value)
{
	buf_puts(out, flag);
	buf_puts(out, value);
	buf_putc(out, 0);
}

static void build_request_put_value(struct buf *out, const char *flag, const char *value)
{
	if (value)
		put_word(out, flag, value);
}

static void put_flag(struct buf *out, const char *flag, bool set)
{
	if (set)
		put_word(out, flag, "");
}

const char *build_request_check(const tri_build_options *o, struct arena *a)
{
	if (o->level && (o->level < 0 || o->level > 127 || !strchr("0123s", o->level)))
		return "`level` is none of '0', '1', '2', '3' and 's'";
	if (o->messages < TRI_BUILD_WARNINGS || o->messages > TRI_BUILD_EXPLAIN)
		return "`messages` is no enum tri_build_messages";
	for (uint32_t i = 0; i < o->n_models; i++)
		if (!o->models || !o->models[i] || !*o->models[i])
			return "`models` has a name that is NULL or empty";
		else if (path_has_extension(o->models[i], "tri"))
			return arena_printf(a, "`%s` is a file, but `models` are names of tri.build", o->models[i]);
	return NULL;
}

void build_request_put(const tri_build_options *o, const char *profile_path, struct buf *out)
{
	put_word(out, "trib", "");
	put_word(out, "build", "");
	put_word(out, "--message-format=json", "");
	if (o->jobs)
		buf_printf(out, "-j%u", o->jobs), buf_putc(out, 0);
	if (o->level)
		buf_printf(out, "-O%c", o->level), buf_putc(out, 0);
	build_request_put_value(out, "--target=", o->target);
	build_request_put_value(out, "--cpu=", o->cpu);
	build_request_put_value(out, "--out=", o->out);
	build_request_put_value(out, "--cache-dir=", o->cache_dir);
	build_request_put_value(out, "--profile=", o->manifest_profile);
	build_request_put_value(out, "--profile-out=", profile_path);
	put_flag(out, "--no-cache", o->no_cache);
	put_flag(out, "--locked", o->locked);
	put_flag(out, "--offline", o->offline);
	put_flag(out, "--deny-warnings", o->deny_warnings);
	put_flag(out, "--explain", o->messages == TRI_BUILD_EXPLAIN);
	put_word(out, "--", "");
	for (uint32_t i = 0; i < o->n_models; i++)
		put_word(out, o->models[i], "");
}
