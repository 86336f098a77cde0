/* The back end: the file with imports, functions, classes, and how to load the parameters. It has the names of the source and the parameters' names
 * of the weights file, and the model can be trained. Each part of a program that cannot be written in PyTorch is reported. */
#include <ctype.h>
#include <string.h>
#include "backend/link/backend.h"
#include "backend/link/model/model.h"
#include "backend/pytorch/class.h"
#include "backend/pytorch/text.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

void report_unprintable(struct printer *p, span at, const char *what)
{
	diag_add(p->diags, DIAG_PYTORCH, at, "`emit = pytorch` cannot write %s", what);
}

/* True if the text has the word, followed by a dot. */
static bool print_uses(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (const char *s = text; (s = strstr(s, word)); s += n)
		if (s[n] == '.' && (s == text || (!isalnum((unsigned char)s[-1]) && s[-1] != '_' && s[-1] != '.')))
			return true;
	return false;
}

static void put_imports(const char *text, struct buf *out)
{
	if (print_uses(text, "torch"))
		buf_puts(out, "import torch\n");
	if (print_uses(text, "F"))
		buf_puts(out, "import torch.nn.functional as F\n");
	if (print_uses(text, "tnn"))
		buf_puts(out, "import trib.nn as tnn\n");
	if (print_uses(text, "TF"))
		buf_puts(out, "import trib.nn.functional as TF\n");
	buf_puts(out, "from torch import nn\n");
}

static void put_load(const struct printer *p, const struct owner_list *owners, struct buf *out)
{
	const char *name = "load";
	for (uint32_t i = 0; i < p->file->methods.len; i++)
		if (p->file->methods.at[i].name && strcmp(p->file->methods.at[i].name, name) == 0)
			name = "load_weights";
	for (uint32_t i = 1; i < owners->len; i++) {
		if (*owners->at[i]->path || !owners->at[i]->cls)
			continue;
		buf_printf(out,
			   "\n\ndef %s(weights):\n    \"\"\"Returns the model with the parameters of a safetensors file.\"\"\"\n"
			   "    from safetensors.torch import load_model\n\n"
			   "    model = %s()\n    load_model(model, weights)\n    return model.eval()\n",
			   name, owners->at[i]->cls->name);
		return;
	}
}

static void free_owners(struct owner_list *l)
{
	for (uint32_t i = 0; i < l->len; i++) {
		vec_free(&l->at[i]->methods);
		vec_free(&l->at[i]->children);
		vec_free(&l->at[i]->ties);
	}
	vec_free(l);
}

static void print_put_functions(struct printer *p, struct buf *out)
{
	struct buf text = {0};
	text_fill(p->file->body, NULL, &text);
	if (text.len) {
		buf_puts(out, "\n\n");
		put_lines(out, 0, text.at);
	}
	buf_free(&text);
}

static bool print_module(const struct backend_model *m, struct backend_output *files, const char **error)
{
	struct printer p = {.a = arena_new(0), .program = m->in->program, .sources = m->sources, .diags = m->diags};
	struct owner_list owners = {0};
	struct buf text = {0}, *out = &files->files[0].text;
	uint32_t n, errors = diags_errors(m->diags);
	(void)error;
	find_owners(&p, &owners);
	struct py_class **classes = make_classes(&p, &owners, &n);
	print_put_functions(&p, &text);
	for (uint32_t i = 0; i < n; i++) {
		buf_puts(&text, "\n\n");
		print_class(&p, classes[i], &text);
	}
	put_load(&p, &owners, &text);
	bool package = text.len && (print_uses(text.at, "tnn") || print_uses(text.at, "TF"));
	buf_printf(out,
		   "\"\"\"Model %s in PyTorch. trib wrote this file: the next build writes it again.\n\n"
		   "It needs PyTorch 2.0 or later%s.\n\"\"\"\n\n",
		   m->info->name, package ? " and the package trib" : "");
	put_imports(text.len ? text.at : "", out);
	if (text.len)
		buf_put(out, text.at, text.len);
	buf_free(&text);
	free_owners(&owners);
	arena_free(p.a);
	return diags_errors(m->diags) == errors;
}

const struct backend pytorch_backend = {.name = "pytorch", .title = "PyTorch", .stage = BACKEND_HIR, .assemble = print_module};
