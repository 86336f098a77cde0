/* Classes: owners of one definition that differ only in numbers share one. */
#include <stdlib.h>
#include <string.h>
#include "backend/pytorch/class.h"
#include "backend/pytorch/comment.h"
#include "backend/pytorch/native.h"
#include "backend/pytorch/text.h"
#include "base/arena.h"
#include "base/buf.h"

enum { UNSEEN, OPEN, DONE };

struct makes {
	struct printer *p;
	const struct owner_list *owners;
	VEC(struct py_class *) classes;
};

static bool has_class(const struct owner *o) { return !o->native && !owner_is_sequence(o); }

static bool is_same_definition(const struct owner *x, const struct owner *y)
{
	if (!x->layer || !y->layer)
		return x == y;
	return x->layer->at.source == y->layer->at.source && x->layer->at.start == y->layer->at.start &&
	       x->layer->standard == y->layer->standard;
}

/* ---- arguments ---- */

static struct hole *holes_of_owner(struct printer *p, const struct owner *o, uint32_t *n)
{
	return holes_of(p->a, arena_printf(p->a, "%s%s", o->init, o->body), n);
}

/* The argument of the layer that has these values in the owners of a class; NULL: none. */
static const char *layer_argument(struct printer *p, struct owner *const *owners, uint32_t n, struct hole *const *holes, uint32_t hole)
{
	const struct hir_layer *l = owners[0]->layer;
	for (uint32_t i = 0; l && i < l->n_args; i++) {
		bool same = l->args[i].kind != ARG_TENSOR && l->args[i].kind != ARG_LIST;
		for (uint32_t k = 0; same && k < n; k++)
			same = strcmp(layer_value_text(p, &owners[k]->layer->args[i]), holes[k][hole].value) == 0;
		if (same)
			return l->args[i].name;
	}
	return NULL;
}

static bool holes_agree(struct hole *const *holes, uint32_t n, uint32_t x, uint32_t y)
{
	for (uint32_t k = 0; k < n; k++)
		if (strcmp(holes[k][x].value, holes[k][y].value) != 0)
			return false;
	return true;
}

static bool varies(struct hole *const *holes, uint32_t n, uint32_t hole)
{
	for (uint32_t k = 1; k < n; k++)
		if (strcmp(holes[0][hole].value, holes[k][hole].value) != 0)
			return true;
	return false;
}

/* The name of the argument that a hole is: "stride" of ", stride=". NULL: it has none. */
static const char *keyword(struct printer *p, const struct hole *h)
{
	size_t skip = strspn(h->before, ", "), n = strcspn(h->before + skip, "=");
	return n ? arena_strndup(p->a, h->before + skip, n) : NULL;
}

static const char *classes_new_argument(struct printer *p, const struct py_class *c, const char *wanted)
{
	const char *name = wanted ? python_name(p->a, wanted) : "size";
	bool taken = !wanted;
	for (uint32_t i = 0; i < c->n_args; i++)
		taken = taken || strcmp(c->args[i].name, name) == 0;
	return taken ? arena_printf(p->a, "%s%u", name, c->n_args + 1) : name;
}

/* Gives the holes whose values differ between the owners the names of arguments. */
static void name_holes(struct printer *p, struct py_class *c, struct owner *const *owners, uint32_t n)
{
	struct hole **holes = ARENA_ARRAY(p->a, struct hole *, n);
	for (uint32_t k = 0; k < n; k++)
		holes[k] = holes_of_owner(p, owners[k], &c->n_holes);
	c->names = ARENA_ARRAY(p->a, const char *, c->n_holes + 1);
	c->args = ARENA_ARRAY(p->a, struct class_arg, c->n_holes + 1);
	holes_of(p->a, c->init, &c->n_init);
	for (uint32_t i = 0; i < c->n_holes; i++) {
		uint32_t at = 0;
		if (!varies(holes, n, i))
			continue;
		while (at < c->n_args && !holes_agree(holes, n, c->args[at].hole, i))
			at++;
		if (at == c->n_args) {
			const char *wanted = layer_argument(p, owners, n, holes, i);
			const char *name = classes_new_argument(p, c, wanted ? wanted : keyword(p, &holes[0][i]));
			c->args[c->n_args++] = (struct class_arg){.name = name, .hole = i};
		}
		c->args[at].stored = c->args[at].stored || i >= c->n_init;
		c->names[i] = i < c->n_init ? c->args[at].name : arena_printf(p->a, "self.%s", c->args[at].name);
	}
}

/* ---- grouping ---- */

static const char *class_name(struct makes *m, const char *wanted)
{
	const char *base = wanted + (*wanted == '_'), *name = base;
	for (uint32_t k = 2;; k++) {
		bool taken = false;
		for (uint32_t i = 0; i < m->classes.len; i++)
			taken = taken || strcmp(m->classes.at[i]->name, name) == 0;
		for (uint32_t i = 0; i < m->p->file->methods.len; i++)
			taken = taken || strcmp(m->p->file->methods.at[i].name, name) == 0;
		if (!taken)
			return name;
		name = arena_printf(m->p->a, "%s%u", base, k);
	}
}

