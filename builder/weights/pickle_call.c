/* What a pickle may name and call. */
#include <string.h>
#include "base/arena.h"
#include "builder/weights/pickle_state.h"

enum global { GLOBAL_DICT, GLOBAL_TENSOR, GLOBAL_PARAMETER, GLOBAL_SIZE, GLOBAL_STORAGE };

static const struct {
	const char *module, *name;
	enum global global;
	dtype elem;
} globals[] = {
	{"collections", "OrderedDict", GLOBAL_DICT, DT_COUNT},
	{"torch._utils", "_rebuild_tensor_v2", GLOBAL_TENSOR, DT_COUNT},
	{"torch._utils", "_rebuild_parameter", GLOBAL_PARAMETER, DT_COUNT},
	{"torch", "Size", GLOBAL_SIZE, DT_COUNT},
	{"torch", "FloatStorage", GLOBAL_STORAGE, DT_FLOAT32},
	{"torch", "HalfStorage", GLOBAL_STORAGE, DT_FLOAT16},
	{"torch", "BFloat16Storage", GLOBAL_STORAGE, DT_BFLOAT16},
	{"torch", "DoubleStorage", GLOBAL_STORAGE, DT_FLOAT64},
	{"torch", "CharStorage", GLOBAL_STORAGE, DT_INT8},
	{"torch", "ShortStorage", GLOBAL_STORAGE, DT_INT16},
	{"torch", "IntStorage", GLOBAL_STORAGE, DT_INT32},
	{"torch", "LongStorage", GLOBAL_STORAGE, DT_INT64},
	{"torch", "BoolStorage", GLOBAL_STORAGE, DT_BOOL},
	{"torch", "ByteStorage", GLOBAL_STORAGE, DT_UINT8},
};

void pickle_push_global(struct machine *m, const char *module, const char *name)
{
	for (size_t k = 0; k < sizeof globals / sizeof *globals; k++)
		if (strcmp(globals[k].module, module) == 0 && strcmp(globals[k].name, name) == 0) {
			struct pickle *p = pickle_push(m, PICKLE_GLOBAL);
			p->number = (int64_t)k;
			p->text = globals[k].name;
			return;
		}
	pickle_fail(m, arena_printf(m->in.a, "it refers to `%s.%s`; only tensors in dictionaries are read", module, name));
}

static const struct pickle *pickle_call_argument(const struct pickle *args, uint32_t i, enum pickle_kind kind)
{
	return i < args->n && args->at[i]->kind == kind ? args->at[i] : NULL;
}

/* ("storage", a storage type, key, device, number of elements) */
void pickle_push_storage(struct machine *m)
{
	const struct pickle *id = pickle_pop(m);
	const struct pickle *type = pickle_call_argument(id, 1, PICKLE_GLOBAL), *key = pickle_call_argument(id, 2, PICKLE_TEXT),
			    *n = pickle_call_argument(id, 4, PICKLE_INT);
	if (id->kind != PICKLE_LIST || !type || globals[type->number].global != GLOBAL_STORAGE || !key || !n || n->number < 0) {
		pickle_fail(m, "the pickle describes a storage in an unknown way");
		return;
	}
	struct pickle *s = pickle_push(m, PICKLE_STORAGE);
	s->elem = globals[type->number].elem;
	s->type = type->text;
	s->text = key->text;
	s->number = n->number;
}

static bool pickle_call_is_tensor(const struct pickle *args)
{
	return pickle_call_argument(args, 0, PICKLE_STORAGE) && pickle_call_argument(args, 1, PICKLE_INT) &&
	       pickle_call_argument(args, 2, PICKLE_LIST) && pickle_call_argument(args, 3, PICKLE_LIST) && args->at[2]->n == args->at[3]->n;
}

void pickle_call(struct machine *m)
{
	struct pickle *args = pickle_pop(m), *fn = pickle_pop(m), *t;
	enum global g = fn->kind == PICKLE_GLOBAL ? globals[fn->number].global : GLOBAL_STORAGE;
	bool ok = args->kind == PICKLE_LIST && g != GLOBAL_STORAGE;
	if (ok && g == GLOBAL_DICT && args->n == 0) {
		pickle_push(m, PICKLE_DICT);
	} else if (ok && g == GLOBAL_TENSOR && pickle_call_is_tensor(args)) {
		t = pickle_push(m, PICKLE_TENSOR);
		t->number = args->at[1]->number;
		pickle_append(m, t, args->at[0]);
		pickle_append(m, t, args->at[2]);
		pickle_append(m, t, args->at[3]);
	} else if (ok && g == GLOBAL_PARAMETER && pickle_call_argument(args, 0, PICKLE_TENSOR)) {
		vec_push(&m->stack, args->at[0]);
	} else if (ok && g == GLOBAL_SIZE && pickle_call_argument(args, 0, PICKLE_LIST)) {
		vec_push(&m->stack, args->at[0]);
	} else {
		pickle_fail(m, arena_printf(m->in.a, "the pickle calls `%s` in an unknown way",
					    fn->kind == PICKLE_GLOBAL ? fn->text : "a value"));
	}
}

/* Attributes of dictionaries, such as the versions of modules, are ignored. */
void pickle_set_state(struct machine *m)
{
	pickle_pop(m);
	enum pickle_kind kind = pickle_top(m)->kind;
	if (kind != PICKLE_DICT && kind != PICKLE_TENSOR)
		pickle_fail(m, "the pickle sets attributes of an object");
}
