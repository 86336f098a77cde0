#include "builder/weights/weights_file.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

void weights_print_shape(struct buf *b, const int64_t *dims, uint32_t rank)
{
	buf_putc(b, '[');
	for (uint32_t i = 0; i < rank; i++)
		buf_printf(b, "%s%lld", i ? ", " : "", (long long)dims[i]);
	buf_putc(b, ']');
}

const char *weights_type_text(const struct file_tensor *tensor)
{
	return tensor->elem < DT_COUNT ? dtype_text(tensor->elem) : tensor->type;
}

const char *weights_remedy(struct arena *a, const struct file_tensor *tensor, dtype want)
{
	static const char *const widened[][2] = {{"U16", "int32"}, {"U32", "int64"}, {"U64", "int64"}};
	const char *to = strncmp(tensor->type, "F8", 2) == 0 ? "float16" : strncmp(tensor->type, "F", 1) == 0 ? "float32" : NULL;
	if (tensor->elem < DT_COUNT)
		return arena_printf(a, "save it with at most 8 dimensions: `w.flatten(0, %u)`", tensor->rank - 8);
	for (size_t i = 0; i < sizeof widened / sizeof *widened; i++)
		if (strcmp(tensor->type, widened[i][0]) == 0)
			to = widened[i][1];
	if (want == DT_TRIT)
		to = "int8";
	else if (want < DT_COUNT && want != DT_BOOL)
		to = dtype_text(want);
	if (!to)
		return "save it with an element type that the language has, e.g. float32";
	return arena_printf(a, "convert it before saving: `w.to(torch.%s)`", to);
}

const struct elab_input *weights_tensors(struct arena *a, const struct weights *w, uint32_t *n)
{
	struct elab_input *list = ARENA_ARRAY(a, struct elab_input, (w ? w->st->n : 0) + 1);
	*n = w ? w->st->n : 0;
	for (uint32_t i = 0; i < *n; i++) {
		const struct file_tensor *t = &w->st->tensors[i];
		struct elab_input *in = &list[i];
		*in = (struct elab_input){.name = t->name, .elem = t->elem, .at = w->at};
		if (t->elem < DT_COUNT && t->rank <= 8) {
			in->rank = (uint8_t)t->rank;
			memcpy(in->dims, t->dims, t->rank * sizeof *t->dims);
			continue;
		}
		struct buf b = {0};
		buf_printf(&b, "`%s` holds `%s` as %s", w->path, t->name, weights_type_text(t));
		weights_print_shape(&b, t->dims, t->rank);
		buf_puts(&b, t->elem == DT_COUNT ? ": the language has no such element type" : ": tensors have at most 8 dimensions");
		in->unusable = arena_strdup(a, b.at);
		in->remedy = weights_remedy(a, t, DT_COUNT);
		buf_free(&b);
	}
	return list;
}

const char *weights_full_name(const struct weights *w, uint32_t i) { return w->st->tensors[i].name - w->st->tensors[i].prefix; }

const struct file_tensor *weights_find(const struct weights *w, const struct hir_param *p)
{
	const struct file_tensor *s = w ? tensor_list_find(w->st, p->name) : NULL;
	for (uint32_t i = 0; w && !s && i < p->n_aliases; i++)
		s = tensor_list_find(w->st, p->aliases[i]);
	return s;
}

dtype *weights_types(struct arena *a, const struct weights *w, const struct hir_program *p)
{
	dtype *types = ARENA_ARRAY(a, dtype, p->n_params + 1);
	for (uint32_t i = 0; i < p->n_params; i++) {
		const struct file_tensor *s = weights_find(w, &p->params[i]);
		types[i] = p->params[i].type.elem;
		if (types[i] == DT_FLOAT32 && s && s->encoding == TENSOR_PLAIN && (s->elem == DT_BFLOAT16 || s->elem == DT_FLOAT16))
			types[i] = s->elem;
	}
	return types;
}
