/* Writes the C header of a model: one file for C and C++. */
#include <string.h>
#include "backend/link/model/model.h"
#include "backend/link/model/model_names.h"
#include "backend/link/model/runtime_objects.h"
#include "backend/runtime/abi/tri.h"
#include "base/arena.h"
#include "base/buf.h"
#include "frontend/hir/hir.h"

/* Without line breaks and ends of comments; s may be NULL. */
static void model_header_put_comment(struct buf *out, const char *s)
{
	for (; s && *s; s++)
		buf_putc(out, (unsigned char)*s < ' ' || (*s == '/' && out->len && out->at[out->len - 1] == '*') ? ' ' : *s);
}

void model_title_put(struct buf *out, const struct model_info *info)
{
	buf_puts(out, "/* ");
	model_header_put_comment(out, info->name);
	buf_putc(out, ' ');
	model_header_put_comment(out, info->version);
	buf_puts(out, ": built by ");
	model_header_put_comment(out, info->compiler);
	buf_puts(out, ", do not edit. ");
}

static void model_header_put_type(struct buf *out, const struct hir_unit *u, const struct hir_type *t)
{
	buf_printf(out, "%s [", dtype_text(t->elem));
	for (uint32_t k = 0; k < t->rank; k++) {
		buf_puts(out, k ? ", " : "");
		dim_print(u->dims, t->dims[k], out);
	}
	buf_puts(out, "]");
}

void model_io_put(struct arena *a, struct buf *out, const struct model_input *in, const char *prefix, uint32_t entry)
{
	const struct hir_entry *e = &in->program->entries[entry];
	uint32_t n, n_inputs;
	struct model_io *io = model_io_list(a, e, &n, &n_inputs);
	buf_printf(out,
		   "/* The tensors of %s_run. The caller owns their memory and sets data, shape, rank and dtype of each. */\n"
		   "typedef struct %s_io {\n",
		   prefix, prefix);
	bool any = false;
	for (uint32_t k = 0; k < n; k++) {
		if (io[k].state)
			continue;
		any = true;
		buf_printf(out, "\ttri_tensor %s; /* %s: ", io[k].member, io[k].output ? "output" : "input");
		model_header_put_type(out, e->unit, io[k].type);
		buf_puts(out, " */\n");
	}
	if (!any)
		buf_puts(out, "\ttri_tensor none;\n");
	buf_printf(out, "} %s_io;\n", prefix);
}

static void model_header_put_entry(struct arena *a, struct buf *out, const struct model_input *in, const struct model_info *info,
				   uint32_t i)
{
	const char *prefix = model_entry_prefix(a, in->program, info->name, i);
	model_io_put(a, out, in, prefix, i);
	buf_printf(
		out,
		"/* Checks shapes and element types, then computes the outputs. Returns TRI_OK, or another code of enum tri_code with a message in *err.\n"
		" * err may be NULL. Allocates memory only if the shapes need more than all runs before. */\n"
		"int %s_run(%s *m, const %s_io *io, tri_error *err);\n"
		"/* Starts a run on a thread of m and returns. Unless it returns an error, `done` is called once, on that thread, with its error;\n"
		" * io and its memory must last until then. `done` may run m again, or close it. */\n"
		"int %s_run_async(%s *m, const %s_io *io, tri_done *done, void *user, tri_error *err);\n\n",
		prefix, info->name, prefix, prefix, info->name, prefix);
}

static void model_header_put_states(struct buf *out, const struct model_input *in, const char *name)
{
	const struct hir_program *p = in->program;
	if (!p->n_states)
		return;
	buf_puts(out, "/* An opened model keeps these between runs; entries share them. A run that fails leaves them as they were.\n");
	for (uint32_t i = 0; i < p->n_states; i++) {
		const struct hir_state *s = &p->states[i];
		buf_printf(out, " *   %s: %s [", s->name, dtype_text(s->type.elem));
		for (uint32_t k = 0; k < s->type.rank; k++) {
			buf_puts(out, k ? ", " : "");
			if (k == s->axis)
				buf_printf(out, "up to %s", p->capacities[s->capacity].name);
			else
				dim_print(s->dims, s->type.dims[k], out);
		}
		buf_puts(out, "]\n");
	}
	buf_printf(
		out,
		" * Each call below returns TRI_OK, or another code with a message in *err; err may be NULL. */\n"
		"/* Sets all states to their initial values; those that grow become empty. */\n"
		"int %s_reset(%s *m, tri_error *err);\n"
		"/* Copies all states to `to`, which has room for *size bytes, and sets *size to their number. to NULL: only sets *size. */\n"
		"int %s_state_save(%s *m, void *to, uint64_t *size, tri_error *err);\n"
		"/* Sets all states to saved ones. Data that is damaged, or of other states, changes nothing. */\n"
		"int %s_state_load(%s *m, const void *from, uint64_t size, tri_error *err);\n\n",
		name, name, name, name, name, name);
}

static void model_header_put_profile(struct buf *out, const char *name)
{
	buf_printf(
		out,
		"/* What the statements cost in the runs since m was opened or %s_profile_reset was called. Valid until the next call with m. Not during a\n"
		" * run. NULL: *err says why; err may be NULL. */\n"
		"const tri_profile *%s_profile(%s *m, tri_error *err);\n"
		"int %s_profile_reset(%s *m, tri_error *err);\n\n",
		name, name, name, name, name);
}

void model_header(const struct model_input *in, const struct model_info *info, struct buf *out)
{
	struct arena *a = arena_new(0);
	const char *name = info->name;
	model_title_put(out, info);
	buf_printf(out, "Link with the library of this name. */\n#ifndef TRI_MODEL_%s_H\n#define TRI_MODEL_%s_H\n\n", name, name);
	buf_puts(out, runtime_header());
	buf_printf(
		out,
		"#if TRI_ABI != %d\n#error \"the headers of two models come from incompatible versions of trib\"\n#endif\n\n"
		"#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
		"/* An opened model: its threads and its working memory. One thread at a time may use it; open it several times to run in parallel.\n"
		" * A run during another thread's run does nothing and returns TRI_ERR_BUSY. */\n"
		"typedef struct %s %s;\n\n",
		TRI_ABI, name, name);
	for (uint32_t i = 0; i < in->program->n_entries; i++)
		model_header_put_entry(a, out, in, info, i);
	model_header_put_states(out, in, name);
	if (info->profile_hook)
		model_header_put_profile(out, name);
	buf_printf(out,
		   "/* Opens the model. opt and err may be NULL. Returns NULL on failure, with a message in *err. */\n"
		   "%s *%s_open(const tri_options *opt, tri_error *err);\n"
		   "/* Ends the threads of m and frees it. m may be NULL. During a run, that run frees it at its end. */\n"
		   "void %s_close(%s *m);\n"
		   "/* What m runs on. */\n"
		   "const tri_device *%s_device(%s *m);\n"
		   "/* Describes this library: names, element types, shapes, version. */\n"
		   "extern const tri_model_desc %s_desc;\n\n"
		   "#ifdef __cplusplus\n}\n#endif\n#endif\n",
		   name, name, name, name, name, name, name);
	arena_free(a);
}
