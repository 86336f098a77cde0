#include "builder/manifest/single_file.h"
#include <ctype.h>
#include <string.h>
#include "backend/link/model/model.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/path.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/manifest/build_spec.h"
#include "frontend/frontend.h"

bool single_file_requested(const struct options *o) { return o->n_operands == 1 && path_has_extension(o->operands[0], "tri"); }

const char *single_file_library(const struct options *o)
{
	return single_file_requested(o) && o->out && path_has_extension(o->out, "so") ? o->out : NULL;
}

const char *single_file_folder(struct arena *a, const struct options *o)
{
	const char *library = single_file_library(o);
	return library ? path_dir(a, library) : o->out;
}

/* Returns a C identifier: net for `libnet.so`, my_net for `my-net.tri`, _int for `int.tri`. */
static const char *model_name(struct arena *a, const struct options *o)
{
	const char *library = single_file_library(o);
	char *stem = path_stem(a, library ? library : o->operands[0]);
	if (library && strncmp(stem, "lib", 3) == 0 && stem[3])
		stem += 3;
	for (char *c = stem; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	return isdigit((unsigned char)*stem) || model_name_fault(stem) ? arena_printf(a, "_%s", stem) : stem;
}

static struct manifest_value text_value(enum manifest_key key, const char *text)
{
	return (struct manifest_value){.key = key, .text = text, .key_at = SPAN_NONE, .at = SPAN_NONE};
}

static struct manifest_value one_word(struct arena *a, enum manifest_key key, const char *word)
{
	struct manifest_value v = text_value(key, word);
	const char **words = ARENA_ARRAY(a, const char *, 1);
	words[0] = word;
	v.words = words;
	v.n_words = word != NULL;
	return v;
}

/* "x=float32[?,64]" */
static bool single_file_add_input(struct arena *a, struct manifest_block *b, const char *word, struct diags *diags)
{
	const char *eq = strchr(word, '=');
	struct manifest_value *v = &b->values[b->n_values];
	if (!eq || eq == word) {
		struct diag *g = diag_add(diags, DIAG_MANIFEST_VALUE, SPAN_NONE, "--input must be a name and a type, not `%s`", word);
		diag_help(diags, g, "for example, `--input 'x=float32[?, 64]'`");
		return false;
	}
	*v = text_value(KEY_INPUT, eq + 1);
	b->n_values++;
	return manifest_value_parse(a, v, VALUE_INPUT, arena_strndup(a, word, (size_t)(eq - word)), diags);
}

struct manifest *single_file_manifest(struct arena *session, const struct options *o, struct diags *diags)
{
	struct manifest *m = ARENA_NEW(session, struct manifest);
	struct manifest_block *b = ARENA_NEW(session, struct manifest_block);
	const char *out = single_file_folder(session, o);
	bool ok = true;
	*b = (struct manifest_block){.kind = BLOCK_MODEL, .name = model_name(session, o), .at = SPAN_NONE};
	b->values = ARENA_ARRAY(session, struct manifest_value, 4 + o->n_inputs);
	b->values[b->n_values++] = one_word(session, KEY_SOURCES, path_normal(session, o->operands[0]));
	b->values[b->n_values++] = one_word(session, KEY_ENTRY, o->entry);
	b->values[b->n_values++] = text_value(KEY_OUT, out ? out : ".");
	if (o->weights)
		b->values[b->n_values++] = text_value(KEY_WEIGHTS, o->weights);
	for (uint32_t i = 0; i < o->n_inputs; i++)
		ok = single_file_add_input(session, b, o->inputs[i], diags) && ok;
	*m = (struct manifest){.blocks = b, .n_blocks = 1};
	return ok ? m : NULL;
}

bool single_file_choose_entry(struct arena *session, struct frontend *f, struct model_spec *s, struct diags *diags)
{
	const char **entries = ARENA_ARRAY(session, const char *, 1);
	if (s->n_entries)
		return true;
	entries[0] = frontend_default_entry(f, s->sources->words[0]);
	if (!entries[0]) {
		struct diag *g = diag_add(diags, DIAG_ENTRY, SPAN_NONE, "`%s` has no layer and no function to build", s->sources->words[0]);
		diag_help(diags, g, "use `trib check %s` to check the file, or `trib run --main %s` to run its main block",
			  s->sources->words[0], s->sources->words[0]);
		return false;
	}
	s->entries = entries;
	s->n_entries = 1;
	return true;
}
