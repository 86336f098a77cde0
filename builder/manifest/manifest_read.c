/* Reads tri.build. A line that is not indented opens a block, sets a variable or includes a file; an indented line is a key of the open
 * block. */
#include "builder/manifest/manifest.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backend/link/model/model.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "base/vec.h"
#include "builder/manifest/foreign_words.h"
#include "builder/manifest/manifest_line.h"

#define MAX_INCLUDES 64

struct variable {
	const char *name, *text;
};
typedef VEC(struct manifest_value) values_vec;
struct open_block {
	struct manifest_block head;
	values_vec values;
};
struct manifest_reader {
	struct arena *a;
	struct frontend_host host;
	struct diags *diags;
	VEC(struct variable) vars;
	VEC(struct open_block) blocks;
	bool in_block, skipping; /* skipping: the open block is unknown */
	bool bad_text;           /* the last expansion reported an error */
	const struct source *stack[MAX_INCLUDES];
	uint32_t depth;
};
static span manifest_read_span_of(const struct manifest_line *line, uint32_t start, uint32_t end)
{
	return (span){line->src->id, start, end};
}

static const char *find_variable(const struct manifest_reader *r, const char *name)
{
	for (uint32_t i = r->vars.len; i-- > 0;)
		if (strcmp(r->vars.at[i].name, name) == 0)
			return r->vars.at[i].text;
	return NULL;
}

static void report_unknown_variable(struct manifest_reader *r, span at, const char *name)
{
	const char **names = ARENA_ARRAY(r->a, const char *, r->vars.len + 1);
	for (uint32_t i = 0; i < r->vars.len; i++)
		names[i] = r->vars.at[i].name;
	r->bad_text = true;
	struct diag *g = diag_add(r->diags, DIAG_MANIFEST_VAR, at, "variable `%s` is not set above this line", name);
	const char *near = diag_nearest(name, names, r->vars.len);
	if (near)
		diag_edit(r->diags, g, at, arena_printf(r->a, "$%s", near));
	else
		diag_help(r->diags, g, "set it in a line `%s = …` that is not indented; write `$$` for a dollar sign", name);
}

/* Expands the `$…` at offset i. Returns the offset behind it. */
static uint32_t expand_one(struct manifest_reader *r, const struct manifest_line *line, uint32_t i, uint32_t end, struct buf *out)
{
	const char *t = line->src->text;
	uint32_t at = i++;
	if (i < end && (t[i] == '$' || t[i] == ' ')) {
		buf_putc(out, t[i] == '$' ? '$' : VALUE_BLANK);
		return i + 1;
	}
	if (i < end && (t[i] == '\n' || (t[i] == '\r' && i + 1 < end && t[i + 1] == '\n'))) {
		while (i < end && isspace((unsigned char)t[i]))
			i++;
		return i;
	}
	bool brace = i < end && t[i] == '{';
	uint32_t start = i + brace, stop = start;
	while (stop < end && (isalnum((unsigned char)t[stop]) || t[stop] == '_'))
		stop++;
	bool closed = !brace || (stop < end && t[stop] == '}');
	i = stop + (brace && closed);
	if (stop == start || !closed) {
		r->bad_text = true;
		struct diag *g = diag_add(r->diags, DIAG_MANIFEST_SYNTAX, manifest_read_span_of(line, at, i > at ? i : at + 1),
					  "`$` must be followed by a name");
		diag_help(r->diags, g, "write `$name` or `${name}`; write `$$` for a dollar sign");
		return i > at ? i : at + 1;
	}
	const char *name = arena_strndup(r->a, t + start, stop - start), *text = find_variable(r, name);
	if (text)
		buf_puts(out, text);
	else
		report_unknown_variable(r, manifest_read_span_of(line, at, i), name);
	return i;
}

static const char *manifest_read_expand(struct manifest_reader *r, const struct manifest_line *line, uint32_t start, uint32_t end)
{
	struct buf out = {0};
	r->bad_text = false;
	for (uint32_t i = start; i < end;) {
		if (line->src->text[i] == '$')
			i = expand_one(r, line, i, end, &out);
		else
			buf_putc(&out, line->src->text[i++]);
	}
	const char *text = arena_strndup(r->a, out.len ? out.at : "", out.len);
	buf_free(&out);
	return text;
}

