/* The steps of a build on files in memory: what an edit compiles, and why. Nothing is compiled; a unit that would be gets an object of
 * one byte. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <unistd.h>
#include "base/buf.h"
#include "builder/build/build_steps.h"
#include "builder/build/link.h"
#include "builder/build/progress.h"
#include "builder/build/session.h"
#include "builder/cli/args.h"
#include "builder/store/inputs.h"
#include "builder/store/store.h"
#include "fake_disk.h"

#define MANIFEST "project p\n    version = 1.0\n\nmodel net\n    sources = src/*.tri\n    entry = Net\n    input x = float32 [?, 8]\n"
#define BLOCKS(constant)                                                                                        \
	"fn scale(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n    return x * " constant "\n}\n\n" \
	"fn squash(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n    return sigmoid(x) - 0.5\n}\n"
#define NET                                                                                                                           \
	"import \"blocks.tri\" as blocks\n\nlayer Net() {\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n" \
	"        return blocks.squash(blocks.scale(x))\n    }\n}\n"

struct fixture {
	char dir[64];
	struct fake_disk files;
	struct disk disk;
	struct arena *arena;
	struct args args;
	struct session session; /* its fragments take the place of the user's cache */
};

/* What one build did. */
struct outcome {
	enum build_record_state state;
	char why_stale[128], why[4][128]; /* why: of each compiled unit, "scale: …" */
	uint32_t compiled, reused, n_read;
	bool ok, by_tokens; /* by_tokens: the comparison of tokens ended the build */
};

static int setup(void **state)
{
	static char *words[] = {"trib", "build", "-q", "-j1", "--no-cache", NULL};
	struct fixture *f = calloc(1, sizeof *f);
	struct buf error = {0};
	f->disk = fake_disk(&f->files);
	f->arena = arena_new(0);
	f->session.fragments = fragments_new();
	strcpy(f->dir, "/tmp/trib-steps-XXXXXX");
	if (!mkdtemp(f->dir) || chdir(f->dir) || !args_parse(f->arena, 5, words, &f->args, &error))
		return -1;
	fake_write(&f->files, "tri.build", MANIFEST);
	fake_write(&f->files, "src/blocks.tri", BLOCKS("2.0"));
	fake_write(&f->files, "src/net.tri", NET);
	fake_wait(&f->files);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	bool ok = chdir("/") == 0 && os_remove_tree(f->dir);
	session_free(&f->session);
	arena_free(f->arena);
	free(f);
	return ok ? 0 : -1;
}

static bool run_front_end(struct build *b)
{
	struct build_context *c = &b->context;
	struct project *p = &b->project;
	return context_next(c, project_read_manifest(c, p)) && context_next(c, sources_load(c, p)) &&
	       context_next(c, last_build_compare_tokens(c, p, &b->last, &b->repository, &b->result)) &&
	       context_next(c, sources_check(c, p)) && context_next(c, params_open_files(c, p)) &&
	       context_next(c, sources_elaborate(c, p)) && context_next(c, params_bind(c, p));
}

static bool run_back_end(struct build *b)
{
	struct build_context *c = &b->context;
	struct project *p = &b->project;
	return context_next(c, workers_start(c, &p->spec, &b->progress)) && context_next(c, units_plan(c, p, &b->result)) &&
	       context_next(c, compile_set_find(c, p, &b->repository, &b->compiles, &b->result));
}

