/* Names of PyTorch, NumPy and Python: help and edits for an unknown name. */
#include "frontend/habits/habits.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/diag.h"
#include "frontend/hir/dtype.h"
#include "frontend/hir/hir.h"

enum {
	V = HABIT_VALUE,
	T = HABIT_TYPE,
	D = HABIT_TENSOR,
	L = HABIT_LIST,
	R = HABIT_TEXT,
	A = HABIT_ATTRIBUTE,
	N = HABIT_NN,
	I = HABIT_INSTANCE
};
enum how { WORD, MAYBE, PROP, DROP, SELF, CAST, LEN, UNTYPE, SAY };

static const struct library_name {
	const char *text;
	uint8_t use, how;
	const char *instead, *help;
} names[] = {
#define HABIT_NAME(text, use, how, instead, help) {#text, use, how, instead, help},
#include "frontend/habits/names.def"
#undef HABIT_NAME
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct library_name *habits_find(const char *text, size_t len, unsigned use)
{
	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i].use & use && strlen(names[i].text) == len && memcmp(names[i].text, text, len) == 0)
			return &names[i];
	return NULL;
}

static token_id closing(const struct tokens *t, token_id open)
{
	uint32_t depth = 0;
	for (token_id i = open; i + 1 < t->len; i++) {
		enum token_kind k = token_kind(t, i);
		depth += k == TOK_LPAREN;
		depth -= k == TOK_RPAREN;
		if (!depth)
			return i;
	}
	return open;
}

static bool is_called(const struct tokens *t, token_id tok) { return tok + 1 < t->len && token_kind(t, tok + 1) == TOK_LPAREN; }

static span span_to(const struct tokens *t, token_id first, token_id last) { return (span){t->src->id, t->starts[first], t->ends[last]}; }

/* x.to(int8), x.to(torch.int8), where x is a name: int8(x). */
static void cast_edit(struct diags *d, struct diag *g, const struct tokens *t, token_id tok)
{
	token_id type = tok + 2, object = tok - 2;
	if (tok < 2 || token_kind(t, tok - 1) != TOK_DOT || !is_called(t, tok))
		return;
	if (type + 2 < t->len && token_kind(t, type) == TOK_NAME && token_kind(t, type + 1) == TOK_DOT)
		type += 2;
	char name[24], text[160];
	snprintf(name, sizeof name, "%.*s", (int)(token_len(t, type) < 20 ? token_len(t, type) : 20), token_text(t, type));
	bool plain = token_kind(t, object) == TOK_NAME && (object == 0 || token_kind(t, object - 1) != TOK_DOT);
	if (!plain || token_len(t, object) > 100 || dtype_find(name) == DT_COUNT || type + 1 >= t->len ||
	    token_kind(t, type + 1) != TOK_RPAREN)
		return;
	snprintf(text, sizeof text, "%s(%.*s)", name, (int)token_len(t, object), token_text(t, object));
	diag_edit(d, g, span_to(t, object, type + 1), text);
}

/* xs.size() where xs is a name: len(xs). */
static void length_edit(struct diags *d, struct diag *g, const struct tokens *t, token_id tok)
{
	token_id object = tok - 2, last = is_called(t, tok) ? tok + 2 : tok;
	char text[128];
	if (tok < 2 || token_kind(t, object) != TOK_NAME || (object && token_kind(t, object - 1) == TOK_DOT) ||
	    token_len(t, object) > 100 || (last > tok && closing(t, tok + 1) != last))
		return;
	snprintf(text, sizeof text, "len(%.*s)", (int)token_len(t, object), token_text(t, object));
	diag_edit(d, g, span_to(t, object, last), text);
}

/* `mask: Optional[Tensor] = none`, where the name at `tok` begins the type: the `:` and the type are left out. */
static void untype_edit(struct diags *d, struct diag *g, const struct tokens *t, token_id tok)
{
	token_id last = tok;
	uint32_t depth = 0;
	if (!tok || token_kind(t, tok - 1) != TOK_COLON)
		return;
	for (token_id i = tok + 1; i < t->len; i++) {
		enum token_kind k = token_kind(t, i);
		depth += k == TOK_LBRACKET || k == TOK_LT;
		if (!depth || k == TOK_EOF)
			break;
		depth -= k == TOK_RBRACKET || k == TOK_GT;
		last = i;
	}
	diag_edit(d, g, span_to(t, tok - 1, last), "");
}

static bool is_tensor_type(const struct tokens *t, token_id tok) { return token_is(t, tok, "Tensor") || token_is(t, tok, "TernaryTensor"); }

static void add_edit(struct diags *d, struct diag *g, const struct tokens *t, token_id tok, const struct library_name *n)
{
	switch ((enum how)n->how) {
	case WORD: diag_edit(d, g, token_span(t, tok), n->instead); break;
	case MAYBE:
		if (is_called(t, tok) || !is_tensor_type(t, tok)) /* `Tensor + b`: another name alone does not help */
			diag_guess(d, g, token_span(t, tok), n->instead);
		break;
	case PROP:
		if (is_called(t, tok) && closing(t, tok + 1) != tok + 2)
			diag_help(d, g, "write `.%s`", n->instead); /* x.dim(1) means something else */
		else
			diag_edit(d, g, span_to(t, tok, is_called(t, tok) ? tok + 2 : tok), n->instead);
		break;
	case DROP:
		if (tok && token_kind(t, tok - 1) == TOK_DOT)
			diag_edit(d, g, span_to(t, tok - 1, is_called(t, tok) ? closing(t, tok + 1) : tok), "");
		break;
	case SELF:
		if (tok + 2 < t->len && token_kind(t, tok + 1) == TOK_DOT)
			diag_edit(d, g, span_to(t, tok, tok + 1), "");
		break;
	case CAST: cast_edit(d, g, t, tok); break;
	case LEN: length_edit(d, g, t, tok); break;
	case UNTYPE: untype_edit(d, g, t, tok); break;
	case SAY: break;
	}
}