static void report_unknown_key(struct manifest_reader *r, const struct manifest_block *b, span at, const char *word)
{
	const char *here[KEY_COUNT];
	uint32_t n = 0;
	for (enum manifest_key k = 0; k < KEY_COUNT; k++)
		if (manifest_key_is_in(k, b->kind))
			here[n++] = manifest_key_text(k);
	const char *kind = manifest_block_text(b->kind), *near = diag_nearest(word, here, n);
	struct diag *g = diag_add(r->diags, DIAG_MANIFEST_KEY, at, "a `%s` block has no key `%s`", kind, word);
	const struct foreign_word *w = foreign_word_find(FOREIGN_KEY, kind, word);
	if (w) {
		diag_help(r->diags, g, "%s", w->text);
		return;
	}
	for (enum manifest_block_kind k = 0; k < BLOCK_COUNT; k++)
		if (manifest_key_find(k, word) != KEY_COUNT)
			diag_note(r->diags, g, "`%s` blocks have it", manifest_block_text(k));
	if (near) {
		diag_edit(r->diags, g, at, near);
		diag_help(r->diags, g, "did you mean `%s`?", near);
		return;
	}
	struct buf list = {0};
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&list, " %s", here[i]);
	diag_help(r->diags, g, "its keys are:%s", list.at);
	buf_free(&list);
}

static const struct manifest_value *manifest_read_find_value(const struct open_block *b, const struct manifest_value *value,
							     const char *name)
{
	for (uint32_t i = 0; i < b->values.len; i++) {
		const struct manifest_value *old = &b->values.at[i];
		if (old->key == value->key && (value->key != KEY_STATE || strcmp(old->name, value->name) == 0) &&
		    (value->key != KEY_INPUT || (old->input && strcmp(old->input->name, name) == 0)))
			return old;
	}
	return NULL;
}

/* `key = value` or `input x = value` in the open block. */
static void manifest_read_key(struct manifest_reader *r, const struct manifest_line *line)
{
	struct open_block *b = &r->blocks.at[r->blocks.len - 1];
	uint32_t key_end = manifest_line_word_end(line, line->start), at = manifest_line_skip_blanks(line, key_end),
		 name_end = manifest_line_word_end(line, at);
	const char *word = arena_strndup(r->a, line->src->text + line->start, key_end - line->start);
	span key_at = manifest_read_span_of(line, line->start, key_end);
	if (key_end == line->start) {
		diag_add(r->diags, DIAG_MANIFEST_SYNTAX, manifest_read_span_of(line, line->start, line->end), "expected `key = value`");
		return;
	}
	const char *capacity = strncmp(word, "state.", 6) == 0 && word[6] ? word + 6 : NULL;
	enum manifest_key key = manifest_key_find(b->head.kind, capacity ? manifest_key_text(KEY_STATE) : word);
	if (key == KEY_COUNT) {
		report_unknown_key(r, &b->head, key_at, word);
		return;
	}
	const char *name = arena_strndup(r->a, line->src->text + at, name_end - at);
	uint32_t eq = manifest_line_skip_blanks(line, name_end);
	bool named = name_end > at;
	if (eq >= line->end || line->src->text[eq] != '=' || named != (key == KEY_INPUT)) {
		struct diag *g = diag_add(r->diags, DIAG_MANIFEST_SYNTAX, manifest_read_span_of(line, line->start, line->end),
					  "expected `%s = …`", key == KEY_INPUT ? "input NAME" : word);
		if (key == KEY_INPUT)
			diag_help(r->diags, g, "for example, `input x = float32 [?, 64]`");
		return;
	}
	uint32_t start = manifest_line_skip_blanks(line, eq + 1);
	struct manifest_value v = {.key = key,
				   .name = capacity,
				   .key_at = key_at,
				   .at = manifest_read_span_of(line, start, line->end > start ? line->end : start)};
	if (start >= line->end)
		v.at = key_at;
	v.text = manifest_read_expand(r, line, start, line->end);
	const struct manifest_value *old = manifest_read_find_value(b, &v, name);
	if (old) {
		struct diag *g = diag_add(r->diags, DIAG_MANIFEST_TWICE, key_at, "`%s%s%s` is set twice", word, named ? " " : "", name);
		diag_secondary(r->diags, g, old->key_at, "first here");
		return;
	}
	if (!r->bad_text && manifest_value_parse(r->a, &v, manifest_key_type(key), name, r->diags))
		vec_push(&b->values, v);
}

