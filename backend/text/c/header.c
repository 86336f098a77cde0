/* The header of a C file. Its types of tensors and errors are those of all generated headers. */
#include <string.h>
#include "backend/link/model/model.h"
#include "backend/link/model/model_names.h"
#include "backend/link/model/runtime_objects.h"
#include "backend/text/c/model.h"
#include "base/arena.h"
#include "base/buf.h"
#include "frontend/hir/hir.h"

/* The part of tri.h that says what tensors and errors are. */
static void put_tensor_types(struct buf *out)
{
	const char *from = strstr(runtime_header(), "#ifndef TRI_TENSOR "), *end = "#endif /* TRI_TENSOR */\n";
	buf_put(out, from, (size_t)(strstr(from, end) + strlen(end) - from));
}

static const char memory_type[] =
	"#ifndef TRI_MEMORY\n"
	"#define TRI_MEMORY\n"
	"/* What the caller gives an opened model. It stays the caller's, and valid as long as the model is used. Members that a model does not need may be 0. */\n"
	"typedef struct tri_memory {\n"
	"\tconst void *weights; /* the content of the model's .triw file, aligned to 8 bytes */\n"
	"\tuint64_t weights_bytes;\n"
	"\tvoid *states; /* memory for the states, aligned to 8 bytes */\n"
	"\tuint64_t states_bytes;\n"
	"\tconst tri_capacity *capacities; /* in place of those of the manifest */\n"
	"\tuint32_t n_capacities;\n"
	"\t/* Gets what the model prints: a text with a placeholder {} or {:format} for each value; {{ and }} are braces. NULL: it prints nothing. */\n"
	"\tvoid (*print)(void *user, const char *text, const tri_tensor *values, uint32_t n);\n"
	"\tvoid *user;\n"
	"} tri_memory;\n"
	"#endif\n";

static void put_model_type(struct buf *out, const struct hir_program *p, const char *name)
{
	buf_printf(
		out,
		"/* An opened model. Only the functions below change its members. One thread at a time may use it. */\ntypedef struct %s {\n",
		name);
	buf_puts(out, "\ttri_memory memory;\n\tint is_open; /* 0 after an open that failed */\n");
	uint32_t n = p->n_capacities ? p->n_capacities : 1;
	if (p->n_states)
		buf_printf(
			out,
			"\tint64_t most[%u], length[%u]; /* of the states of each capacity: rows that have room, and that are there */\n",
			n, n);
	if (p->n_states)
		buf_printf(out, "\tunsigned char second[%u]; /* for each state 1 if its value is in the second of its two buffers */\n",
			   p->n_states);
	buf_printf(out, "} %s;\n", name);
}

static void header_put_functions(struct arena *a, struct buf *out, const struct model_input *in, const char *name, uint32_t entry)
{
	const char *prefix = model_entry_prefix(a, in->program, name, entry);
	model_io_put(a, out, in, prefix, entry);
	buf_printf(
		out,
		"/* Returns the bytes of memory that a run with these shapes needs; UINT64_MAX: *err says why there is no such run. err may be NULL. */\n"
		"uint64_t %s_scratch_bytes(const %s *m, const %s_io *io, tri_error *err);\n"
		"/* Checks shapes and element types, then computes the outputs. `scratch` is aligned to 8 bytes; nothing in it is kept. Returns TRI_OK,\n"
		" * or another code of enum tri_code with a message in *err. err may be NULL. */\n"
		"int %s_run(%s *m, const %s_io *io, void *scratch, uint64_t scratch_bytes, tri_error *err);\n\n",
		prefix, name, prefix, prefix, name, prefix);
}

void c_header_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, const struct c_device *device,
		  struct buf *out)
{
	struct arena *a = arena_new(0);
	const struct hir_program *p = in->program;
	const char *name = info->name;
	model_title_put(out, info);
	buf_printf(out, "%s */\n#ifndef TRI_C_%s_H\n#define TRI_C_%s_H\n#include <stdint.h>\n\n",
		   device ? device->files : "Compile the C file of this name.", name, name);
	put_tensor_types(out);
	buf_puts(out, memory_type);
	buf_puts(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
	put_model_type(out, p, name);
	if (w->file)
		buf_printf(
			out,
			"/* The model's weights are in this file, of so many bytes. */\n#define %s_WEIGHTS \"%s\"\n#define %s_WEIGHTS_BYTES %llu\n",
			name, w->file->name, name, (unsigned long long)w->file->size);
	if (p->n_states)
		buf_printf(out,
			   "/* Returns the bytes that the states need; UINT64_MAX: a capacity is wrong. memory may be NULL. */\n"
			   "uint64_t %s_state_bytes(const tri_memory *memory);\n"
			   "/* Sets all states to their initial values; those that grow become empty. */\n"
			   "int %s_reset(%s *m, tri_error *err);\n",
			   name, name, name);
	if (device)
		buf_puts(out, device->memory);
	buf_printf(
		out,
		"/* Opens the model. memory may be NULL if the model needs none. Returns TRI_OK, or another code with a message in *err. err may be NULL. */\n"
		"int %s_open(%s *m, const tri_memory *memory, tri_error *err);\n\n",
		name, name);
	if (device)
		buf_printf(out, "/* Frees the weights on the device; m may be NULL. */\nvoid %s_close(%s *m);\n\n", name, name);
	for (uint32_t i = 0; i < p->n_entries; i++)
		header_put_functions(a, out, in, name, i);
	buf_puts(out, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
	arena_free(a);
}
