/* Simulates the pool's policy on a virtual clock: the makespan of a task graph for 1 to 256 workers, and its lower bound. scheduler/graph.c and
 * scheduler/ready_queue.c run the graph, as in the pool; only the clock is virtual.
 *
 * simulate_pool FILE          a graph: a line a task, "NANOSECONDS INPUT…", inputs by line number from 0, above the line
 * simulate_pool --random N    N tasks like those of a program: definitions of many sizes that need some of those before them, linked at the end */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/vec.h"
#include "scheduler/graph.h"
#include "scheduler/ready_queue.h"

struct plan { /* tasks, inputs before their users */
	VEC(uint64_t) cost;
	VEC(uint32_t) first; /* inputs of task i: inputs[first[i] … first[i + 1]) */
	VEC(uint32_t) inputs;
};

static bool read_plan(const char *path, struct plan *p)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return false;
	while (getline(&line, &size, f) > 0) {
		char *at = line, *end;

		vec_push(&p->first, p->inputs.len);
		vec_push(&p->cost, strtoull(at, &at, 10));
		for (unsigned long input = strtoul(at, &end, 10); end != at && input + 1 < p->cost.len; input = strtoul(at, &end, 10)) {
			vec_push(&p->inputs, (uint32_t)input);
			at = end;
		}
	}
	vec_push(&p->first, p->inputs.len);
	free(line);
	fclose(f);
	return p->cost.len > 0;
}

static double uniform(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (double)((*seed >> 11) + 1) / (double)(1ull << 53);
}

/* Log-normal times around 4 ms, as compiling has; the inputs of a task are among the thousand before it, a tenth of them just before. */
static void random_plan(uint32_t n, struct plan *p)
{
	enum { NEAR = 1000, MOST_INPUTS = 4 };
	uint64_t seed = 1;

	for (uint32_t i = 0; i < n; i++) {
		double normal = sqrt(-2 * log(uniform(&seed))) * cos(6.283185307179586 * uniform(&seed));
		uint32_t inputs = i == n - 1 ? 0 : (uint32_t)(uniform(&seed) * MOST_INPUTS);

		vec_push(&p->first, p->inputs.len);
		vec_push(&p->cost, (uint64_t)(4e6 * exp(0.8 * normal)));
		for (uint32_t k = 0; i == n - 1 && k < i; k++)
			vec_push(&p->inputs, k);
		for (uint32_t k = 0; i > 0 && k < inputs; k++) {
			uint32_t back = uniform(&seed) < 0.1 ? 1 : 1 + (uint32_t)(uniform(&seed) * NEAR);

			vec_push(&p->inputs, back <= i ? i - back : 0);
		}
	}
	vec_push(&p->first, p->inputs.len);
}

static struct task *submit(const struct plan *p, struct batch *b)
{
	struct task **tasks = calloc(p->cost.len, sizeof *tasks);

	if (!tasks)
		bug_no_memory();
	for (uint32_t i = 0; i < p->cost.len; i++) {
		tasks[i] = graph_add(b, &(struct task_spec){.cost_ns = p->cost.at[i]});
		for (uint32_t k = p->first.at[i]; k < p->first.at[i + 1]; k++)
			graph_need(b, tasks[i], tasks[p->inputs.at[k]]);
	}
	free(tasks);
	return graph_link(b);
}

/* One worker: idle, or busy until `until`. */
struct worker {
	struct task *task;
	uint64_t until;
};
struct clock {
	struct worker *workers;
	uint32_t n, *heap, busy; /* busy workers, the first to end first */
	uint64_t now;
};

static bool sooner(const struct clock *c, uint32_t a, uint32_t b) { return c->workers[c->heap[a]].until < c->workers[c->heap[b]].until; }

static void exchange(struct clock *c, uint32_t a, uint32_t b)
{
	uint32_t w = c->heap[a];

	c->heap[a] = c->heap[b];
	c->heap[b] = w;
}

