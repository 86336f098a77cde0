/* A statement reports when it ends, after the statements of the units that it called. So its callees are the latest reports that began after
 * it: they wait in a stack until their caller ends. A report of a statement that already waits is added to it, as loops and further runs
 * repeat statements of one call; that keeps the stack short, and after the first run no memory is allocated. */
#include "backend/runtime/profile/collect.h"
#include <stdlib.h>
#include "backend/runtime/context.h"
#include "backend/runtime/profile/origins.h"

#define NONE UINT32_MAX

struct node {
	uint32_t statement;
	uint32_t child, next; /* the first callee; the next one of the same caller. Waiting nodes: the one that began before */
	uint64_t calls;
	int64_t start_ns, wall_ns, cpu_ns, bytes, operations, memory;
	tri_launch launch;
};
struct tri_collector {
	const tri_model_desc *desc;
	void (*forward)(void *user, const tri_profile_event *event);
	void *user;
	struct node *nodes;
	uint32_t n_nodes, room;
	uint32_t unused, waiting; /* lists of nodes */
	int64_t run_began;
	tri_profile sum;
	tri_profile_entry *entries;
	uint32_t entries_room;
};

static uint32_t collect_new_node(struct tri_collector *c)
{
	if (c->unused != NONE) {
		uint32_t n = c->unused;
		c->unused = c->nodes[n].next;
		return n;
	}
	if (c->n_nodes == c->room) {
		uint32_t room = c->room ? 2 * c->room : 256;
		struct node *more = realloc(c->nodes, room * sizeof *more);
		if (!more)
			return NONE;
		c->nodes = more;
		c->room = room;
	}
	return c->n_nodes++;
}

static void free_node(struct tri_collector *c, uint32_t n)
{
	c->nodes[n].next = c->unused;
	c->unused = n;
}

static void free_tree(struct tri_collector *c, uint32_t n)
{
	for (uint32_t child = c->nodes[n].child, next; child != NONE; child = next) {
		next = c->nodes[child].next;
		free_tree(c, child);
	}
	free_node(c, n);
}

static uint32_t *collect_find(struct tri_collector *c, uint32_t *list, uint32_t statement)
{
	while (*list != NONE && c->nodes[*list].statement != statement)
		list = &c->nodes[*list].next;
	return list;
}

/* Adds the tree of `n` to `to`, and frees its nodes. No node is made, so pointers into the array stay valid. */
static void collect_merge(struct tri_collector *c, uint32_t to, uint32_t n)
{
	struct node *t = &c->nodes[to], *x = &c->nodes[n];
	uint32_t *at = &t->child;
	t->calls += x->calls;
	t->wall_ns += x->wall_ns;
	t->cpu_ns += x->cpu_ns;
	t->bytes += x->bytes;
	t->operations += x->operations;
	t->memory = x->memory > t->memory ? x->memory : t->memory;
	t->launch = x->launch;
	for (uint32_t child = x->child, next; child != NONE; child = next) {
		next = c->nodes[child].next;
		if (*at == NONE || c->nodes[*at].statement != c->nodes[child].statement) /* both lists are mostly in one order */
			at = collect_find(c, &t->child, c->nodes[child].statement);
		if (*at == NONE) {
			c->nodes[child].next = NONE;
			*at = child;
		} else {
			collect_merge(c, *at, child);
		}
		at = &c->nodes[*at].next;
	}
	free_node(c, n);
}

static void event(void *collector, const tri_profile_event *e)
{
	struct tri_collector *c = collector;
	uint32_t n = collect_new_node(c);
	if (c->forward)
		c->forward(c->user, e);
	if (n == NONE)
		return;
	struct node x = {.statement = e->statement, .child = NONE, .calls = 1, .start_ns = e->start_ns};
	x.wall_ns = e->ns;
	x.cpu_ns = e->cpu_ns;
	x.bytes = e->bytes;
	x.operations = e->operations;
	x.memory = e->memory;
	x.launch = e->launch;
	while (c->waiting != NONE && c->nodes[c->waiting].start_ns >= e->start_ns) {
		uint32_t callee = c->waiting;
		c->waiting = c->nodes[callee].next;
		c->nodes[callee].next = x.child;
		x.child = callee;
	}
	c->nodes[n] = x;
	uint32_t same = *collect_find(c, &c->waiting, e->statement);
	if (same != NONE) {
		collect_merge(c, same, n);
		return;
	}
	c->nodes[n].next = c->waiting;
	c->waiting = n;
}

