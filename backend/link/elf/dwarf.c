/* One compile unit for the library. Each fragment is a sequence of its line table. A function of a unit has nested inlined subroutines where
 * its code comes from a unit that was inlined. Names are in place (DW_FORM_string): most occur once. */
#include "backend/link/elf/dwarf.h"
#include <string.h>
#include "backend/link/elf/lines.h"
#include "backend/link/elf/link_state.h"
#include "backend/link/elf/linked_code.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

enum {
	DW_TAG_COMPILE_UNIT = 0x11,
	DW_TAG_INLINED_SUBROUTINE = 0x1d,
	DW_TAG_SUBPROGRAM = 0x2e,
	DW_AT_NAME = 0x03,
	DW_AT_STMT_LIST = 0x10,
	DW_AT_LOW_PC = 0x11,
	DW_AT_HIGH_PC = 0x12,
	DW_AT_LANGUAGE = 0x13,
	DW_AT_INLINE = 0x20,
	DW_AT_PRODUCER = 0x25,
	DW_AT_ABSTRACT_ORIGIN = 0x31,
	DW_AT_DECL_FILE = 0x3a,
	DW_AT_DECL_LINE = 0x3b,
	DW_AT_CALL_COLUMN = 0x57,
	DW_AT_CALL_FILE = 0x58,
	DW_AT_CALL_LINE = 0x59,
	DW_FORM_ADDR = 0x01,
	DW_FORM_DATA8 = 0x07,
	DW_FORM_STRING = 0x08,
	DW_FORM_DATA1 = 0x0b,
	DW_FORM_UDATA = 0x0f,
	DW_FORM_REF4 = 0x13,
	DW_FORM_SEC_OFFSET = 0x17,
	DW_INL_INLINED = 1,
	DW_LANG_C99 = 0x0c, /* debuggers need a language that they know */
	DW_LNS_COPY = 1,
	DW_LNS_ADVANCE_PC = 2,
	DW_LNS_ADVANCE_LINE = 3,
	DW_LNS_SET_FILE = 4,
	DW_LNS_SET_COLUMN = 5,
	DW_LNE_END_SEQUENCE = 1,
	DW_LNE_SET_ADDRESS = 2,
	DWARF_VERSION = 4,
	OPCODE_BASE = 13,
	MOST_ROWS = 8,
};
enum abbrev { ABBREV_UNIT = 1, ABBREV_FUNCTION, ABBREV_INLINED_FUNCTION, ABBREV_INLINED };

/* Each: number, tag, has children, pairs of attribute and form, 0 0. */
static const uint16_t abbrevs[] = {
	/* clang-format off */
	ABBREV_UNIT, DW_TAG_COMPILE_UNIT, 1, DW_AT_PRODUCER, DW_FORM_STRING, DW_AT_LANGUAGE, DW_FORM_DATA1, DW_AT_NAME, DW_FORM_STRING,
	DW_AT_STMT_LIST, DW_FORM_SEC_OFFSET, DW_AT_LOW_PC, DW_FORM_ADDR, DW_AT_HIGH_PC, DW_FORM_DATA8, 0, 0,
	ABBREV_FUNCTION, DW_TAG_SUBPROGRAM, 1, DW_AT_NAME, DW_FORM_STRING, DW_AT_DECL_FILE, DW_FORM_UDATA, DW_AT_DECL_LINE, DW_FORM_UDATA,
	DW_AT_LOW_PC, DW_FORM_ADDR, DW_AT_HIGH_PC, DW_FORM_DATA8, 0, 0,
	ABBREV_INLINED_FUNCTION, DW_TAG_SUBPROGRAM, 0, DW_AT_NAME, DW_FORM_STRING, DW_AT_INLINE, DW_FORM_DATA1, 0, 0,
	ABBREV_INLINED, DW_TAG_INLINED_SUBROUTINE, 1, DW_AT_ABSTRACT_ORIGIN, DW_FORM_REF4, DW_AT_LOW_PC, DW_FORM_ADDR, DW_AT_HIGH_PC,
	DW_FORM_DATA8, DW_AT_CALL_FILE, DW_FORM_UDATA, DW_AT_CALL_LINE, DW_FORM_UDATA, DW_AT_CALL_COLUMN, DW_FORM_UDATA, 0, 0,
	0,
	/* clang-format on */
};