static void start(struct clock *c, uint32_t worker, struct task *t)
{
	c->workers[worker] = (struct worker){t, c->now + t->spec.cost_ns};
	c->heap[c->busy] = worker;
	for (uint32_t i = c->busy++; i > 0 && sooner(c, i, (i - 1) / 2); i = (i - 1) / 2)
		exchange(c, i, (i - 1) / 2);
}

/* The worker that ends first; the time is then its. */
static uint32_t next_end(struct clock *c)
{
	uint32_t worker = c->heap[0], child;

	c->now = c->workers[worker].until;
	c->heap[0] = c->heap[--c->busy];
	for (uint32_t i = 0; (child = 2 * i + 1) < c->busy; i = child) {
		if (child + 1 < c->busy && sooner(c, child + 1, child))
			child++;
		if (!sooner(c, child, i))
			break;
		exchange(c, child, i);
	}
	return worker;
}

static void publish(struct ready_queue *q, struct task *list)
{
	for (struct task *t; (t = list);) {
		list = t->next;
		ready_queue_push(q, t);
	}
}

static uint64_t makespan(const struct plan *p, uint32_t workers, uint64_t *critical)
{
	struct batch b = {.a = arena_new(0)};
	struct ready_queue q = {0};
	struct clock c = {.workers = calloc(workers, sizeof *c.workers), .n = workers, .heap = calloc(workers, sizeof *c.heap)};
	struct task *list = submit(p, &b);

	if (!c.workers || !c.heap)
		bug_no_memory();
	*critical = 0;
	for (const struct task *t = list; t; t = t->next)
		*critical = t->rank > *critical ? t->rank : *critical;
	publish(&q, list);
	for (;;) {
		bool some = true;
		uint32_t ended;

		for (uint32_t w = 0; w < workers && some; w++) {
			struct task *t = c.workers[w].task ? NULL : ready_queue_pop(&q);

			if (t)
				start(&c, w, t);
			else
				some = c.workers[w].task; /* else there is nothing for the others either */
		}
		if (c.busy == 0)
			break;
		ended = next_end(&c);
		publish(&q, graph_end(c.workers[ended].task, true));
		c.workers[ended].task = NULL;
	}
	free(c.workers);
	free(c.heap);
	vec_free(&q.heap);
	arena_free(b.a);
	return c.now;
}

static void print_table(const struct plan *p)
{
	uint64_t work = 0, critical, alone = 0;

	for (uint32_t i = 0; i < p->cost.len; i++)
		work += p->cost.at[i];
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%u tasks, %u edges, work %.3f s\n", p->cost.len, p->inputs.len, (double)work / 1e9);
	printf("%8s %14s %14s %8s %8s\n", "workers", "makespan ms", "bound ms", "ratio", "speed-up");
	for (uint32_t workers = 1; workers <= 256; workers = workers < 4 ? workers + 1 : workers % 3 ? workers * 3 / 2 : workers * 4 / 3) {
		uint64_t span = makespan(p, workers, &critical), bound = (work + workers - 1) / workers;

		bound = critical > bound ? critical : bound;
		alone = workers == 1 ? span : alone;
		printf("%8u %14.3f %14.3f %8.4f %8.2f\n", workers, (double)span / 1e6, (double)bound / 1e6, (double)span / (double)bound,
		       (double)alone / (double)span);
	}
	printf("critical path %.3f ms\n", (double)critical / 1e6);
}

int main(int argc, char **argv)
{
	struct plan p = {0};

	if (argc == 3 && strcmp(argv[1], "--random") == 0 && atoi(argv[2]) > 0) {
		random_plan((uint32_t)atoi(argv[2]), &p);
	} else if (argc != 2 || !read_plan(argv[1], &p)) {
		fprintf(stderr, "simulate_pool FILE | --random N\n");
		return 2;
	}
	print_table(&p);
	vec_free(&p.cost);
	vec_free(&p.first);
	vec_free(&p.inputs);
	return 0;
}
