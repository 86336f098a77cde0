/* Which functions are whose: a walk over the calls of the entries. */
#include <string.h>
#include "backend/pytorch/print.h"
#include "backend/pytorch/text.h"

struct walk {
	struct printer *p;
	struct owner_list *owners;
};

struct owner *owner_child(const struct owner *o, const char *path)
{
	for (uint32_t i = 0; o && i < o->children.len; i++)
		if (strcmp(o->children.at[i].path, path) == 0)
			return o->children.at[i].owner;
	return NULL;
}

bool owner_is_sequence(const struct owner *o) { return o->layer && o->layer->standard && strcmp(o->layer->name, "Sequential") == 0; }

static struct owner *add_owner(struct walk *w, const struct hir_layer *l, const char *name, const char *path)
{
	struct owner *o = ARENA_NEW(w->p->a, struct owner);
	*o = (struct owner){.layer = l, .name = name, .path = path, .native = native_layer(l)};
	vec_push(w->owners, o);
	return o;
}

static struct owner *owner_of(struct walk *w, const struct hir_layer *l, const char *path)
{
	for (uint32_t i = 0; i < w->owners->len; i++)
		if (w->owners->at[i]->layer && hash_eq(w->owners->at[i]->layer->key, l->key))
			return w->owners->at[i];
	return add_owner(w, l, l->name, path);
}

static void walk_unit(struct walk *w, struct owner *o, const struct hir_unit *u);

/* The owner of a callee: the layer at a path below o, o itself, or the file. */
static struct owner *callee_owner(struct walk *w, struct owner *o, const struct hir_node *call, const struct hir_unit *callee)
{
	const char *path = call->kind == HIR_CALL ? call->layer : "";
	if (!callee->layer)
		return w->owners->at[0];
	if (!path || !*path)
		return o;
	struct owner *child = owner_child(o, path);
	if (child)
		return child;
	const char *full = *o->path ? arena_printf(w->p->a, "%s.%s", o->path, path) : path;
	struct child c = {path, owner_of(w, callee->layer, full)};
	vec_push(&o->children, c);
	return c.owner;
}

static bool has_method(const struct owner *o, const struct hir_unit *u)
{
	for (uint32_t i = 0; i < o->methods.len; i++)
		if (o->methods.at[i].unit == u)
			return true;
	return false;
}

static void walk_unit(struct walk *w, struct owner *o, const struct hir_unit *u)
{
	if (o->native || has_method(o, u))
		return;
	for (uint32_t i = 0; i < u->n_nodes; i++) {
		const struct hir_node *n = &u->nodes[i];
		if (!hir_calls(n->kind))
			continue;
		walk_unit(w, callee_owner(w, o, n, n->callee), n->callee);
		if (n->other)
			walk_unit(w, callee_owner(w, o, n, n->other), n->other);
	}
	struct method m = {.unit = u};
	vec_push(&o->methods, m);
}

void find_owners(struct printer *p, struct owner_list *out)
{
	struct walk w = {p, out};
	p->file = add_owner(&w, NULL, "", "");
	for (uint32_t i = 0; i < p->program->n_entries; i++) {
		const struct hir_entry *e = &p->program->entries[i];
		struct owner *o = e->unit->layer ? owner_of(&w, e->unit->layer, "") : add_owner(&w, NULL, e->unit->definition_name, "");
		if (!e->unit->layer)
			o->entry = e;
		walk_unit(&w, o, e->unit);
	}
}