struct writer {
	const struct link *l;
	const struct linked_code *codes; /* of each object */
	uint64_t text, size;
	struct buf *out;
	VEC(const char *) files;
	struct map inlined; /* from a function's name to its DIE */
};

static void put_uleb(struct buf *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		buf_u8(b, (uint8_t)(v | 128));
	buf_u8(b, (uint8_t)v);
}

static void put_sleb(struct buf *b, int64_t v)
{
	for (; v < -64 || v > 63; v >>= 7)
		buf_u8(b, (uint8_t)((v & 127) | 128));
	buf_u8(b, (uint8_t)(v & 127));
}

static void dwarf_put_text(struct buf *b, const char *s) { buf_put(b, s, strlen(s) + 1); }
static void put_u16(struct buf *b, uint32_t v)
{
	buf_u8(b, (uint8_t)v);
	buf_u8(b, (uint8_t)(v >> 8));
}
static void set_u32(struct buf *b, size_t at, size_t v)
{
	uint32_t x = (uint32_t)v;
	memcpy(b->at + at, &x, sizeof x);
}
/* Starts something with a length before it, and ends it. */
static size_t begin_length(struct buf *b)
{
	buf_u32(b, 0);
	return b->len;
}
static void end_length(struct buf *b, size_t start) { set_u32(b, start - 4, b->len - start); }

/* Files have numbers from 1 on. */
static uint32_t file_number(struct writer *w, const char *file)
{
	uint32_t k = 0;
	while (k < w->files.len && strcmp(w->files.at[k], file) != 0)
		k++;
	if (k == w->files.len)
		vec_push(&w->files, file);
	return k + 1;
}

/* ---- statements ---- */

/* Returns the end of the rows that have the number of row k. */
static uint32_t end_of_run(const struct linked_code *c, uint32_t k)
{
	uint32_t number = c->rows[k].number;
	while (k < c->n && c->rows[k].number == number)
		k++;
	return k;
}

static bool in_unit(const struct line_origin *p) { return p->inlined_at == LINES_NONE; }

/* Returns the place of row `nth` of the `n` rows at the beginning of a statement. The last has the first operation, for the rest of the code.
 * Before it come the unit's own lines of all operations, so that a debugger can stop at a call that was inlined, or at an operation that was
 * fused with another. */
static const struct line_origin *place_of_row(const struct linked_code *c, uint32_t number, uint32_t nth, uint32_t n)
{
	const struct line_origin *last = linked_code_place(c, number), *known[MOST_ROWS];
	uint32_t n_known = 0;
	const struct line_statement *s = number && number <= c->lines->n_statements ? &c->lines->statements[number - 1] : NULL;
	for (uint32_t i = 0; s && nth + 1 < n && i < s->n_origins && n_known <= nth && n_known < MOST_ROWS; i++) {
		const struct line_origin *p = &c->lines->origins[s->origins[i]];
		while (!in_unit(p))
			p = &c->lines->origins[p->inlined_at];
		bool is_new = p != last;
		for (uint32_t k = 0; k < n_known; k++)
			is_new &= known[k]->line != p->line || strcmp(known[k]->file, p->file) != 0;
		if (is_new)
			known[n_known++] = p;
	}
	return nth < n_known && nth + 1 < n ? known[nth] : last;
}

/* ---- .debug_line ---- */

/* The registers of the line table. */
struct line_state {
	uint32_t at, line, file, column;
};

static void dwarf_put_row(struct writer *w, struct line_state *s, uint32_t offset, const struct line_origin *p)
{
	struct buf *b = &w->out[DWARF_LINE];
	uint32_t file = file_number(w, p->file);
	buf_u8(b, DW_LNS_ADVANCE_PC);
	put_uleb(b, offset - s->at);
	if (file != s->file) {
		buf_u8(b, DW_LNS_SET_FILE);
		put_uleb(b, file);
	}
	if (p->column != s->column) {
		buf_u8(b, DW_LNS_SET_COLUMN);
		put_uleb(b, p->column);
	}
	buf_u8(b, DW_LNS_ADVANCE_LINE);
	put_sleb(b, (int64_t)p->line - s->line);
	buf_u8(b, DW_LNS_COPY);
	*s = (struct line_state){offset, p->line, file, p->column};
}

