/* How a model is opened: the memory of its states, and the file of its weights. */
#include <string.h>
#include "backend/link/model/model.h"
#include "backend/link/model/model_names.h"
#include "backend/runtime/abi/triw.h"
#include "backend/text/c/entry.h"
#include "backend/text/c/literal.h"
#include "backend/text/c/model.h"
#include "backend/text/printer.h"
#include "base/arena.h"
#include "frontend/hir/hir.h"

/* True if an entry writes a new value of the state beside the old one. */
static bool has_second_buffer(const struct model_input *in, uint32_t state)
{
	for (uint32_t i = 0; i < in->program->n_entries; i++)
		for (uint32_t k = 0; k < in->program->entries[i].n_states_out; k++)
			if (in->program->entries[i].states_out[k] == state && !model_state_grows(in, &in->program->entries[i], k))
				return true;
	return false;
}

/* Bytes of the state, or of a row of one that grows. */
static int64_t c_states_state_bytes(const struct hir_state *s)
{
	int64_t bytes = (int64_t)dtype_size(s->type.elem), size = 1;
	for (uint32_t k = 0; k < s->type.rank; k++)
		if (k != s->axis && dim_is_const(s->dims, s->type.dims[k], &size))
			bytes *= size;
	return bytes;
}

static void put_initial(const struct text_printer *e, uint32_t i, const struct tensor *t)
{
	dtype elem = t->elem == DT_FLOAT16 ? DT_BFLOAT16 : t->elem;
	int64_t n = tensor_count(t);
	if (!t->data || !n)
		return;
	buf_printf(e->out, "static const %s tri_initial%u[%lld] = {", e->d->memory[elem], i, (long long)n);
	for (int64_t k = 0; k < n; k++) {
		buf_puts(e->out, k % 16 ? ", " : k ? ",\n\t" : "");
		text_element(e, t->elem, t->data, k);
	}
	buf_puts(e->out, "};\n");
}

static void states_put(const struct text_printer *e, const struct model_input *in)
{
	const struct hir_program *p = in->program;
	for (uint32_t i = 0; i < p->n_states; i++)
		put_initial(e, i, &in->initial_states[i]);
	buf_puts(e->out, "static const struct tri_state tri_state_table[] = {");
	for (uint32_t i = 0; i < p->n_states; i++) {
		const struct hir_state *s = &p->states[i];
		bool given = in->initial_states[i].data && tensor_count(&in->initial_states[i]);
		const char *initial = given ? arena_printf(e->scratch, "tri_initial%u", i) : "NULL";
		buf_printf(e->out, "\n\t{%lld, %d, %d, %s},", (long long)c_states_state_bytes(s),
			   s->axis == HIR_NONE ? -1 : (int)s->capacity, 1 + has_second_buffer(in, i), initial);
	}
	buf_puts(e->out, "};\nstatic const tri_capacity tri_capacity_table[] = {");
	for (uint32_t i = 0; i < p->n_capacities; i++)
		buf_printf(e->out, "{%s, %lld}, ", c_literal(e->scratch, p->capacities[i].name), (long long)in->capacities[i]);
	buf_puts(e->out, "{NULL, 0}};\n\n");
}

static void put_state_functions(const struct text_printer *e, const struct hir_program *p, const char *name)
{
	buf_printf(e->out,
		   "uint64_t %s_state_bytes(const tri_memory *memory)\n{\n\tint64_t most[%u], bytes;\n"
		   "\tif (tri_capacities(memory, tri_capacity_table, most, NULL) != TRI_OK)\n\t\treturn UINT64_MAX;\n"
		   "\tbytes = tri_states_size(tri_state_table, %u, most);\n\treturn bytes < 0 ? UINT64_MAX : (uint64_t)bytes;\n}\n\n",
		   name, p->n_capacities + 1, p->n_states);
	buf_printf(
		e->out,
		"int %s_reset(%s *m, tri_error *err)\n{\n"
		"\tif (!m || !m->is_open)\n\t\treturn tri_error_set(err, TRI_ERR_ARGUMENT, m ? \"the model is not open\" : \"the model is NULL\");\n"
		"\tmemset(m->length, 0, sizeof m->length);\n\tmemset(m->second, 0, sizeof m->second);\n"
		"\tint code = TRI_OK;\n\tfor (uint32_t i = 0; i < %u && code == TRI_OK; i++)\n\t\tif (tri_state_table[i].capacity < 0)\n"
		"\t\t\tcode = tri_state_set(tri_state_at(&m->memory, tri_state_table, m->most, i, 0), tri_state_table[i].initial, (size_t)tri_state_table[i].bytes);\n"
		"\treturn tri_error_set(err, code, code == TRI_OK ? \"\" : \"the memory of the states cannot be written\");\n}\n\n",
		name, name, p->n_states);
}