static bool is_c_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static void open_block(struct manifest_reader *r, const struct manifest_line *line, enum manifest_block_kind kind, span word_at,
		       uint32_t name_start)
{
	struct open_block b = {.head = {.kind = kind, .name = "", .at = word_at}};
	uint32_t end = manifest_line_word_end(line, name_start);
	r->skipping = false;
	if (end > name_start) {
		b.head.name = arena_strndup(r->a, line->src->text + name_start, end - name_start);
		b.head.at = manifest_read_span_of(line, name_start, end);
	}
	const char *text = manifest_block_text(kind);
	bool named = manifest_block_is_named(kind), many = manifest_block_may_repeat(kind);
	if (end < line->end || (end > name_start) != named) {
		diag_add(r->diags, DIAG_MANIFEST_SYNTAX, manifest_read_span_of(line, line->start, line->end),
			 "expected only `%s%s` in this line", text, named ? " NAME" : "");
	} else if (kind == BLOCK_MODEL && !is_c_identifier(b.head.name)) {
		struct diag *g = diag_add(r->diags, DIAG_MANIFEST_NAME, b.head.at, "a model's name must be a C identifier");
		diag_note(r->diags, g, "it is the prefix of the functions in the generated header");
	} else if (kind == BLOCK_MODEL && model_name_fault(b.head.name)) {
		struct diag *g = diag_add(r->diags, DIAG_MANIFEST_NAME, b.head.at, "a model cannot have the name `%s`", b.head.name);
		diag_note(r->diags, g, "%s", model_name_fault(b.head.name));
	}
	for (uint32_t i = 0; i < r->blocks.len; i++) {
		const struct manifest_block *old = &r->blocks.at[i].head;
		if (old->kind != b.head.kind || (many && strcmp(old->name, b.head.name) != 0))
			continue;
		struct diag *g = many ? diag_add(r->diags, DIAG_MANIFEST_TWICE, b.head.at, "there are two blocks `%s %s`", text, old->name)
				      : diag_add(r->diags, DIAG_MANIFEST_TWICE, b.head.at, "there is more than one `%s` block", text);
		diag_secondary(r->diags, g, old->at, "the first block");
		break;
	}
	vec_push(&r->blocks, b);
	r->in_block = true;
}

static void manifest_read_file(struct manifest_reader *r, const struct source *src);

static void include(struct manifest_reader *r, const struct manifest_line *line, uint32_t at)
{
	span where = manifest_read_span_of(line, at, line->end);
	r->in_block = false;
	if (at >= line->end) {
		diag_add(r->diags, DIAG_MANIFEST_SYNTAX, manifest_read_span_of(line, line->start, line->end), "expected `include FILE`");
		return;
	}
	const char *name = manifest_read_expand(r, line, at, line->end);
	const char *path = path_normal(r->a, path_join(r->a, path_dir(r->a, line->src->path), name));
	const struct source *src = r->host.load(r->host.ctx, path);
	if (!src) {
		struct diag *g = diag_add(r->diags, DIAG_MANIFEST_INCLUDE, where, "cannot read `%s`", path);
		diag_help(r->diags, g,
			  "include a regular file; the path is relative to this file, and that of a dependency stays in its repository");
		return;
	}
	for (uint32_t i = 0; i < r->depth; i++) {
		if (r->stack[i] == src) {
			diag_add(r->diags, DIAG_MANIFEST_INCLUDE, where, "`%s` includes itself", path);
			return;
		}
	}
	if (r->depth == MAX_INCLUDES)
		diag_add(r->diags, DIAG_MANIFEST_INCLUDE, where, "includes are nested more than %d levels deep", MAX_INCLUDES);
	else
		manifest_read_file(r, src);
	r->in_block = false;
}

static void report_unknown_block(struct manifest_reader *r, span at, const char *word)
{
	const char *names[BLOCK_COUNT + 1];
	for (enum manifest_block_kind k = 0; k < BLOCK_COUNT; k++)
		names[k] = manifest_block_text(k);
	names[BLOCK_COUNT] = "include";
	struct diag *g = diag_add(r->diags, DIAG_MANIFEST_BLOCK, at, "there is no block `%s`", word);
	const struct foreign_word *w = foreign_word_find(FOREIGN_BLOCK, "tri.build", word);
	const char *near = diag_nearest(word, names, BLOCK_COUNT + 1);
	if (near && !w)
		diag_edit(r->diags, g, at, near);
	diag_help(r->diags, g, "%s",
		  w ? w->text : "the blocks are project, model, profile, cache, server and dependency; keys of a block must be indented");
	r->skipping = true;
}