static struct tri_collector *collector_open(const tri_model_desc *desc, const tri_options *opt)
{
	struct tri_collector *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->desc = desc;
	c->unused = c->waiting = NONE;
	c->forward = TRI_OPTION(opt, profile);
	c->user = TRI_OPTION(opt, profile_user);
	return c;
}

static void collector_close(struct tri_collector *c)
{
	if (!c)
		return;
	free(c->nodes);
	free(c->entries);
	free(c);
}

static void transfer(struct tri_collector *c, bool to_device, int64_t ns, uint64_t bytes)
{
	*(to_device ? &c->sum.to_device_ns : &c->sum.from_device_ns) += ns;
	*(to_device ? &c->sum.to_device_bytes : &c->sum.from_device_bytes) += bytes;
}

static void begin_run(struct tri_collector *c) { c->run_began = tri_clock_ns(); }

static void end_run(struct tri_collector *c, bool ok, uint64_t memory, const struct tri_profile_clock *clock)
{
	int64_t wall = tri_clock_ns() - c->run_began - (clock ? clock->hook_ns + clock->read_ns : 0);
	while (!ok && c->waiting != NONE && c->nodes[c->waiting].start_ns >= c->run_began) {
		uint32_t n = c->waiting;
		c->waiting = c->nodes[n].next;
		free_tree(c, n);
	}
	if (!ok)
		return;
	c->sum.runs++;
	c->sum.clock_ns = clock ? clock->read_ns : 0;
	c->sum.wall_ns += wall;
	c->sum.cpu_ns += clock ? wall + clock->others_ns : 0;
	c->sum.memory_bytes = memory > c->sum.memory_bytes ? memory : c->sum.memory_bytes;
}

static void collect_reset(struct tri_collector *c)
{
	c->unused = c->waiting = NONE;
	c->n_nodes = 0;
	c->sum = (tri_profile){0};
}

/* ---- the result ---- */

/* memory: of its callers. Returns that of the entry. */
static int64_t collect_add_entry(struct tri_collector *c, uint32_t n, uint32_t parent, int64_t memory)
{
	const struct node *x = &c->nodes[n];
	const tri_model_desc *d = c->desc;
	const tri_statement *s = &d->statements[x->statement];
	uint32_t at = c->sum.n_entries++;
	tri_profile_entry *e = &c->entries[at];
	*e = (tri_profile_entry){
		.code = d->texts + s->name, .operation = "", .layer = "", .file = "", .statement = x->statement, .parent = parent, .id = n};
	if (s->n_origins) {
		const tri_origin *o = &d->origins[d->members[s->first_origin]], *place = tri_origin_in_project(d, o);
		e->operation = d->texts + o->operation;
		e->layer = d->texts + o->layer;
		e->file = d->texts + place->file;
		e->line = place->line;
	}
	e->calls = x->calls;
	e->wall_ns = x->wall_ns;
	e->cpu_ns = x->cpu_ns;
	e->bytes = x->bytes;
	e->operations = x->operations;
	e->launch = x->launch;
	e->memory = memory + x->memory;
	for (uint32_t child = x->child; child != NONE; child = c->nodes[child].next) {
		int64_t inside = collect_add_entry(c, child, at, memory + x->memory);
		e->memory = inside > e->memory ? inside : e->memory;
	}
	return e->memory;
}

/* The waiting nodes are the statements of the entries, the latest first. */
static void add_roots(struct tri_collector *c)
{
	uint32_t oldest = NONE;
	for (uint32_t n = c->waiting, next; n != NONE; n = next) {
		next = c->nodes[n].next;
		c->nodes[n].next = oldest;
		oldest = n;
	}
	c->waiting = NONE;
	for (uint32_t n = oldest, next; n != NONE; n = next) {
		next = c->nodes[n].next;
		collect_add_entry(c, n, TRI_NONE, 0);
		c->nodes[n].next = c->waiting;
		c->waiting = n;
	}
}

static const tri_profile *result(struct tri_collector *c, uint32_t threads)
{
	if (c->n_nodes > c->entries_room) {
		tri_profile_entry *more = realloc(c->entries, c->n_nodes * sizeof *more);
		if (!more)
			return NULL;
		c->entries = more;
		c->entries_room = c->n_nodes;
	}
	c->sum.size = sizeof c->sum;
	c->sum.threads = threads;
	c->sum.n_entries = 0;
	add_roots(c);
	c->sum.entries = c->entries;
	return &c->sum;
}

const struct tri_profiling tri_profiling = {collector_open, collector_close, event, transfer, begin_run, end_run, result, collect_reset};
