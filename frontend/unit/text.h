/* Strings made of values: f-strings, str, print, messages of assertions. */
#ifndef TRIB_FRONTEND_UNIT_TEXT_H
#define TRIB_FRONTEND_UNIT_TEXT_H
#include "base/buf.h"
#include "base/format.h"
#include "frontend/unit/emit.h"

/* A string under construction: `plain` is valid while `values` is empty. */
struct text_builder {
	struct emitter *e;
	struct buf template, plain; /* the template is one of base/format.h */
	VEC(hir_ref) values;        /* known only at run time */
	bool poison;
};
/* The format after the `:` of an f-string's expression. */
struct text_format {
	const char *text; /* "" if there is none */
	size_t n;
	struct format_spec parsed;
	span at;
};
extern const struct text_format no_text_format;

void text_put_bytes(void *text_builder, const char *s, size_t n);
void text_put(struct text_builder *t, const char *s);
void text_put_value(struct text_builder *t, struct value v, const struct text_format *format);
/* V_STR, or V_TEXT if a value is known only at run time; empties the builder. */
struct value text_finish(struct text_builder *t, span at);
/* The concatenated texts of values. */
struct value values_to_text(struct emitter *e, const struct value *v, uint32_t n, span at);
/* Emits HIR_PRINT or HIR_ASSERT: the text, with `lead` between its template and its values. */
void emit_text_effect(struct emitter *e, enum hir_kind kind, struct value text, const struct hir_arg *lead, uint32_t n_lead, span at);
#endif
