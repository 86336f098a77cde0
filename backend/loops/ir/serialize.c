/* Loop IR as bytes: a magic number, dims, symbol, the fields of fields.c. Numbers are varints (base/varint.h), dims their numbers in the
 * table, which has only those that are used, texts have
 * their length first and a NUL last, constants are as in memory. */
#include "backend/loops/ir/serialize.h"
#include <string.h>
#include "backend/loops/ir/codec.h"
#include "base/arena.h"
#include "base/buf.h"

enum { MAGIC = 0x34504f4c }; /* "LOP4" */

void loops_serialize(const struct loop_fn *f, struct buf *out)
{
	struct arena *scratch = arena_new(0);
	struct buf fields = {0};
	struct codec c = {.mode = CODEC_SERIALIZE, .out = &fields, .f = (struct loop_fn *)(uintptr_t)f}; /* f is only read */
	c.used = dims_writer_new(scratch, f->dims);
	code_name(&c, &c.f->symbol);
	code_fn(&c);
	buf_u32(out, MAGIC);
	dims_writer_finish(c.used, out);
	buf_put(out, fields.at, fields.len);
	buf_free(&fields);
	arena_free(scratch);
}

struct loop_fn *loops_deserialize(struct arena *unit, const void *bytes, size_t len, const char **error)
{
	struct codec c = {.mode = CODEC_DESERIALIZE, .unit = unit, .f = ARENA_NEW(unit, struct loop_fn)};
	uint32_t magic = 0;
	c.bytes = (struct varint_in){bytes, (const unsigned char *)bytes + len, true};
	const void *head = varint_take_bytes(&c.bytes, sizeof magic);
	if (head)
		memcpy(&magic, head, sizeof magic);
	c.f->unit = unit;
	code_need(&c, magic == MAGIC && (c.f->dims = c.dims = dims_read(unit, &c.bytes)) && dims_count(c.f->dims), "");
	if (c.bytes.ok) {
		code_name(&c, &c.f->symbol);
		code_fn(&c);
	}
	code_need(&c, c.bytes.at == c.bytes.end, "");
	if (!c.bytes.ok) {
		*error = "its loop IR is damaged or of another version";
		return NULL;
	}
	struct buf why = {0};
	bool sound = loops_verify(c.f, &why);
	if (!sound)
		*error = arena_strdup(unit, why.at);
	buf_free(&why);
	dims_close(c.dims);
	return sound ? c.f : NULL;
}
