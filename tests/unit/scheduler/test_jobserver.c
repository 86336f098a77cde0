#include "scheduler/jobserver.h"
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "scheduler/cancel.h"
#include "scheduler/pool.h"

static struct makeflags parse(struct arena *a, const char *text) { return makeflags_parse(a, text); }

static void flags_as_make_writes_them(void **state)
{
	struct arena *a = arena_new(0);
	struct makeflags m;

	assert_int_equal(parse(a, NULL).kind, JOBSERVER_NONE);
	assert_int_equal(parse(a, "").kind, JOBSERVER_NONE);
	assert_int_equal(parse(a, "kw").kind, JOBSERVER_NONE);
	m = parse(a, " -j3 --jobserver-auth=3,4"); /* make 4.2 and 4.3 */
	assert_int_equal(m.kind, JOBSERVER_PIPE);
	assert_int_equal(m.read_fd, 3);
	assert_int_equal(m.write_fd, 4);
	assert_false(m.dry_run);
	assert_int_equal(parse(a, " --jobserver-fds=5,6 -j").kind, JOBSERVER_PIPE);              /* 4.1 */
	m = parse(a, "kn -j8 --jobserver-auth=fifo:/tmp/a\\ b/GMfifo12 --jobserver-style=fifo"); /* 4.4 */
	assert_int_equal(m.kind, JOBSERVER_FIFO);
	assert_string_equal(m.path, "/tmp/a b/GMfifo12");
	assert_true(m.dry_run);
	assert_false(parse(a, "--no-print-directory -j2 --jobserver-auth=3,4").dry_run);
	assert_false(parse(a, "NAME=n").dry_run);
	arena_free(a);
}

static void the_last_one_counts(void **state)
{
	struct arena *a = arena_new(0);
	struct makeflags m = parse(a, "j --jobserver-auth=3,4 --jobserver-auth=fifo:/x --jobserver-auth=7,8");

	assert_int_equal(m.kind, JOBSERVER_PIPE);
	assert_int_equal(m.read_fd, 7);
	assert_int_equal(parse(a, " --jobserver-auth=3,4 --jobserver-auth=-2,-2").kind, JOBSERVER_NONE); /* not for this process */
	assert_int_equal(parse(a, " --jobserver-auth=3,4 -- X=--jobserver-auth=5,6").read_fd, 3);
	assert_int_equal(parse(a, " -j2 -- X=\\ --jobserver-auth=5,6").kind, JOBSERVER_NONE);
	arena_free(a);
}

static void damaged_flags_are_none(void **state)
{
	static const char *const texts[] = {"--jobserver-auth=",
					    "--jobserver-auth=3",
					    "--jobserver-auth=3,",
					    "--jobserver-auth=3,4x",
					    "--jobserver-auth=,4",
					    "--jobserver-auth=fifo:",
					    "--jobserver-auth=99999999999,4",
					    "--jobserver-authx=3,4",
					    "\\",
					    "--jobserver-auth=3;4"};
	struct arena *a = arena_new(0);

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(parse(a, texts[i]).kind, JOBSERVER_NONE);
	arena_free(a);
}

