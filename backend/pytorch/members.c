/* The members of a layer: its parameters, states and sub-layers as the statements of __init__. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "backend/pytorch/class.h"
#include "backend/pytorch/expr.h"
#include "backend/pytorch/text.h"
#include "base/arena.h"
#include "base/buf.h"

/* A part of a dotted path: a layer, a list, or a parameter. */
struct attribute {
	const char *name;
	const char *made;      /* the expression that makes it; NULL: it is made of its parts */
	const char *statement; /* instead: the statement that registers it */
	VEC(struct attribute *) parts;
};

static struct attribute *part(struct printer *p, struct attribute *of, const char *name)
{
	for (uint32_t i = 0; i < of->parts.len; i++)
		if (strcmp(of->parts.at[i]->name, name) == 0)
			return of->parts.at[i];
	struct attribute *a = ARENA_NEW(p->a, struct attribute);
	*a = (struct attribute){.name = name};
	vec_push(&of->parts, a);
	return a;
}

static struct attribute *at_path(struct printer *p, struct attribute *root, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, ".");
		root = part(p, root, arena_strndup(p->a, path, n));
		path += n + (path[n] == '.');
	}
	return root;
}

static void free_parts(struct attribute *a)
{
	for (uint32_t i = 0; i < a->parts.len; i++)
		free_parts(a->parts.at[i]);
	vec_free(&a->parts);
}

/* ---- parameters and states ---- */

static const char *members_full_name(struct printer *p, const struct owner *o, const char *name)
{
	return *o->path ? arena_printf(p->a, "%s.%s", o->path, name) : name;
}

static const char *shape_list(struct printer *p, const struct dims *d, const struct hir_type *t)
{
	const char *text = "";
	for (uint32_t i = 0; i < t->rank; i++) {
		int64_t n = 0;
		dim_is_const(d, t->dims[i], &n);
		text = arena_printf(p->a, "%s%s%s", text, i ? ", " : "",
				    hole_text(p->a, NULL, arena_printf(p->a, "%lld", (long long)n), NULL));
	}
	return text;
}

static const char *members_typed(struct printer *p, dtype t)
{
	return t == DT_FLOAT32 ? "" : arena_printf(p->a, ", dtype=%s", dtype_python(p->a, t));
}

static const char *initial_text(struct printer *p, const struct hir_unit *init, const struct dims *d, const struct hir_type *t)
{
	const char *text = init ? print_initial(p, init) : NULL;
	if (text)
		return text;
	return arena_printf(p->a, "torch.zeros(%s%s%s)", t->rank ? "" : "()", shape_list(p, d, t), members_typed(p, t->elem));
}

static void set_param(struct printer *p, const struct owner *o, struct attribute *a, const struct hir_unit *u, uint32_t input)
{
	const char *name = u->inputs[input].name;
	const char *full = members_full_name(p, o, name), *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
	const char *holder = last == name ? "self" : member_path(p->a, false, arena_strndup(p->a, name, (size_t)(last - name - 1)));
	for (uint32_t i = 0; i < p->program->n_params; i++) {
		const struct hir_param *q = &p->program->params[i];
		if (strcmp(q->name, full) != 0)
			continue;
		const char *value = initial_text(p, q->init, q->dims, &q->type);
		if (q->buffer || dtype_class(q->type.elem) != DTC_FLOAT)
			a->statement = arena_printf(p->a, "%s.register_buffer(\"%s\", %s)", holder, last, value);
		else
			a->made = arena_printf(p->a, "nn.Parameter(%s)", value);
	}
	if (!a->made && !a->statement) /* tied: the layer around it gives it another's */
		a->made = arena_printf(p->a, "nn.Parameter(%s)", initial_text(p, NULL, u->dims, &u->inputs[input].type));
}

static void set_state(struct printer *p, const struct owner *o, struct attribute *a, const char *name)
{
	const char *full = members_full_name(p, o, name);
	for (uint32_t i = 0; i < p->program->n_states; i++) {
		const struct hir_state *s = &p->program->states[i];
		if (strcmp(s->name, full) == 0)
			a->statement = arena_printf(p->a, "self.register_buffer(\"%s\", %s, persistent=False)", name,
						    initial_text(p, s->init, s->dims, &s->type));
	}
}

