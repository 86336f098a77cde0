/* Which functions are whose: a walk over the calls of the entries. */
#include <string.h>
#include "backend/pytorch/native.h"
#include "backend/pytorch/owner.h"
#include "base/arena.h"

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

struct owner *owner_of_layer(const struct printer *p, const struct hir_layer *l)
{
	for (uint32_t i = 0; i < p->owners->len; i++)
		if (p->owners->at[i]->layer && hash_eq(p->owners->at[i]->layer->key, l->key))
			return p->owners->at[i];
	return NULL;
}

static struct owner *owners_owner_of(struct walk *w, const struct hir_layer *l, const char *path)
{
	struct owner *o = owner_of_layer(w->p, l);
	return o ? o : add_owner(w, l, l->name, path);
}

static struct owner *add_child(struct walk *w, struct owner *o, const struct hir_layer *l, const char *path)
{
	struct owner *known = owner_child(o, path);
	if (known)
		return known;
	struct child c = {path, owners_owner_of(w, l, *o->path ? arena_printf(w->p->a, "%s.%s", o->path, path) : path)};
	vec_push(&o->children, c);
	return c.owner;
}

/* ---- layers that are arguments of functions ---- */

const char *first_part(struct arena *a, const char *path) { return arena_strndup(a, path, strcspn(path, ".")); }

bool is_layer_argument(const struct hir_unit *u, uint32_t input)
{
	size_t n = strcspn(u->inputs[input].name, ".");
	bool first = !u->layer && u->inputs[input].param;
	for (uint32_t i = 0; first && i < input; i++)
		first = !(u->inputs[i].param && strncmp(u->inputs[i].name, u->inputs[input].name, n + 1) == 0);
	return first;
}

const char *layer_argument_path(struct arena *a, const struct hir_unit *u, const struct hir_node *call, const struct hir_unit *callee,
				uint32_t input)
{
	const struct hir_node *arg = &u->nodes[u->args[call->args + input].u.tensor];
	const char *rest = strchr(callee->inputs[input].name, '.');
	const char *name = rest && arg->kind == HIR_INPUT && u->inputs[arg->index].param ? u->inputs[arg->index].name : "";
	size_t n = strlen(name), tail = rest ? strlen(rest) : 0;
	return n > tail && strcmp(name + n - tail, rest) == 0 ? arena_strndup(a, name, n - tail) : NULL;
}

/* The layers that a call of a function passes are members of the caller's layer. */
static void add_passed_layers(struct walk *w, struct owner *o, const struct hir_unit *u, const struct hir_node *call)
{
	const struct hir_unit *callee = call->callee;
	for (uint32_t i = 0; o != w->p->file && !callee->layer && i < callee->n_inputs; i++) {
		const char *path = is_layer_argument(callee, i) ? layer_argument_path(w->p->a, u, call, callee, i) : NULL;
		const char *name = first_part(w->p->a, callee->inputs[i].name);
		for (uint32_t k = 0; path && k < callee->n_nodes; k++) {
			const struct hir_node *n = &callee->nodes[k];
			if (n->kind == HIR_CALL && n->layer && strcmp(n->layer, name) == 0 && n->callee->layer)
				add_child(w, o, n->callee->layer, path);
		}
	}
}

static void walk_unit(struct walk *w, struct owner *o, const struct hir_unit *u);

/* The owner of a callee: the layer at a path below o, o itself, or the file. */
static struct owner *owners_callee_owner(struct walk *w, struct owner *o, const struct hir_node *call, const struct hir_unit *callee)
{
	const char *path = call->kind == HIR_CALL ? call->layer : "";
	if (!callee->layer)
		return w->owners->at[0];
	if (!path || !*path)
		return o;
	return o == w->p->file ? owners_owner_of(w, callee->layer, "") : add_child(w, o, callee->layer, path);
}

static bool owners_has_method(const struct owner *o, const struct hir_unit *u)
{
	for (uint32_t i = 0; i < o->methods.len; i++)
		if (o->methods.at[i].unit == u)
			return true;
	return false;
}

static void walk_unit(struct walk *w, struct owner *o, const struct hir_unit *u)
{
	if (o->native || owners_has_method(o, u))
		return;
	for (uint32_t i = 0; i < u->n_nodes; i++) {
		const struct hir_node *n = &u->nodes[i];
		if (!hir_calls(n->kind))
			continue;
		if (n->kind == HIR_CALL)
			add_passed_layers(w, o, u, n);
		walk_unit(w, owners_callee_owner(w, o, n, n->callee), n->callee);
		if (n->other)
			walk_unit(w, owners_callee_owner(w, o, n, n->other), n->other);
	}
	struct method m = {.unit = u};
	vec_push(&o->methods, m);
}

void find_owners(struct printer *p, struct owner_list *out)
{
	struct walk w = {p, out};
	p->owners = out;
	p->file = add_owner(&w, NULL, "", "");
	for (uint32_t i = 0; i < p->program->n_entries; i++) {
		const struct hir_entry *e = &p->program->entries[i];
		struct owner *o =
			e->unit->layer ? owners_owner_of(&w, e->unit->layer, "") : add_owner(&w, NULL, e->unit->definition_name, "");
		if (!e->unit->layer)
			o->entry = e;
		walk_unit(&w, o, e->unit);
	}
}