static bool is_builtin(const char *text, size_t len)
{
	for (int i = 0; i < BI_COUNT; i++)
		if (strlen(builtin_name((enum builtin)i)) == len && !memcmp(builtin_name((enum builtin)i), text, len))
			return true;
	return false;
}

/* Tensor.zeros([2]), TernaryTensor.random([2, 2]): a builtin makes it. */
static bool static_call(struct diags *d, struct diag *g, const struct tokens *t, token_id tok)
{
	bool ternary = token_is(t, tok, "TernaryTensor");
	token_id member = tok + 2;
	if (!is_tensor_type(t, tok) || member >= t->len || token_kind(t, tok + 1) != TOK_DOT || token_kind(t, member) != TOK_NAME)
		return false;
	const struct library_name *n = habits_find(token_text(t, member), token_len(t, member), HABIT_VALUE);
	char text[64] = "";
	if (ternary && (token_is(t, member, "random") || token_is(t, member, "rand") || token_is(t, member, "randn")))
		snprintf(text, sizeof text, "random_ternary");
	else if (n && n->instead)
		snprintf(text, sizeof text, "%s", n->instead);
	else if (is_builtin(token_text(t, member), token_len(t, member)))
		snprintf(text, sizeof text, "%.*s", (int)token_len(t, member), token_text(t, member));
	diag_help(d, g, "`%s` is a type; make a tensor with a function: `%s`", ternary ? "TernaryTensor" : "Tensor",
		  ternary ? "random_ternary([3, 4])` or `ternary_tensor([1, 0, -1])" : "zeros([3, 4])` or `tensor([[1, 2], [3, 4]])");
	if (*text && ternary && strcmp(text, "random_ternary") != 0)
		diag_guess(d, g, span_to(t, tok, member), text);
	else if (*text)
		diag_edit(d, g, span_to(t, tok, member), text);
	return true;
}

bool habit_name_help(struct diags *d, struct diag *g, const struct tokens *t, token_id tok, unsigned use)
{
	const struct library_name *n = habits_find(token_text(t, tok), token_len(t, tok), use);
	if (!n)
		return false;
	if (use & HABIT_VALUE && static_call(d, g, t, tok))
		return true;
	if (n->help)
		diag_help(d, g, "%s", n->help);
	add_edit(d, g, t, tok, n);
	return true;
}

const char *habit_name_instead(const char *name, unsigned use)
{
	const struct library_name *n = habits_find(name, strlen(name), use);
	return n && n->how == WORD ? n->instead : NULL;
}

static const struct {
	const char *name, *help;
	bool package; /* of Python */
} modules[] = {
	{"torch", "tensor functions are builtins and need no import: `relu(x)`; layers are in the module `nn`: `import nn`", true},
	{"F", "tensor functions are builtins and need no import: `relu(x)`", false},
	{"np", "tensor functions are builtins and need no import: `exp(x)`", false},
	{"numpy", "tensor functions are builtins and need no import: `exp(x)`", true},
	{"jnp", "tensor functions are builtins and need no import: `exp(x)`", false},
	{"jax", "tensor functions are builtins and need no import: `exp(x)`", true},
	{"tf", "tensor functions are builtins and need no import: `relu(x)`; layers are in the module `nn`: `import nn`", false},
	{"tensorflow", "tensor functions are builtins and need no import: `relu(x)`; layers are in the module `nn`: `import nn`", true},
	{"keras", "layers are in the module `nn`: `import nn`", true},
	{"math", "these functions are builtins and need no import: `sqrt(2.0)`", true},
	{"functional", "tensor functions are builtins and need no import: `relu(x)`", false},
	{"typing", "types need no import: lists are `[A]`, tuples `(A, B)`", true},
	{"os", "files are not opened in a source: `tri.build` names the weights, `trib run` the inputs", true},
	{"sys", "there is nothing of the system in a source", true},
	{"std", "the standard library's modules are `nn`, `quant` and `init`: `import nn`", false},
	{"core", "the standard library's modules are `nn`, `quant` and `init`: `import nn`", false},
	{"tensor", "tensor functions are builtins and need no import", false},
	{"ops", "tensor functions are builtins and need no import", false},
	{"ternary", "tensor functions are builtins and need no import; layers are in the module `nn`: `import nn`", false},
	{"layers", "layers are in the module `nn`: `import nn`; a file of your own is imported as `import \"layers.tri\" as layers`",
	 false},
	{"activations", "activations are builtins and need no import: `relu(x)`", false},
	{"optim", "training is not part of the language: train the weights elsewhere", false},
};

const char *habit_module_help(const char *name)
{
	for (size_t i = 0; i < COUNT(modules); i++)
		if (!strcmp(modules[i].name, name))
			return modules[i].help;
	return NULL;
}

bool habit_package(const char *name)
{
	for (size_t i = 0; i < COUNT(modules); i++)
		if (!strcmp(modules[i].name, name))
			return modules[i].package;
	return false;
}