/* Makes one class of all owners of the definition that are like o. */
static void make_class(struct makes *m, struct owner *o)
{
	VEC(struct owner *) alike = {0};
	for (uint32_t i = 0; i < m->owners->len; i++) {
		struct owner *other = m->owners->at[i];
		if (has_class(other) && is_same_definition(o, other) && text_is_like(o->init, other->init) &&
		    text_is_like(o->body, other->body))
			vec_push(&alike, other);
	}
	struct py_class *c = ARENA_NEW(m->p->a, struct py_class);
	*c = (struct py_class){.name = class_name(m, o->name), .layer = o->layer, .init = o->init, .body = o->body};
	name_holes(m->p, c, alike.at, alike.len);
	for (uint32_t i = 0; i < alike.len; i++)
		alike.at[i]->cls = c;
	vec_push(&m->classes, c);
	vec_free(&alike);
}

static void make_definition(struct makes *m, struct owner *o);

static void make_children(struct makes *m, const struct owner *o)
{
	for (uint32_t i = 0; i < o->children.len; i++) {
		struct owner *child = o->children.at[i].owner;
		if (has_class(child))
			make_definition(m, child);
		else
			make_children(m, child);
	}
}

/* Makes the classes of a definition, after those of the layers in it. */
static void make_definition(struct makes *m, struct owner *o)
{
	if (o->state == DONE)
		return;
	if (o->state == OPEN) {
		report_unprintable(m->p, o->layer ? o->layer->at : SPAN_NONE, "a layer in another one of its kind");
		return;
	}
	for (uint32_t pass = 0; pass < 4; pass++)
		for (uint32_t i = 0; i < m->owners->len; i++) {
			struct owner *x = m->owners->at[i];
			if (!has_class(x) || x == m->p->file || !is_same_definition(x, o))
				continue;
			if (pass == 0)
				x->state = OPEN;
			else if (pass == 1)
				make_children(m, x);
			else if (pass == 2)
				print_methods(m->p, x), x->init = print_members(m->p, x), x->state = DONE;
			else if (!x->cls)
				make_class(m, x);
		}
}

struct py_class **make_classes(struct printer *p, const struct owner_list *owners, uint32_t *n)
{
	struct makes m = {p, owners, {0}};
	print_methods(p, p->file);
	for (uint32_t i = 0; i < owners->len; i++)
		if (has_class(owners->at[i]) && owners->at[i] != p->file)
			make_definition(&m, owners->at[i]);
	print_functions_of_layers(p);
	struct py_class **out = ARENA_ARRAY(p->a, struct py_class *, m.classes.len + 1);
	for (uint32_t i = 0; i < m.classes.len; i++)
		out[i] = m.classes.at[i];
	*n = m.classes.len;
	vec_free(&m.classes);
	return out;
}

const char *owner_call(struct printer *p, const struct owner *o)
{
	if (o->native)
		return native_call(p, o->native, o->layer);
	if (owner_is_sequence(o))
		return print_sequence(p, o);
	if (!o->cls)
		return "None"; /* reported */
	uint32_t n;
	struct hole *holes = holes_of_owner(p, o, &n);
	const char *text = arena_printf(p->a, "%s(", o->cls->name);
	for (uint32_t i = 0; i < o->cls->n_args; i++)
		text = arena_printf(p->a, "%s%s%s", text, i ? ", " : "", hole_text(p->a, NULL, holes[o->cls->args[i].hole].value, NULL));
	return arena_printf(p->a, "%s)", text);
}

/* ---- text ---- */

void print_class(struct printer *p, const struct py_class *c, struct buf *out)
{
	struct buf init = {0}, body = {0};
	uint32_t used = text_fill(c->init, c->names, &init);
	text_fill(c->body, c->names + used, &body);
	buf_printf(out, "class %s(nn.Module):\n", c->name);
	const char *doc = c->layer ? docstring(p, 4, comment_above(p, c->layer->at)) : "";
	buf_printf(out, "%s%s", doc, *doc ? "\n" : "");
	const char *head = "def __init__(self";
	for (uint32_t i = 0; i < c->n_args; i++)
		head = arena_printf(p->a, "%s, %s", head, c->args[i].name);
	put_statement(out, 4, arena_printf(p->a, "%s):", head));
	buf_puts(out, "        super().__init__()\n");
	for (uint32_t i = 0; i < c->n_args; i++)
		if (c->args[i].stored)
			buf_printf(out, "        self.%s = %s\n", c->args[i].name, c->args[i].name);
	put_lines(out, 8, init.len ? init.at : "");
	buf_putc(out, '\n');
	put_lines(out, 4, body.len ? body.at : "");
	buf_free(&init);
	buf_free(&body);
}
