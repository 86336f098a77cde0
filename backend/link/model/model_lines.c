#include "backend/link/model/model_lines.h"
#include <string.h>
#include "backend/link/elf/lines.h"
#include "backend/runtime/abi/tri.h"

struct model_lines model_lines_begin(struct object *o)
{
	return (struct model_lines){.statements = section_begin(o, SECTION_RODATA, ".rodata.statements", NULL),
				    .origins = section_begin(o, SECTION_RODATA, ".rodata.origins", NULL),
				    .members = section_begin(o, SECTION_RODATA, ".rodata.members", NULL),
				    .texts = section_begin(o, SECTION_RODATA, ".rodata.texts", NULL)};
}

static void model_lines_put_text(struct model_lines *m, struct section_builder *b, const char *s)
{
	uint64_t at = m->texts.bytes.len;
	if (!map_get(&m->offsets, map_key_str(s), &at)) {
		map_put(&m->offsets, map_key_str(s), at);
		buf_put(&m->texts.bytes, s, strlen(s) + 1);
	}
	buf_u32(&b->bytes, (uint32_t)at);
}

static void put_origin(struct model_lines *m, const struct line_origin *o)
{
	struct section_builder *b = &m->origins;
	model_lines_put_text(m, b, o->file);
	buf_u32(&b->bytes, o->line);
	buf_u32(&b->bytes, o->column);
	model_lines_put_text(m, b, o->operation);
	model_lines_put_text(m, b, o->layer);
	buf_u32(&b->bytes, o->inlined_at == LINES_NONE ? TRI_NONE : m->n_origins + o->inlined_at);
}

static void put_statement(struct model_lines *m, const struct line_statement *s)
{
	model_lines_put_text(m, &m->statements, s->name);
	buf_u32(&m->statements.bytes, m->n_members);
	buf_u32(&m->statements.bytes, s->n_origins);
	buf_u8(&m->statements.bytes, s->kind);
	buf_u8(&m->statements.bytes, s->ceiling);
	buf_put(&m->statements.bytes, "\0", 2);
	for (uint32_t k = 0; k < s->n_origins; k++)
		buf_u32(&m->members.bytes, m->n_origins + s->origins[k]);
	m->n_members += s->n_origins;
}

void model_lines_put(struct model_lines *m, const struct unit_lines *l, uint32_t tag, struct buf *unit)
{
	uint32_t n = l ? l->n_statements : 0;
	buf_u32(unit, m->n_statements);
	buf_u32(unit, n);
	buf_u32(unit, l ? m->n_origins : TRI_NONE);
	buf_u32(unit, tag);
	for (uint32_t i = 0; i < n; i++)
		put_statement(m, &l->statements[i]);
	for (uint32_t k = 0; l && k < l->n_origins; k++)
		put_origin(m, &l->origins[k]);
	m->n_statements += n;
	m->n_origins += l ? l->n_origins : 0;
}

void model_lines_end(struct model_lines *m, struct section_builder *desc)
{
	section_put_address(desc, section_end(&m->statements, sizeof(tri_statement)), 0);
	section_put_address(desc, section_end(&m->origins, sizeof(tri_origin)), 0);
	section_put_address(desc, section_end(&m->members, sizeof(uint32_t)), 0);
	section_put_address(desc, section_end(&m->texts, 1), 0);
	map_free(&m->offsets);
}