/* In place of compiling and linking. */
static void publish(struct fixture *f, struct build *b, struct outcome *out)
{
	for (uint32_t i = 0; i < b->compiles.list.len; i++) {
		struct compile *one = b->compiles.list.at[i];
		if (one->object)
			continue;
		if (out->compiled < 4)
			snprintf(out->why[out->compiled++], sizeof out->why[0], "%s: %s", one->label, one->why.text);
		one->object = "o";
		one->len = 1;
	}
	for (uint32_t i = 0; i < b->project.n_models; i++) {
		const char *paths[MOST_OUTPUTS];
		uint32_t n = model_list_outputs(&b->project.models[i].outputs, paths);
		for (uint32_t k = 0; k < n && !b->project.models[i].link.is_current; k++)
			fake_write(&f->files, arena_strdup(f->arena, paths[k]), "made");
		for (uint32_t k = 0; k < n; k++)
			vec_push(&b->result.outputs, paths[k]);
		link_record_save(&b->project.models[i]);
	}
	compile_set_retain(&b->context, &b->project, &b->compiles, true);
	unit_records_save(&b->context, &b->project);
	checks_save(&b->context, &b->project);
	last_build_save(&b->context, &b->project, &b->last, &b->repository, &b->result);
}

static struct outcome build(struct fixture *f)
{
	struct outcome out = {0};
	const struct build_request request = {.options = &f->args.options, .out = stdout, .err = stderr, .disk = &f->disk};
	struct build b = {.context = context_new(&f->session, request)};
	b.context.stores.project = store_open(f->dir, true, &b.context.stores.warnings);
	b.context.stores.compiler = (hash128){1, 2};
	f->files.n_read = 0;
	b.last = last_build_find(&b.context, &b.result);
	out.ok = b.context.done;
	if (!out.ok && run_front_end(&b) && run_back_end(&b)) {
		publish(f, &b, &out);
		out.ok = true;
	} else if (!out.ok) {
		out.ok = out.by_tokens = b.context.done;
	}
	out.n_read = f->files.n_read;
	out.state = b.last.state;
	out.reused = b.result.reused;
	snprintf(out.why_stale, sizeof out.why_stale, "%s", b.last.why_stale ? b.last.why_stale : "");
	stores_close_project(&b.context.stores);
	project_free(&b.project);
	compile_set_free(&b.compiles);
	progress_free(b.progress);
	vec_free(&b.result.outputs);
	context_free(&b.context);
	fake_wait(&f->files);
	return out;
}

static void test_first_build_compiles_everything(void **state)
{
	struct outcome out = build(*state);
	assert_true(out.ok);
	assert_int_equal(out.state, RECORD_NONE);
	assert_string_equal(out.why_stale, "there is no record of an earlier build");
	assert_int_equal(out.compiled, 3);
	assert_non_null(strstr(out.why[0], ": new"));
}

static void test_nothing_changed_reads_nothing(void **state)
{
	build(*state);
	struct outcome out = build(*state);
	assert_int_equal(out.state, RECORD_FRESH);
	assert_int_equal(out.n_read, 0);
}

static void test_touched_file_compiles_nothing(void **state)
{
	struct fixture *f = *state;
	build(f);
	fake_write(&f->files, "src/blocks.tri", BLOCKS("2.0"));
	fake_wait(&f->files);
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_FRESH);
	assert_int_equal(out.n_read, 1);
	assert_int_equal(build(f).n_read, 0); /* the new stamp was recorded */
}

static void test_old_time_stamp_hides_no_change(void **state)
{
	struct fixture *f = *state;
	build(f);
	fake_write(&f->files, "src/blocks.tri", BLOCKS("3.0"));
	fake_set_stamp(&f->files, fake_find(&f->files, "src/blocks.tri"), 5 * FAKE_SECOND); /* as tar and git restore it */
	fake_wait(&f->files);
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_SOURCES);
	assert_string_equal(out.why_stale, "src/blocks.tri changed");
	assert_int_equal(out.compiled, 1);
}

/* A file that was written within the tick of its stamp may be written again under the same stamp. */
static void test_young_stamp_is_not_trusted(void **state)
{
	struct fixture *f = *state;
	fake_write(&f->files, "src/blocks.tri", BLOCKS("2.0"));
	build(f);
	assert_int_equal(build(f).n_read, 1);
	assert_int_equal(build(f).n_read, 0);
}