/* True if a sub-layer at the beginning of the path declares the member itself. */
static bool is_of_child(const struct owner *o, const char *name)
{
	for (uint32_t i = 0; i < o->children.len; i++) {
		size_t n = strlen(o->children.at[i].path);
		if (strncmp(o->children.at[i].path, name, n) == 0 && name[n] == '.')
			return true;
	}
	return false;
}

static void members_add_inputs(struct printer *p, const struct owner *o, const struct hir_unit *u, struct attribute *root)
{
	for (uint32_t i = 0; i < u->n_inputs; i++) {
		const struct hir_input *in = &u->inputs[i];
		bool param = in->param || (o->entry && o->entry->unit == u && o->entry->params[i] != HIR_NONE);
		if ((!param && !in->state) || is_of_child(o, in->name))
			continue;
		struct attribute *a = at_path(p, root, in->name);
		if (param)
			set_param(p, o, a, u, i);
		else
			set_state(p, o, a, in->name);
	}
}

/* ---- sub-layers ---- */

static bool members_is_number(const char *s) { return isdigit((unsigned char)*s); }

static const char *made_text(struct printer *p, const struct attribute *a);

/* The elements of a list; where nothing is called, Identity keeps the numbers. */
static const char *elements_text(struct printer *p, const struct attribute *a)
{
	const char *text = "", *first = NULL;
	uint32_t n = 0;
	bool same = true;
	for (uint32_t k = 0; n < a->parts.len && k < 10000; k++) {
		const struct attribute *item = NULL;
		for (uint32_t i = 0; i < a->parts.len; i++)
			if ((uint32_t)atoi(a->parts.at[i]->name) == k)
				item = a->parts.at[i];
		const char *made = item ? made_text(p, item) : "nn.Identity()";
		n += item != NULL;
		same = same && (!first || strcmp(first, made) == 0);
		first = first ? first : made;
		text = arena_printf(p->a, "%s%s%s", text, k ? ", " : "", made);
	}
	return n > 1 && same
		       ? arena_printf(p->a, "[%s for _ in range(%s)]", first, hole_text(p->a, NULL, arena_printf(p->a, "%u", n), NULL))
		       : arena_printf(p->a, "[%s]", text);
}

/* The parameters of a layer that is never called; "nn.Module()" if it has other parts. */
static const char *dict_text(struct printer *p, const struct attribute *a)
{
	const char *text = "";
	for (uint32_t i = 0; i < a->parts.len; i++) {
		if (!a->parts.at[i]->made)
			return "nn.Module()";
		text = arena_printf(p->a, "%s%s\"%s\": %s", text, i ? ", " : "", a->parts.at[i]->name, a->parts.at[i]->made);
	}
	return arena_printf(p->a, "nn.ParameterDict({%s})", text);
}

static const char *made_text(struct printer *p, const struct attribute *a)
{
	if (a->made)
		return a->made;
	if (a->parts.len && members_is_number(a->parts.at[0]->name))
		return arena_printf(p->a, "nn.ModuleList(%s)", elements_text(p, a));
	return a->parts.len ? dict_text(p, a) : "nn.Module()";
}

/* True for a name that nn.Module has itself, or that Python does not take. */
static bool members_is_reserved(struct printer *p, const char *name)
{
	static const char *const taken[] = {"training",
					    "train",
					    "eval",
					    "half",
					    "float",
					    "double",
					    "bfloat16",
					    "to",
					    "type",
					    "cpu",
					    "cuda",
					    "ipu",
					    "xpu",
					    "apply",
					    "compile",
					    "buffers",
					    "children",
					    "modules",
					    "parameters",
					    "named_parameters",
					    "named_buffers",
					    "named_modules",
					    "named_children",
					    "state_dict",
					    "load_state_dict",
					    "zero_grad",
					    "share_memory",
					    "requires_grad_",
					    "register_buffer",
					    "register_parameter",
					    "register_module",
					    "add_module",
					    "get_parameter",
					    "get_buffer",
					    "get_submodule",
					    "forward",
					    "extra_repr",
					    "to_empty"};
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(taken[i], name) == 0)
			return true;
	return strcmp(python_name(p->a, name), name) != 0 && strcmp(name, "F") != 0;
}

