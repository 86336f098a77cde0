/* The methods of a layer, and the functions of the file. */
#include <ctype.h>
#include <string.h>
#include "backend/pytorch/body.h"
#include "backend/pytorch/class.h"
#include "backend/pytorch/text.h"
#include "base/arena.h"

/* True for the body of a branch or a loop: its name begins with that of its function. */
static bool is_body(const struct hir_unit *u)
{
	return strstr(u->name, ", ") && strncmp(u->name, u->function, strlen(u->function)) == 0 && u->name[strlen(u->function)] == ',';
}

static const char *lower_name(struct printer *p, const char *name)
{
	char *s = arena_strdup(p->a, name);
	for (char *c = s; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return s;
}

static const char *wanted_name(struct printer *p, const struct owner *o, const struct hir_unit *u)
{
	if (is_body(u))
		return arena_printf(p->a, "_%s_body", u->function);
	if (!u->layer || (o->layer && hash_eq(u->layer->key, o->layer->key)))
		return python_name(p->a, o->entry ? "forward" : u->function);
	const char *name = u->layer->name + (*u->layer->name == '_');
	return strcmp(u->function, "forward") == 0 ? arena_printf(p->a, "_%s", lower_name(p, name))
						   : arena_printf(p->a, "_%s_%s", lower_name(p, name), u->function);
}

const char *function_name(struct printer *p, const struct owner *owner, const struct hir_unit *u)
{
	const struct owner *o = owner ? owner : p->file;
	for (uint32_t i = 0; i < o->methods.len; i++)
		if (o->methods.at[i].unit == u && o->methods.at[i].name)
			return o->methods.at[i].name;
	report_unprintable(p, u->at, "a call of this function");
	return "None";
}

/* The text after the name of the function. */
static const char *after_name(const char *text) { return strchr(text, '('); }

/* Methods with one text are one method, for tensors of any shape; `text` NULL: it is none of them. Names others apart. */
static const char *free_name(struct printer *p, const struct owner *o, const char *wanted, const char *text)
{
	const char *name = wanted;
	for (uint32_t k = 2;; k++) {
		const struct method *known = NULL;
		for (uint32_t i = 0; i < o->methods.len; i++)
			if (o->methods.at[i].name && strcmp(o->methods.at[i].name, name) == 0)
				known = &o->methods.at[i];
		if (!known || (text && known->text && strcmp(after_name(known->text), after_name(text)) == 0))
			return name;
		name = arena_printf(p->a, "%s_%u", wanted, k);
	}
}

static const char *methods_text_of(struct printer *p, struct owner *o, struct method *m)
{
	const struct body_spec spec = {.unit = m->unit,
				       .name = wanted_name(p, o, m->unit),
				       .owner = o == p->file ? NULL : o,
				       .documented = !is_body(m->unit),
				       .params = o->entry && o->entry->unit == m->unit ? o->entry->params : NULL};
	return print_function(p, &spec, m);
}

static bool takes_layers(const struct owner *o, const struct printer *p, const struct hir_unit *u)
{
	for (uint32_t i = 0; o == p->file && i < u->n_inputs; i++)
		if (u->inputs[i].param)
			return true;
	return false;
}

static void add_text(struct printer *p, struct owner *o, const char *text)
{
	const char *between = o == p->file ? "\n\n" : "\n";
	o->body = o->body ? arena_printf(p->a, "%s%s%s", o->body, *o->body ? between : "", text) : text;
}

void print_methods(struct printer *p, struct owner *o)
{
	for (uint32_t i = 0; i < o->methods.len; i++) {
		struct method *m = &o->methods.at[i];
		if (takes_layers(o, p, m->unit)) { /* printed when the methods of the layers have names */
			m->name = free_name(p, o, wanted_name(p, o, m->unit), NULL);
			continue;
		}
		const char *text = methods_text_of(p, o, m), *name = free_name(p, o, wanted_name(p, o, m->unit), text);
		bool known = false;
		for (uint32_t k = 0; k < i; k++)
			known = known || strcmp(o->methods.at[k].name, name) == 0;
		m->name = name;
		m->text = arena_printf(p->a, "def %s%s", name, after_name(text));
		if (!known)
			add_text(p, o, m->text);
	}
	o->body = o->body ? o->body : "";
}

void print_functions_of_layers(struct printer *p)
{
	for (uint32_t i = 0; i < p->file->methods.len; i++) {
		struct method *m = &p->file->methods.at[i];
		if (!takes_layers(p->file, p, m->unit))
			continue;
		m->text = arena_printf(p->a, "def %s%s", m->name, after_name(methods_text_of(p, p->file, m)));
		if (m->n_sizes)
			report_unprintable(p, m->unit->at, "a function that takes a layer and a size");
		add_text(p, p->file, m->text);
	}
}
