/* A task that does not fit is held, and others pass it. After `most_passes` of them, or with as many tasks held, nothing begins until
 * the first held task did. While a task is held another one runs: with nothing running the first held task begins, whatever its size. */
#include "scheduler/memory_budget.h"
#include "scheduler/graph.h"

static bool memory_budget_fits(const struct memory_budget *m, const struct task *t)
{
	return m->running == 0 || (t->spec.memory <= m->budget && m->used <= m->budget - t->spec.memory);
}

static void memory_budget_begin(struct memory_budget *m, const struct task *t)
{
	m->used += t->spec.memory;
	m->running++;
}

static void hold(struct memory_budget *m, struct task *t)
{
	uint32_t i;

	vec_push(&m->held, t);
	for (i = m->held.len - 1; i > 0 && m->held.at[i - 1]->rank < t->rank; i--)
		m->held.at[i] = m->held.at[i - 1];
	m->held.at[i] = t;
}

bool memory_budget_is_full(const struct memory_budget *m)
{
	return m->held.len > 0 && !m->try_held && (m->held.len >= m->most_passes || m->passes >= m->most_passes);
}

bool memory_budget_admit(struct memory_budget *m, struct task *t)
{
	if (m->budget == 0)
		return true;
	if (!memory_budget_fits(m, t)) {
		hold(m, t);
		return false;
	}
	memory_budget_begin(m, t);
	m->passes += m->held.len > 0;
	return true;
}

struct task *memory_budget_resume(struct memory_budget *m)
{
	uint32_t n = m->passes < m->most_passes ? m->held.len : m->held.len > 0, i = 0;
	struct task *t;

	if (!m->try_held)
		return NULL;
	while (i < n && !memory_budget_fits(m, m->held.at[i]))
		i++;
	if (i == n) {
		m->try_held = false;
		return NULL;
	}
	t = m->held.at[i];
	memory_budget_begin(m, t);
	m->passes = i == 0 ? 0 : m->passes + 1;
	for (m->held.len--; i < m->held.len; i++)
		m->held.at[i] = m->held.at[i + 1];
	m->try_held = m->held.len > 0;
	return t;
}

void memory_budget_end(struct memory_budget *m, uint64_t memory)
{
	if (m->budget == 0)
		return;
	m->used -= memory;
	m->running--;
	m->try_held = m->held.len > 0;
}
