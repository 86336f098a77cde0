/* Layers that PyTorch or trib's package has. */
#include <stdlib.h>
#include <string.h>
#include "backend/pytorch/native.h"
#include "backend/pytorch/printer.h"
#include "backend/pytorch/text.h"
#include "base/arena.h"
#include "frontend/hir/hir.h"

static const struct native natives[] = {
#define LAYER(name, python, args) {name, python, args},
#include "backend/pytorch/layers.def"
};

static bool native_is_known(const struct hir_value *v)
{
	for (uint32_t i = 0; v->kind == ARG_LIST && i < v->n; i++)
		if (!native_is_known(&v->u.list[i]))
			return false;
	return v->kind != ARG_TENSOR;
}

const struct native *native_layer(const struct hir_layer *l)
{
	for (size_t i = 0; l && l->standard && i < sizeof natives / sizeof *natives; i++) {
		if (strcmp(natives[i].name, l->name) != 0)
			continue;
		for (uint32_t k = 0; k < l->n_args; k++)
			if (!native_is_known(&l->args[k]) || (strcmp(l->args[k].name, "scale") == 0 && l->args[k].u.i))
				return NULL; /* the scale of trits is a parameter here, and of the quantizer there */
		return &natives[i];
	}
	return NULL;
}

bool native_takes_pair(const struct hir_layer *l) { return l && l->standard && strcmp(l->name, "LSTM") == 0; }

const char *layer_value_text(struct printer *p, const struct hir_value *v)
{
	const char *text = "(";
	switch (v->kind) {
	case ARG_BOOL: return v->u.i ? "True" : "False";
	case ARG_INT: return arena_printf(p->a, "%lld", (long long)v->u.i);
	case ARG_FLOAT: return python_float(p->a, v->u.f, (double)(float)v->u.f == v->u.f);
	case ARG_STR: return python_string(p->a, v->u.s);
	case ARG_LIST: break;
	default: return "None";
	}
	for (uint32_t i = 0; i < v->n; i++)
		text = arena_printf(p->a, "%s%s%s", text, i ? ", " : "", layer_value_text(p, &v->u.list[i]));
	return arena_printf(p->a, v->n == 1 ? "%s,)" : "%s)", text);
}

static const struct hir_value *native_argument(const struct hir_layer *l, const char *name, size_t len)
{
	for (uint32_t i = 0; i < l->n_args; i++)
		if (strlen(l->args[i].name) == len && memcmp(l->args[i].name, name, len) == 0)
			return &l->args[i];
	return NULL;
}

const char *native_call(struct printer *p, const struct native *n, const struct hir_layer *l)
{
	const char *text = arena_printf(p->a, "%s(", n->python);
	bool first = true;
	for (const char *s = n->args; *s;) {
		size_t name = strcspn(s, "=,"), all = strcspn(s, ",");
		const struct hir_value *v = native_argument(l, s, name);
		const char *standard = name < all ? arena_strndup(p->a, s + name + 1, all - name - 1) : NULL;
		const char *before = standard ? arena_printf(p->a, "%s%.*s=", first ? "" : ", ", (int)name, s) : first ? "" : ", ";
		if (v) {
			const char *value = layer_value_text(p, v);
			bool same = standard && v->kind == ARG_INT && strchr(standard, '.') && strtod(standard, NULL) == (double)v->u.i;
			text = arena_printf(p->a, "%s%s", text, hole_text(p->a, before, same ? standard : value, standard));
			first = first && standard && strcmp(same ? standard : value, standard) == 0;
		}
		s += all;
		s += strspn(s, ", ");
	}
	return arena_printf(p->a, "%s)", text);
}
