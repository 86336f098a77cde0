/* The path of a layer instance in the network, as in the names of its parameters. */
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "frontend/unit/emit.h"

struct search {
	struct emitter *e;
	const struct instance *target;
	uint32_t steps;
	char path[256];
};
enum { MOST_SEARCHED = 20000 };

static bool in_instance(struct search *s, const struct instance *in, size_t used);

static bool in_value(struct search *s, struct value v, size_t used)
{
	if (v.kind == V_LAYER)
		return v.u.layer == s->target || in_instance(s, v.u.layer, used);
	if (!value_is_seq(v) || !value_contains(v, V_LAYER))
		return false;
	for (uint32_t i = 0; i < v.u.seq->n; i++) {
		int n = snprintf(s->path + used, sizeof s->path - used, "%s%u", used ? "." : "", i);
		if (n > 0 && used + (size_t)n < sizeof s->path && in_value(s, v.u.seq->at[i], used + (size_t)n))
			return true;
		s->path[used] = '\0';
	}
	return false;
}

static bool in_instance(struct search *s, const struct instance *in, size_t used)
{
	for (uint32_t i = 0; i < in->n_members && s->steps < MOST_SEARCHED; i++) {
		const struct member *m = &in->members[i];
		const char *name = name_text(s->e->f, m->name);
		s->steps++;
		if (m->kind != M_VALUE || m->is_arg || (m->value.kind != V_LAYER && !value_is_seq(m->value)))
			continue;
		int n = *name == '_' ? 0 : snprintf(s->path + used, sizeof s->path - used, "%s%s", used ? "." : "", name);
		if (n >= 0 && used + (size_t)n < sizeof s->path && in_value(s, m->value, used + (size_t)n))
			return true;
		s->path[used] = '\0';
	}
	return false;
}

/* The path of an instance below `root`; "" if it has none. */
static const char *instance_path_of(struct emitter *e, const struct instance *root, const struct instance *in)
{
	struct search s = {.e = e, .target = in};
	return in_instance(&s, root, 0) ? arena_strdup(e->f->arena, s.path) : "";
}

/* The outermost call of a layer. */
static const struct call_site *instance_path_find_root(const struct emitter *e)
{
	const struct call_site *root = NULL;
	for (const struct call_site *s = e->report.site; s; s = s->up)
		root = s->self ? s : root;
	return root;
}

/* Puts the name of the root before a path that begins with an index: the root is a list of layers, such as `nn.Sequential`. */
static const char *with_root(struct emitter *e, const struct call_site *root, const char *path)
{
	const char *name = *path >= '0' && *path <= '9' && root->callee ? strchr(root->callee, '`') : NULL;
	return name ? arena_printf(e->f->arena, "%.*s.%s", (int)strcspn(name + 1, "`"), name + 1, path) : path;
}

const char *path_in_list(struct emitter *e, const struct instance *in)
{
	const struct call_site *root = instance_path_find_root(e);
	const char *path = root && root->self != in ? instance_path_of(e, root->self, in) : "", *last = strrchr(path, '.');
	last = last ? last + 1 : path;
	return *last >= '0' && *last <= '9' ? with_root(e, root, path) : "";
}

void note_instance_path(struct emitter *e, struct diag *g)
{
	const struct call_site *root = instance_path_find_root(e);
	const struct instance *inner = NULL;
	for (const struct call_site *s = e->report.site; s && !inner; s = s->up)
		inner = s->self;
	const char *path = inner && inner != root->self ? instance_path_of(e, root->self, inner) : "";
	if (!*path)
		return;
	for (const struct call_site *s = e->report.site; s; s = s->up) /* a member such as `_net` adds no name: its owner has the path */
		if (s->self && s->self != inner && s->self != root->self && !strcmp(path, instance_path_of(e, root->self, s->self)))
			inner = s->self;
	diag_note(e->report.out, g, "in layer instance `%s`, which is `%s`", with_root(e, root, path), name_text(e->f, inner->item->name));
}
