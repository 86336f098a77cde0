/* Reads the text that print.c writes. It is not trusted: its length bounds all sizes, and the result must pass the verifier. */
#include "backend/loops/ir/codec.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/source.h"

static void read_fn(struct codec *c)
{
	struct ir_reader *r = &c->text;
	struct loop_fn *f = c->f;
	f->unit = c->unit;
	f->dims = c->dims = r->dims = dims_new(c->unit);
	ir_read_expect(r, "unit");
	code_name(c, &f->symbol);
	ir_read_symbols(r);
	code_fn(c);
	ir_read_space(r);
	if (!r->failed && r->at < r->end)
		ir_read_fail(r, "a statement or the end of the text expected");
}

struct loop_fn *loops_read(struct arena *unit, const struct source *text, struct diags *diags)
{
	struct codec c = {.mode = CODEC_READ, .unit = unit, .f = ARENA_NEW(unit, struct loop_fn), .bytes.ok = true};
	struct buf why = {0};
	c.text = ir_reader_of(unit, text, diags);
	read_fn(&c);
	if (!c.text.failed && !loops_verify(c.f, &why)) {
		c.text.at = text->text;
		ir_read_fail(&c.text, why.at);
	}
	buf_free(&why);
	dims_close(c.dims);
	return c.text.failed ? NULL : c.f;
}