static void test_explain_names_the_changed_definition(void **state)
{
	struct fixture *f = *state;
	build(f);
	fake_write(&f->files, "src/blocks.tri", BLOCKS("3.0"));
	fake_wait(&f->files);
	struct outcome out = build(f);
	assert_int_equal(out.compiled, 1);
	assert_non_null(strstr(out.why[0], "compile scale"));
	assert_non_null(strstr(out.why[0], "its body changed (src/blocks.tri:1)"));
}

static void test_comment_ends_the_build(void **state)
{
	struct fixture *f = *state;
	build(f);
	fake_write(&f->files, "src/blocks.tri", BLOCKS("2.0") "# A comment.\n");
	fake_wait(&f->files);
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_SOURCES);
	assert_true(out.by_tokens);
	assert_int_equal(out.compiled, 0);
	assert_int_equal(out.reused, 3);
	assert_int_equal(build(f).state, RECORD_FRESH);
	fake_write(&f->files, "src/blocks.tri", "# A comment that moves lines.\n" BLOCKS("2.0"));
	fake_wait(&f->files);
	out = build(f);
	assert_false(out.by_tokens);
	assert_int_equal(out.compiled, 0);
}

static void test_new_file_makes_the_record_stale(void **state)
{
	struct fixture *f = *state;
	build(f);
	fake_write(&f->files, "src/more.tri", "fn unused(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {\n    return x\n}\n");
	fake_wait(&f->files);
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_STALE);
	assert_string_equal(out.why_stale, "src/*.tri changed");
}

static void test_changed_output_is_made_again(void **state)
{
	struct fixture *f = *state;
	build(f);
	fake_write(&f->files, "build/libnet.so", "another");
	fake_wait(&f->files);
	struct outcome out = build(f);
	assert_int_equal(out.state, RECORD_STALE);
	assert_string_equal(out.why_stale, "build/libnet.so is missing or was changed");
	assert_string_equal(fake_find(&f->files, "build/libnet.so")->text, "made");
}

/* The build fails, records nothing, and the next one sees the file. */
static void test_file_that_is_removed_while_it_is_read(void **state)
{
	struct fixture *f = *state;
	build(f);
	fake_write(&f->files, "src/blocks.tri", BLOCKS("3.0"));
	fake_wait(&f->files);
	fake_find(&f->files, "src/blocks.tri")->vanishes = true;
	assert_false(build(f).ok);
	fake_write(&f->files, "src/blocks.tri", BLOCKS("3.0"));
	fake_wait(&f->files);
	struct outcome out = build(f);
	assert_true(out.ok);
	assert_int_equal(out.compiled, 1);
}

static void test_load_reads_a_file_once(void **state)
{
	struct fixture *f = *state;
	struct session session = {0};
	struct build_context c =
		context_new(&session, (struct build_request){.options = &f->args.options, .out = stdout, .err = stderr, .disk = &f->disk});
	const struct source *s = context_load(&c, "src/net.tri");
	assert_non_null(s);
	assert_ptr_equal(context_load(&c, "src/net.tri"), s);
	assert_ptr_equal(context_find_source(&c, "src/net.tri"), s);
	assert_int_equal(f->files.n_read, 1);
	for (int i = 0; i < 2; i++) {
		errno = 0;
		assert_null(context_load(&c, "src/absent.tri"));
		assert_int_equal(errno, ENOENT);
	}
	const struct input *in = inputs_find(c.inputs, INPUT_FILE, "src/absent.tri");
	assert_true(in && hash_is_zero(in->content) && in->stamp.mtime_ns == 0);
	context_free(&c);
	session_free(&session);
}

int test_build_steps(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_build_compiles_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_changed_reads_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_touched_file_compiles_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_time_stamp_hides_no_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_young_stamp_is_not_trusted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_explain_names_the_changed_definition, setup, teardown),
		cmocka_unit_test_setup_teardown(test_comment_ends_the_build, setup, teardown),
		cmocka_unit_test_setup_teardown(test_new_file_makes_the_record_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed_output_is_made_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_that_is_removed_while_it_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_load_reads_a_file_once, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