static void manifest_read_unindented_line(struct manifest_reader *r, const struct manifest_line *line)
{
	uint32_t end = manifest_line_word_end(line, line->start), at = manifest_line_skip_blanks(line, end);
	span word_at = manifest_read_span_of(line, line->start, end > line->start ? end : line->end);
	const char *word = arena_strndup(r->a, line->src->text + line->start, end - line->start);
	r->in_block = false;
	if (end == line->start) {
		struct diag *g = diag_add(r->diags, DIAG_MANIFEST_SYNTAX, manifest_read_span_of(line, line->start, line->end),
					  "expected a block, a variable or `include`");
		if (line->src->text[line->start] == '[') {
			diag_help(r->diags, g, "a block begins with its word and name, without brackets: `profile release`");
			r->skipping = true;
		}
		return;
	}
	if (at < line->end && line->src->text[at] == '=') {
		struct variable v = {.name = word,
				     .text = manifest_read_expand(r, line, manifest_line_skip_blanks(line, at + 1), line->end)};
		vec_push(&r->vars, v);
		return;
	}
	if (strcmp(word, "include") == 0) {
		include(r, line, at);
		return;
	}
	for (enum manifest_block_kind k = 0; k < BLOCK_COUNT; k++) {
		if (strcmp(manifest_block_text(k), word) == 0) {
			open_block(r, line, k, word_at, at);
			return;
		}
	}
	report_unknown_block(r, word_at, word);
}

/* True if no byte is a control character. False: reported. */
static bool check_bytes(struct manifest_reader *r, const struct source *src)
{
	for (uint32_t i = 0; i < src->len; i++) {
		unsigned char c = (unsigned char)src->text[i];
		if (c < ' ' && c != '\t' && c != '\n' && c != '\r') {
			diag_add(r->diags, DIAG_MANIFEST_SYNTAX, (span){src->id, i, i + 1}, "a manifest cannot contain the byte 0x%02x", c);
			return false;
		}
	}
	return true;
}

static void manifest_read_file(struct manifest_reader *r, const struct source *src)
{
	if (!check_bytes(r, src))
		return;
	r->stack[r->depth++] = src;
	uint32_t at = manifest_first_line(src);
	while (at < src->len) {
		struct manifest_line l = manifest_line_at(src, at);
		at = l.next;
		if (l.start >= l.end)
			continue;
		if (!l.indented)
			manifest_read_unindented_line(r, &l);
		else if (r->in_block)
			manifest_read_key(r, &l);
		else if (!r->skipping)
			diag_add(r->diags, DIAG_MANIFEST_SYNTAX, manifest_read_span_of(&l, l.start, l.end),
				 "this indented line belongs to no block");
	}
	r->depth--;
}

static void report_unreadable(struct manifest_reader *r, const char *path)
{
	struct stat st;
	int why = access(path, R_OK) != 0 ? errno : stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? EISDIR : ENODEV;
	if (access(path, F_OK) == 0) {
		diag_add(r->diags, DIAG_FILE_READ, SPAN_NONE, "cannot read `%s`: %s", path, os_read_error(why));
		return;
	}
	char *here = getcwd(NULL, 0);
	struct diag *d =
		diag_add(r->diags, DIAG_NO_MANIFEST, SPAN_NONE, "there is no `%s` in `%s` or any folder above it", path, here ? here : ".");
	diag_help(r->diags, d, "use `trib -C DIR` for another folder, or `trib new NAME` to start a project");
	free(here);
}

struct manifest *manifest_read(struct arena *session, struct frontend_host host, const char *path, struct diags *diags)
{
	struct manifest_reader r = {.a = session, .host = host, .diags = diags};
	struct manifest *m = ARENA_NEW(session, struct manifest);
	const struct source *src = host.load(host.ctx, path);
	if (src)
		manifest_read_file(&r, src);
	else
		report_unreadable(&r, path);
	m->n_blocks = r.blocks.len;
	m->blocks = ARENA_ARRAY(session, struct manifest_block, r.blocks.len ? r.blocks.len : 1);
	for (uint32_t i = 0; i < r.blocks.len; i++) {
		struct open_block *b = &r.blocks.at[i];
		m->blocks[i] = b->head;
		m->blocks[i].n_values = b->values.len;
		m->blocks[i].values = ARENA_ARRAY(session, struct manifest_value, b->values.len ? b->values.len : 1);
		if (b->values.len)
			memcpy(m->blocks[i].values, b->values.at, b->values.len * sizeof *b->values.at);
		vec_free(&b->values);
	}
	vec_free(&r.blocks);
	vec_free(&r.vars);
	return m;
}
