/* The command line. */
#include "backend/plan/figures.h"
#include "builder/cli/args.h"
#include "tests/unit/unit.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/cli/help.h"
#include "builder/manifest/manifest.h"

static struct arena *arena;
static struct args args;
static struct buf error;

static int setup(void **state)
{
	arena = arena_new(0);
	return 0;
}

static int teardown(void **state)
{
	arena_free(arena);
	buf_free(&error);
	return 0;
}

static bool parse(const char *line)
{
	char *copy = arena_strdup(arena, line), *argv[16] = {"trib"}, *save;
	int argc = 1;
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	buf_clear(&error);
	return args_parse(arena, argc, argv, &args, &error);
}

static void commands(void **state)
{
	assert_true(parse(""));
	assert_int_equal(args.command, COMMAND_BUILD);
	assert_false(args.names_a_command);
	assert_true(parse("check a.tri b.tri"));
	assert_int_equal(args.command, COMMAND_CHECK);
	assert_int_equal(args.options.n_operands, 2);
	assert_string_equal(args.options.operands[1], "b.tri");
	assert_true(parse("-C dir build x"));
	assert_int_equal(args.command, COMMAND_BUILD);
	assert_string_equal(args.options.directory, "dir");
	assert_string_equal(args.options.operands[0], "x");
	assert_true(parse("zzzz"));
	assert_int_equal(args.command, COMMAND_BUILD);
	assert_true(parse("--version"));
	assert_true(args.options.version);
	assert_true(parse("help run"));
	assert_true(args.options.help);
	assert_int_equal(args.command, COMMAND_RUN);
	assert_false(parse("biuld"));
	assert_non_null(strstr(error.at, "`build`"));
}

static void flags(void **state)
{
	assert_true(parse("build -j4 -kv -O2 --cpu=native --target x86_64-linux --message-format=json"));
	assert_int_equal(args.options.jobs, 4);
	assert_int_equal(args.options.most_failures, 0);
	assert_true(parse("-k 3 build"));
	assert_int_equal(args.options.most_failures, 3);
	assert_true(parse("build -k2 -l 1.5"));
	assert_int_equal(args.options.most_failures, 2);
	assert_true(args.options.load > 1.4 && args.options.load < 1.6);
	assert_true(parse("build -k model")); /* a model, no number */
	assert_int_equal(args.options.n_operands, 1);
	assert_int_equal(args.options.most_failures, 0);
	assert_true(parse("build --keep-going=0"));
	assert_int_equal(args.options.most_failures, 0);
	assert_false(parse("build --keep-going=x"));
	assert_false(parse("build -l 0"));
	assert_false(parse("build -l"));
	assert_true(parse("build"));
	assert_int_equal(args.options.most_failures, -1);
	assert_true(parse("build -j4 -kv -O2 --cpu=native --target x86_64-linux --message-format=json"));
	assert_int_equal(args.options.verbose, 1);
	assert_int_equal(args.options.opt, 2);
	assert_string_equal(args.options.cpu, "native");
	assert_string_equal(args.options.target, "x86_64-linux");
	assert_int_equal(args.options.json, 1);
	assert_int_equal(args.options.timing, -1);
	assert_true(parse("-Os --jobs 3"));
	assert_int_equal(args.options.opt, MANIFEST_OPT_SIZE);
	assert_int_equal(args.options.jobs, 3);
	assert_true(parse("--dump-loops --stop-after=ir"));
	assert_int_equal(args.options.dumps, 1u << DUMP_LOOPS);
	assert_int_equal(args.options.stop, STOP_IR);
	assert_true(parse("--dump-ast --dump-ir"));
	assert_int_equal(args.options.dumps, 1u << DUMP_AST | 1u << DUMP_IR);
	assert_null(args.options.ir_after);
	assert_true(parse("--dump-ir model"));
	assert_string_equal(args.options.operands[0], "model");
	assert_true(parse("--dump-ir=fold --dump-loops=merge --stop-after=inline"));
	assert_int_equal(args.options.dumps, 1u << DUMP_IR | 1u << DUMP_LOOPS);
	assert_string_equal(args.options.ir_after, "fold");
	assert_string_equal(args.options.loops_after, "merge");
	assert_int_equal(args.options.stop, STOP_PASS + FIRST_TENSOR_PASS);
	assert_true(parse("--dump-program=states"));
	assert_string_equal(args.options.program_after, "states");
	assert_true(parse("run m --input x=a.npy --input y=b.npy --output out=c.npy"));
	assert_int_equal(args.options.n_inputs, 2);
	assert_string_equal(args.options.run.outputs[0], "out=c.npy");
	assert_true(parse("build -- -odd"));
	assert_string_equal(args.options.operands[0], "-odd");
}

static void refuses(const char *line, const char *word)
{
	assert_false(parse(line));
	if (!strstr(error.at, word))
		fail_msg("`%s` does not say `%s`", error.at, word);
}

static void mistakes(void **state)
{
	refuses("build --job 2", "--jobs");
	refuses("build -j x", "positive number");
	refuses("build -j0", "positive number");
	refuses("build -j", "wants a value");
	refuses("build -O9", "0, 1, 2, 3 or s");
	refuses("build --emit=libary", "libary");
	refuses("build --stop-after=lexer", "lex");
	refuses("build --stop-after=merg", "did you mean `merge`?");
	refuses("build --dump-ir=fuld", "did you mean `fold`?");
	refuses("build --dump-loops=fold", "--dump-loops wants build");
	refuses("build --message-format=xml", "human or json");
	refuses("build --explain=yes", "takes no value");
	refuses("check --input x=a", "no flag");
	refuses("build --out a --out b", "--out is given twice");
	refuses("build -n -n", "--dry-run is given twice");
	refuses("check -O2", "no flag");
	refuses("build -z", "no flag");
}

static void help_fits_a_screen(void **state)
{
	static const char *const lines[] = {"--help", "build --help", "run --help", "check --help", "clean --help", "version --help"};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct buf text = {0};
		uint32_t rows = 0;
		assert_true(parse(lines[i]));
		args_help(&args, &text);
		for (const char *s = text.at; *s; rows++) {
			size_t n = strcspn(s, "\n");
			if (n > 84) /* bytes; some are parts of one character */
				fail_msg("too wide: %.*s", (int)n, s);
			s += n + (s[n] == '\n');
		}
		assert_in_range(rows, 3, 44);
		buf_free(&text);
	}
}

int test_args(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(commands), cmocka_unit_test(flags), cmocka_unit_test(mistakes),
					   cmocka_unit_test(help_fits_a_screen)};
	return cmocka_run_group_tests(tests, setup, teardown);
}