static void put_sequence(struct writer *w, const struct linked_code *c)
{
	struct buf *b = &w->out[DWARF_LINE];
	struct line_state state = {.line = 1, .file = 1};
	buf_u8(b, 0);
	put_uleb(b, 9);
	buf_u8(b, DW_LNE_SET_ADDRESS);
	buf_u64(b, c->address);
	for (uint32_t k = 0, end; k < c->n; k = end) {
		end = end_of_run(c, k);
		for (uint32_t i = k; i < end; i++)
			if (c->rows[i + 1].offset != c->rows[i].offset) /* it has code */
				dwarf_put_row(w, &state, c->rows[i].offset, place_of_row(c, c->rows[i].number, i - k, end - k));
	}
	buf_u8(b, DW_LNS_ADVANCE_PC);
	put_uleb(b, c->rows[c->n].offset - state.at);
	buf_u8(b, 0);
	put_uleb(b, 1);
	buf_u8(b, DW_LNE_END_SEQUENCE);
}

/* The program comes first, because its header has the files. */
static void dwarf_put_lines(struct writer *w)
{
	static const uint8_t lengths[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	struct buf *b = &w->out[DWARF_LINE], program = {0};
	for (uint32_t i = 0; i < w->l->request->n_objects; i++)
		if (w->codes[i].n)
			put_sequence(w, &w->codes[i]);
	program = *b;
	*b = (struct buf){0};
	size_t unit = begin_length(b);
	put_u16(b, DWARF_VERSION);
	size_t header = begin_length(b);
	buf_u8(b, 1); /* bytes of the shortest instruction */
	buf_u8(b, 1); /* operations of an instruction */
	buf_u8(b, 1); /* rows are statements */
	buf_u8(b, 0); /* special opcodes, which are not used: first line, number of lines */
	buf_u8(b, 1);
	buf_u8(b, OPCODE_BASE);
	buf_put(b, lengths, sizeof lengths);
	buf_u8(b, 0); /* folders */
	for (uint32_t k = 0; k < w->files.len; k++) {
		dwarf_put_text(b, w->files.at[k]);
		buf_put(b, "\0\0", 3); /* folder, time, size */
	}
	buf_u8(b, 0);
	end_length(b, header);
	buf_put(b, program.at, program.len);
	end_length(b, unit);
	buf_free(&program);
}

/* ---- .debug_info ---- */

/* Functions that were inlined are described once. */
static void put_inlined_functions(struct writer *w, const struct unit_lines *lines)
{
	struct buf *b = &w->out[DWARF_INFO];
	for (uint32_t k = 0; k < lines->n_origins; k++) {
		const char *name = lines->origins[k].function;
		if (lines->origins[k].inlined_at == LINES_NONE || map_get(&w->inlined, map_key_str(name), NULL))
			continue;
		map_put(&w->inlined, map_key_str(name), b->len);
		put_uleb(b, ABBREV_INLINED_FUNCTION);
		dwarf_put_text(b, name);
		buf_u8(b, DW_INL_INLINED);
	}
}

static void dwarf_put_range(struct buf *b, uint64_t address, uint64_t size)
{
	buf_u64(b, address);
	buf_u64(b, size);
}

/* Describes the code of one statement, outer calls first. */
static void put_inlined(struct writer *w, const struct linked_code *c, const struct line_origin *p, uint64_t address, uint64_t size)
{
	struct buf *b = &w->out[DWARF_INFO];
	uint64_t function = 0;
	if (p->inlined_at == LINES_NONE)
		return;
	const struct line_origin *call = &c->lines->origins[p->inlined_at];
	put_inlined(w, c, call, address, size);
	map_get(&w->inlined, map_key_str(p->function), &function);
	put_uleb(b, ABBREV_INLINED);
	buf_u32(b, (uint32_t)function);
	dwarf_put_range(b, address, size);
	put_uleb(b, file_number(w, call->file));
	put_uleb(b, call->line);
	put_uleb(b, call->column);
}

static void end_inlined(struct writer *w, const struct linked_code *c, const struct line_origin *p)
{
	for (; p->inlined_at != LINES_NONE; p = &c->lines->origins[p->inlined_at])
		buf_u8(&w->out[DWARF_INFO], 0);
}

/* A statement is inlined code from the last of its first rows on: those before it have lines of the unit itself. */
static void dwarf_put_function(struct writer *w, const struct linked_code *c, const struct obj_symbol *s)
{
	struct buf *b = &w->out[DWARF_INFO];
	const struct line_origin *definition = &c->lines->origins[0];
	uint64_t function_end = s->value + s->size;
	put_uleb(b, ABBREV_FUNCTION);
	dwarf_put_text(b, s->global ? definition->function : linked_code_name(w->l->a, c, s));
	put_uleb(b, file_number(w, definition->file));
	put_uleb(b, definition->line);
	dwarf_put_range(b, c->address + s->value, s->size);
	for (uint32_t k = 0, end; k < c->n; k = end) {
		end = end_of_run(c, k);
		uint64_t from = c->rows[end - 1].offset, to = c->rows[end].offset < function_end ? c->rows[end].offset : function_end;
		if (from < s->value || from >= to)
			continue;
		const struct line_origin *p = linked_code_place(c, c->rows[k].number);
		put_inlined(w, c, p, c->address + from, to - from);
		end_inlined(w, c, p);
	}
	buf_u8(b, 0);
}

static void put_info(struct writer *w)
{
	struct buf *b = &w->out[DWARF_INFO];
	size_t unit = begin_length(b);
	put_u16(b, DWARF_VERSION);
	buf_u32(b, 0); /* offset in .debug_abbrev */
	buf_u8(b, sizeof(uint64_t));
	put_uleb(b, ABBREV_UNIT);
	dwarf_put_text(b, "trib");
	buf_u8(b, DW_LANG_C99);
	dwarf_put_text(b, w->l->request->soname ? w->l->request->soname : "");
	buf_u32(b, 0); /* offset in .debug_line */
	dwarf_put_range(b, w->text, w->size);
	for (uint32_t i = 0; i < w->l->request->n_objects; i++)
		if (w->l->request->lines[i])
			put_inlined_functions(w, w->l->request->lines[i]);
	for (uint32_t i = 0; i < w->l->request->n_objects; i++) {
		const struct linked_code *c = &w->codes[i];
		for (uint32_t k = 0; c->n && k < c->o->n_symbols; k++)
			if (c->o->symbols[k].function && c->o->symbols[k].section == c->section)
				dwarf_put_function(w, c, &c->o->symbols[k]);
	}
	buf_u8(b, 0);
	end_length(b, unit);
}

/* ---- the rest ---- */

static void put_ranges(struct writer *w)
{
	struct buf *b = &w->out[DWARF_ARANGES];
	size_t unit = begin_length(b);
	put_u16(b, 2); /* version */
	buf_u32(b, 0); /* offset in .debug_info */
	buf_u8(b, sizeof(uint64_t));
	buf_u8(b, 0);  /* bytes of a segment's number */
	buf_u32(b, 0); /* pairs are aligned to their size */
	dwarf_put_range(b, w->text, w->size);
	dwarf_put_range(b, 0, 0);
	end_length(b, unit);
}

void dwarf_write(const struct link *l, const struct linked_code *codes, uint64_t text, uint64_t size, struct buf out[DWARF_SECTIONS])
{
	struct writer w = {.l = l, .codes = codes, .text = text, .size = size, .out = out};
	if (!l->request->lines)
		return;
	for (size_t k = 0; k < sizeof abbrevs / sizeof *abbrevs; k++)
		put_uleb(&out[DWARF_ABBREV], abbrevs[k]);
	put_info(&w); /* numbers the files */
	dwarf_put_lines(&w);
	put_ranges(&w);
	vec_free(&w.files);
	map_free(&w.inlined);
}
