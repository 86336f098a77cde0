/* Options of a program as the words of a command line. */
#include "builder/lib/build_request.h"
#include "tests/unit/unit.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/cli/args.h"

/* The words with blanks between them. */
static void puts_words(const tri_build_options *o, const char *profile, const char *expected)
{
	struct buf out = {0};
	build_request_put(o, profile, &out);
	assert_int_equal(out.at[out.len - 1], 0);
	for (size_t i = 0; i + 1 < out.len; i++)
		out.at[i] = out.at[i] ? out.at[i] : ' ';
	assert_string_equal(out.at, expected);
	buf_free(&out);
}

static void zero_options_are_no_flags(void **state) { puts_words(&(tri_build_options){0}, NULL, "trib build --message-format=json --"); }

/* The words are parsed by the command line of the process. */
static void command_line_takes_the_words(void **state)
{
	static const char *const models[] = {"net"};
	const tri_build_options o = {.jobs = 3,
				     .models = models,
				     .n_models = 1,
				     .level = '2',
				     .target = "native",
				     .out = "o",
				     .cache_dir = "c",
				     .messages = TRI_BUILD_EXPLAIN,
				     .no_cache = 1,
				     .locked = 1,
				     .deny_warnings = 1};
	struct arena *a = arena_new(0);
	struct buf words = {0}, error = {0};
	struct args args;
	char *argv[32];
	int argc = 0;
	build_request_put(&o, "p.json", &words);
	for (char *s = words.at; s < words.at + words.len; s += strlen(s) + 1)
		argv[argc++] = s;
	argv[argc] = NULL;
	assert_true(args_parse(a, argc, argv, &args, &error));
	assert_true(args.options.jobs == 3 && args.options.opt == 2 && args.options.json == 1 && args.options.explain == 1);
	assert_true(args.options.no_cache == 1 && args.options.locked && args.options.deny_warnings && args.options.n_operands == 1);
	assert_string_equal(args.options.profile_out, "p.json");
	buf_free(&words);
	buf_free(&error);
	arena_free(a);
}

static void checks(tri_build_options o, const char *expected)
{
	struct arena *a = arena_new(0);
	const char *error = build_request_check(&o, a);
	if (expected)
		assert_string_equal(error, expected);
	else
		assert_null(error);
	arena_free(a);
}

static void values_outside_of_their_range_are_refused(void **state)
{
	checks((tri_build_options){0}, NULL);
	checks((tri_build_options){.level = 's'}, NULL);
	for (int32_t level = -300; level < 300; level++)
		if (level && (level < '0' || level > '3') && level != 's')
			checks((tri_build_options){.level = level}, "`level` is none of '0', '1', '2', '3' and 's'");
	checks((tri_build_options){.messages = TRI_BUILD_EXPLAIN}, NULL);
	checks((tri_build_options){.messages = TRI_BUILD_EXPLAIN + 1}, "`messages` is no enum tri_build_messages");
	checks((tri_build_options){.messages = -1}, "`messages` is no enum tri_build_messages");
}

static void models_are_names(void **state)
{
	static const char *const hole[] = {"net", NULL}, *const empty[] = {""}, *const file[] = {"net.tri"}, *const good[] = {"net"};
	checks((tri_build_options){.models = good, .n_models = 1}, NULL);
	checks((tri_build_options){.models = NULL, .n_models = 1}, "`models` has a name that is NULL or empty");
	checks((tri_build_options){.models = hole, .n_models = 2}, "`models` has a name that is NULL or empty");
	checks((tri_build_options){.models = empty, .n_models = 1}, "`models` has a name that is NULL or empty");
	checks((tri_build_options){.models = file, .n_models = 1}, "`net.tri` is a file, but `models` are names of tri.build");
}

int test_build_request(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_options_are_no_flags),
		cmocka_unit_test(command_line_takes_the_words),
		cmocka_unit_test(values_outside_of_their_range_are_refused),
		cmocka_unit_test(models_are_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
