#include "builder/profile/process.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/os.h"
#include "base/vec.h"
#include "builder/profile/statistics.h"

enum { WATCH_MS = 1 };

extern char **environ;

/* ---- instructions ---- */

/* Counts those of children from now on, in user mode. -1: the kernel does not let us. */
static int open_instructions(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_HW_INSTRUCTIONS,
				       .inherit = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static double read_instructions(int fd)
{
	uint64_t n = 0;
	return fd >= 0 && read(fd, &n, sizeof n) == sizeof n ? (double)n : 0;
}

bool process_can_count_instructions(void)
{
	int fd = open_instructions();
	double before = read_instructions(fd);
	for (volatile uint32_t i = 0; i < 1000; i++)
		;
	bool ok = fd >= 0 && read_instructions(fd) > before;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* ---- the process ---- */

static bool is_same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");
	return strncmp(a, b, n) == 0 && b[n] == '=';
}

/* Returns the environment of this process with other values of some variables, malloc'd. */
static char **make_environment(const char *const *variables)
{
	VEC(char *) list = {0};
	for (char **e = environ; *e; e++) {
		bool replaced = false;
		for (const char *const *v = variables; v && *v; v++)
			replaced |= is_same_name(*v, *e);
		if (!replaced)
			vec_push(&list, *e);
	}
	for (const char *const *v = variables; v && *v; v++)
		vec_push(&list, (char *)(uintptr_t)*v);
	vec_push(&list, NULL);
	return list.at;
}

static int process_spawn(const struct process_request *r, int messages, pid_t *pid)
{
	posix_spawn_file_actions_t io;
	char **environment = make_environment(r->variables);
	posix_spawn_file_actions_init(&io);
	posix_spawn_file_actions_addopen(&io, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&io, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&io, messages, STDERR_FILENO);
	int e = posix_spawnp(pid, r->argv[0], &io, NULL, (char *const *)(uintptr_t)r->argv, environment);
	posix_spawn_file_actions_destroy(&io);
	free(environment);
	return e;
}

static void watch_memory(pid_t pid, struct process_cost *cost)
{
	uint64_t bytes = os_private_dirty_bytes(pid);
	cost->private_dirty_bytes = bytes > cost->private_dirty_bytes ? bytes : cost->private_dirty_bytes;
}

/* Reads until all writers have ended. An interrupt ends the process. */
static void read_messages(int fd, pid_t pid, bool watches, struct process_cost *cost, struct buf *out)
{
	char bytes[4096];
	bool ended = false;
	for (;;) {
		struct pollfd p = {fd, POLLIN, 0};
		if (os_interrupted() && !ended) {
			kill(pid, SIGTERM);
			ended = true;
		}
		if (watches)
			watch_memory(pid, cost);
		if (poll(&p, 1, watches ? WATCH_MS : 100) <= 0)
			continue;
		ssize_t n = read(fd, bytes, sizeof bytes);
		if (n == 0 || (n < 0 && errno != EINTR))
			return;
		if (n > 0)
			buf_put(out, bytes, (size_t)n);
	}
}

/* The CPU time that all processes have used since the machine started, and what the host took from it: the fields of `cpu` in /proc/stat without idle
 * and iowait. */
static int64_t machine_busy_ns(void)
{
	char text[512];
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	unsigned long long user = 0, nice = 0, system = 0, idle = 0, waits = 0, irq = 0, softirq = 0, steal = 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &waits, &irq, &softirq, &steal);
	return (int64_t)(user + nice + system + irq + softirq + steal) * (1000000000 / sysconf(_SC_CLK_TCK));
}

static int64_t of_timeval(struct timeval t) { return (int64_t)t.tv_sec * 1000000000 + t.tv_usec * 1000; }

static bool process_wait_for(pid_t pid, int64_t began, struct process_cost *out)
{
	struct rusage used;
	int status;
	while (wait4(pid, &status, 0, &used) < 0)
		if (errno != EINTR)
			return false;
	out->wall_ns = os_now_ns() - began;
	out->cpu_ns = of_timeval(used.ru_utime) + of_timeval(used.ru_stime);
	out->peak_bytes = (uint64_t)used.ru_maxrss << 10;
	out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

static bool profile_process_run(const struct process_request *r, int ends[2], struct process_cost *out, struct buf *messages)
{
	pid_t pid;
	int counter = r->count_instructions ? open_instructions() : -1;
	double before = read_instructions(counter);
	int64_t busy = machine_busy_ns(), began = os_now_ns();
	int e = process_spawn(r, ends[1], &pid);
	close(ends[1]);
	ends[1] = -1;
	if (e)
		buf_printf(messages, "cannot start `%s`: %s", r->argv[0], strerror(e));
	else
		read_messages(ends[0], pid, r->watch_memory, out, messages);
	bool ok = !e && process_wait_for(pid, began, out);
	int64_t others = machine_busy_ns() - busy - out->cpu_ns;
	out->others_ns = others > 0 ? others : 0;
	out->instructions = read_instructions(counter) - before;
	if (counter >= 0)
		close(counter);
	return ok && !os_interrupted();
}

bool process_run(const struct process_request *r, struct process_cost *out, struct buf *messages)
{
	int ends[2];
	*out = (struct process_cost){0};
	if (pipe2(ends, O_CLOEXEC) != 0) {
		buf_printf(messages, "cannot make a pipe: %s", strerror(errno));
		return false;
	}
	bool ok = profile_process_run(r, ends, out, messages);
	close(ends[0]);
	return ok;
}

char *process_own_path(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n < 0)
		return NULL;
	path[n] = 0;
	return strdup(path);
}

#define WORDS ((uint32_t)1 << 14) /* 128 KiB: in a cache of the core, so that other processes cannot slow it down */
#define STEPS ((uint32_t)1 << 20)
#define RUNS 7

/* Dependent arithmetic that chooses the next word: neither can be removed, and it runs at the speed of one core. */
static uint64_t process_work(uint64_t *words)
{
	uint64_t x = 88172645463325252ull;
	for (uint32_t i = 0; i < STEPS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		words[x & (WORDS - 1)] += x;
	}
	return words[x & (WORDS - 1)];
}

int64_t calibrate_ns(void)
{
	uint64_t *words = alloc_zeroed(WORDS * sizeof *words);
	volatile uint64_t sink = process_work(words); /* touches the pages */
	double times[RUNS];
	for (uint32_t i = 0; i < RUNS; i++) {
		int64_t began = os_thread_cpu_ns();
		sink = process_work(words);
		times[i] = (double)(os_thread_cpu_ns() - began);
	}
	(void)sink;
	free(words);
	return (int64_t)statistics_quantile(times, RUNS, 0);
}