/* The first bytes of the weight file, up to its digest. */
static void put_file_head(const struct text_printer *e, const struct model_weights *w)
{
	struct triw_header h = {.magic = TRIW_MAGIC, .version = TRIW_VERSION, .n_entries = w->n_blobs, .size = w->file->size};
	memcpy(h.digest, &w->file->digest, sizeof h.digest);
	buf_puts(e->out, "static const unsigned char tri_file_head[] = {");
	for (size_t i = 0; i < offsetof(struct triw_header, check); i++)
		buf_printf(e->out, "%s0x%02x", i ? ", " : "", ((const unsigned char *)&h)[i]);
	buf_puts(e->out, "};\n\n");
}

void c_states_put(const struct model_input *in, const struct model_info *info, const struct model_weights *w, const struct c_device *device,
		  struct buf *out)
{
	struct text_printer e = text_printer_new(&dialect_c11, NULL, 0, out);
	const struct hir_program *p = in->program;
	if (p->n_states) {
		states_put(&e, in);
		put_state_functions(&e, p, info->name);
	}
	if (w->file)
		put_file_head(&e, w);
	buf_printf(out,
		   "int %s_open(%s *m, const tri_memory *memory, tri_error *err)\n{\n\tint code = TRI_OK;\n"
		   "\tif (!m)\n\t\treturn tri_error_set(err, TRI_ERR_ARGUMENT, \"the model is NULL\");\n"
		   "\tmemset(m, 0, sizeof *m);\n\tif (memory)\n\t\tm->memory = *memory;\n",
		   info->name, info->name);
	if (w->file)
		buf_printf(
			out,
			"\tif ((code = tri_check_file(&m->memory, tri_file_head, sizeof tri_file_head, %s_WEIGHTS_BYTES, err)) != TRI_OK)\n\t\treturn code;\n",
			info->name);
	if (p->n_states)
		buf_printf(out,
			   "\tif ((code = tri_capacities(memory, tri_capacity_table, m->most, err)) != TRI_OK)\n\t\treturn code;\n"
			   "\tif (!m->memory.states || m->memory.states_bytes < %s_state_bytes(memory))\n"
			   "\t\treturn tri_error_set(err, TRI_ERR_MEMORY, \"the memory for the states is too small\");\n",
			   info->name);
	if (device)
		buf_printf(out, "\tif ((code = %s) != TRI_OK)\n\t\treturn code;\n", device->open);
	buf_puts(out, "\tm->is_open = 1;\n");
	if (p->n_states)
		buf_printf(out, "\tcode = %s_reset(m, err);\n", info->name);
	if (p->n_states && device)
		buf_printf(out, "\tif (code != TRI_OK)\n\t\t%s_close(m);\n", info->name);
	buf_puts(out, p->n_states ? "\treturn code;\n}\n\n" : "\treturn tri_error_set(err, code, \"\");\n}\n\n");
	if (device)
		buf_printf(out, "void %s_close(%s *m)\n{\n\tif (m && m->is_open)\n\t\t%s;\n\tif (m)\n\t\tmemset(m, 0, sizeof *m);\n}\n\n",
			   info->name, info->name, device->close);
	arena_free(e.scratch);
}