static void put_attribute(struct printer *p, const struct owner *o, const struct attribute *a, const char *holder, struct buf *out)
{
	if (members_is_reserved(p, a->name))
		report_unprintable(p, o->layer ? o->layer->at : SPAN_NONE,
				   arena_printf(p->a, "the member `%s`, because nn.Module or Python has this name", a->name));
	const char *self = arena_printf(p->a, "%s.%s", holder, python_name(p->a, a->name));
	if (a->statement)
		buf_printf(out, "%s\n", a->statement);
	else
		buf_printf(out, "%s = %s\n", self, made_text(p, a));
	if (!a->made && !a->statement && strcmp(made_text(p, a), "nn.Module()") == 0 &&
	    !(a->parts.len && members_is_number(a->parts.at[0]->name)))
		for (uint32_t i = 0; i < a->parts.len; i++)
			put_attribute(p, o, a->parts.at[i], self, out);
}

static void add_children(struct printer *p, const struct owner *o, struct attribute *root)
{
	for (uint32_t i = 0; i < o->children.len; i++)
		at_path(p, root, o->children.at[i].path)->made = owner_call(p, o->children.at[i].owner);
}

const char *print_sequence(struct printer *p, const struct owner *o)
{
	struct attribute root = {0};
	add_children(p, o, &root);
	const char *list = elements_text(p, &root);
	free_parts(&root);
	if (strstr(list, " for _ in range("))
		return arena_printf(p->a, "nn.Sequential(*%s)", list);
	return arena_printf(p->a, "nn.Sequential(%.*s)", (int)strlen(list) - 2, list + 1);
}

/* ---- tied parameters ---- */

static bool add_tie(struct owner *o, const char *name, const char *given)
{
	for (uint32_t i = 0; i < o->ties.len; i++)
		if (strcmp(o->ties.at[i].name, name) == 0)
			return false;
	struct tie t = {name, given};
	vec_push(&o->ties, t);
	return true;
}

/* A parameter of a callee for which the caller passes one of another name. Then those that the callee ties to it are tied again. */
static void add_ties_of_call(struct printer *p, struct owner *o, const struct hir_unit *u, const struct hir_node *call)
{
	const struct owner *child = owner_child(o, call->layer);
	bool any = false;
	for (uint32_t i = 0; i < call->callee->n_inputs; i++) {
		const struct hir_input *in = &call->callee->inputs[i];
		const struct hir_node *arg = &u->nodes[u->args[call->args + i].u.tensor];
		if (!in->param || arg->kind != HIR_INPUT || !u->inputs[arg->index].param)
			continue;
		const char *name = arena_printf(p->a, "%s.%s", call->layer, in->name), *given = u->inputs[arg->index].name;
		any = (strcmp(name, given) != 0 && add_tie(o, name, given)) || any;
	}
	for (uint32_t i = 0; any && i < child->ties.len; i++)
		add_tie(o, arena_printf(p->a, "%s.%s", call->layer, child->ties.at[i].name),
			arena_printf(p->a, "%s.%s", call->layer, child->ties.at[i].given));
}

static void put_ties(struct printer *p, struct owner *o, struct buf *out)
{
	for (uint32_t i = 0; i < o->methods.len; i++) {
		const struct hir_unit *u = o->methods.at[i].unit;
		for (uint32_t k = 0; k < u->n_nodes; k++)
			if (u->nodes[k].kind == HIR_CALL && u->nodes[k].callee->layer && u->nodes[k].layer && *u->nodes[k].layer)
				add_ties_of_call(p, o, u, &u->nodes[k]);
	}
	for (uint32_t i = 0; i < o->ties.len; i++)
		buf_printf(out, "%s = %s\n", member_path(p->a, false, o->ties.at[i].name), member_path(p->a, false, o->ties.at[i].given));
}

const char *print_members(struct printer *p, struct owner *o)
{
	struct attribute root = {0};
	struct buf out = {0};
	for (uint32_t i = 0; i < o->methods.len; i++)
		members_add_inputs(p, o, o->methods.at[i].unit, &root);
	add_children(p, o, &root);
	for (uint32_t i = 0; i < root.parts.len; i++)
		put_attribute(p, o, root.parts.at[i], "self", &out);
	put_ties(p, o, &out);
	const char *text = arena_strndup(p->a, out.len ? out.at : "", out.len);
	free_parts(&root);
	buf_free(&out);
	return text;
}