/* What a child that got our MAKEFLAGS can take: as another process, since one has one connection. */
static int tokens_in_a_child(const struct jobserver *server)
{
	struct buf flags = {0};
	int status;
	pid_t child;

	jobserver_export(server, &flags);
	child = fork();
	if (child == 0) {
		struct arena *a = arena_new(0);
		struct makeflags m = makeflags_parse(a, flags.at);
		const char *why;
		struct jobserver *j = jobserver_connect(&m, &why);
		int n = 0;

		for (char token; j && n < 100 && jobserver_take(j, &token);)
			n++;
		jobserver_close(j); /* returns them */
		_exit(j ? n : 200);
	}
	buf_free(&flags);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void serve_and_connect(enum jobserver_kind kind)
{
	struct jobserver *j = jobserver_serve(5, kind);
	char tokens[4], more;

	assert_non_null(j);
	assert_true(jobserver_fd(j) >= 0);
	assert_int_equal(tokens_in_a_child(j), 4);
	assert_int_equal(tokens_in_a_child(j), 4); /* it gave them back */
	for (int i = 0; i < 3; i++)
		assert_true(jobserver_take(j, &tokens[i]));
	assert_int_equal(tokens_in_a_child(j), 1);
	assert_true(jobserver_take(j, &tokens[3]));
	assert_false(jobserver_take(j, &more)); /* and does not block */
	jobserver_return(j, tokens[0]);
	assert_int_equal(tokens_in_a_child(j), 1);
	jobserver_abandon();                    /* as a signal handler would */
	assert_false(jobserver_take(j, &more)); /* or another thread would lose it at the process's death */
	assert_int_equal(tokens_in_a_child(j), 4);
	for (int i = 1; i < 4; i++)
		jobserver_return(j, tokens[i]); /* too late: not twice */
	assert_int_equal(tokens_in_a_child(j), 4);
	jobserver_close(j);
	jobserver_close(NULL);
}

static void pipes(void **state) { serve_and_connect(JOBSERVER_PIPE); }

static void fifos(void **state) { serve_and_connect(JOBSERVER_FIFO); }

/* Two tokens went with a command that was killed; one is on loan. */
static void lost_tokens_are_made_up_for(void **state)
{
	struct jobserver *j = jobserver_serve(6, JOBSERVER_PIPE);
	struct buf flags = {0};
	struct makeflags m;
	struct arena *a = arena_new(0);
	char tokens[2], token;
	int lost;

	jobserver_export(j, &flags);
	m = makeflags_parse(a, flags.at);
	lost = (int)read(m.read_fd, tokens, 2);
	assert_int_equal(lost, 2);
	assert_true(jobserver_take(j, &token));
	assert_int_equal(tokens_in_a_child(j), 2);
	jobserver_restock(j);
	assert_int_equal(tokens_in_a_child(j), 4);
	jobserver_return(j, token);
	assert_int_equal(tokens_in_a_child(j), 5);
	jobserver_restock(NULL);
	jobserver_close(j);
	buf_free(&flags);
	arena_free(a);
}

static void what_cannot_be_used(void **state)
{
	const char *why = NULL;
	int null = open("/dev/null", O_RDWR);
	struct makeflags none = {.kind = JOBSERVER_NONE}, closed = {JOBSERVER_PIPE, 1000, 1001, NULL, false},
			 file = {JOBSERVER_PIPE, null, null, NULL, false}, gone = {JOBSERVER_FIFO, 0, 0, "/nowhere/fifo", false},
			 plain = {JOBSERVER_FIFO, 0, 0, "/dev/null", false};

	assert_null(jobserver_connect(&none, &why));
	assert_null(why);
	assert_null(jobserver_connect(&closed, &why));
	assert_non_null(strstr(why, "+"));
	assert_null(jobserver_connect(&file, &why));
	assert_non_null(why);
	assert_null(jobserver_connect(&gone, &why));
	assert_non_null(why);
	assert_null(jobserver_connect(&plain, &why));
	assert_non_null(why);
	close(null);
}

/* ---- a pool under a jobserver ---- */

struct count {
	atomic_int now, most, ran;
	int slow_us; /* what a task takes, so that tasks meet */
};

static bool task(void *arg, struct task_run *run)
{
	struct count *c = arg;
	int now = atomic_fetch_add(&c->now, 1) + 1, most = atomic_load(&c->most);

	(void)run;
	while (now > most && !atomic_compare_exchange_weak(&c->most, &most, now))
		continue;
	if (c->slow_us)
		nanosleep(&(struct timespec){.tv_nsec = c->slow_us * 1000}, NULL);
	atomic_fetch_add(&c->ran, 1);
	atomic_fetch_sub(&c->now, 1);
	return true;
}

static void run_tasks(struct pool *p, struct count *c, int n, struct cancel *cancel)
{
	struct task_result r;

	for (int i = 0; i < n; i++)
		pool_submit(p, &(struct task_spec){.run = task, .arg = c, .cancel = cancel});
	while (pool_wait(p, -1, &r))
		if (cancel && atomic_load(&c->ran) > n / 3)
			cancel_set(cancel);
}

static void never_more_than_tokens(void **state)
{
	for (uint32_t jobs = 1; jobs <= 4; jobs++) {
		struct jobserver *j = jobserver_serve(jobs, jobs % 2 ? JOBSERVER_PIPE : JOBSERVER_FIFO);
		struct pool *p = pool_new(6, &(struct pool_limits){.jobserver = j});
		struct count c = {.slow_us = 500};
		struct cancel cancel = {0};

		run_tasks(p, &c, 200, NULL);
		assert_int_equal(atomic_load(&c.ran), 200);
		assert_int_equal(atomic_load(&c.most), jobs); /* all of them, and no more */
		c.slow_us = 0;
		run_tasks(p, &c, 3000, NULL);
		assert_int_equal(atomic_load(&c.most), jobs);
		run_tasks(p, &c, 3000, &cancel);
		pool_free(p);
		assert_int_equal(tokens_in_a_child(j), jobs - 1);
		jobserver_close(j);
	}
}

/* Another process takes all tokens for a while: with none left the pool goes on alone, and with all back it uses them. */
static void tokens_come_and_go(void **state)
{
	struct jobserver *j = jobserver_serve(4, JOBSERVER_FIFO);
	struct pool *p = pool_new(4, &(struct pool_limits){.jobserver = j});
	struct count c = {.slow_us = 1000};
	struct buf flags = {0};
	struct task_result r;
	char *path;
	char tokens[3];
	int other, got;

	jobserver_export(j, &flags);
	path = strstr(flags.at, "fifo:") + 5;
	other = os_open_fifo(path, true);
	assert_int_equal(got = (int)read(other, tokens, 3), 3);
	for (int i = 0; i < 400; i++)
		pool_submit(p, &(struct task_spec){.run = task, .arg = &c});
	for (int i = 0; i < 50; i++)
		assert_true(pool_wait(p, -1, &r));
	assert_int_equal(atomic_load(&c.most), 1);
	assert_int_equal(write(other, tokens, 3), 3);
	while (pool_wait(p, -1, &r))
		continue;
	assert_int_equal(atomic_load(&c.most), 4);
	pool_free(p);
	close(other);
	buf_free(&flags);
	jobserver_close(j);
}

/* The load of a machine is not ours to choose, but a limit far below any and one far above are. */
static void load_limits(void **state)
{
	struct pool *p = pool_new(4, &(struct pool_limits){.load = 1e-9});
	struct count c = {.slow_us = 300};

	run_tasks(p, &c, 50, NULL);
	assert_int_equal(atomic_load(&c.ran), 50);
	if (os_load_average() > 1e-9)
		assert_int_equal(atomic_load(&c.most), 1);
	pool_free(p);
	p = pool_new(4, &(struct pool_limits){.load = 1e5});
	run_tasks(p, &c, 200, NULL);
	assert_true(atomic_load(&c.most) > 1);
	pool_free(p);
}

int test_jobserver(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_as_make_writes_them),
		cmocka_unit_test(the_last_one_counts),
		cmocka_unit_test(damaged_flags_are_none),
		cmocka_unit_test(pipes),
		cmocka_unit_test(fifos),
		cmocka_unit_test(lost_tokens_are_made_up_for),
		cmocka_unit_test(what_cannot_be_used),
		cmocka_unit_test(never_more_than_tokens),
		cmocka_unit_test(tokens_come_and_go),
		cmocka_unit_test(load_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
