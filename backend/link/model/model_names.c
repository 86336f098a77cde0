#include "backend/link/model/model_names.h"
#include <string.h>
#include "backend/link/model/model.h"
#include "backend/runtime/abi/tri.h"
#include "base/arena.h"
#include "frontend/hir/hir.h"

static bool is_keyword(const char *s)
{
	static const char *const words[] = {
		"alignas",      "alignof",       "and",         "and_eq",   "asm",       "auto",
		"bitand",       "bitor",         "bool",        "break",    "case",      "catch",
		"char",         "class",         "compl",       "concept",  "const",     "const_cast",
		"consteval",    "constexpr",     "constinit",   "continue", "co_await",  "co_return",
		"co_yield",     "decltype",      "default",     "delete",   "do",        "double",
		"dynamic_cast", "else",          "enum",        "explicit", "export",    "extern",
		"false",        "float",         "for",         "friend",   "goto",      "if",
		"inline",       "int",           "long",        "mutable",  "namespace", "new",
		"noexcept",     "not",           "not_eq",      "nullptr",  "operator",  "or",
		"or_eq",        "private",       "protected",   "public",   "register",  "reinterpret_cast",
		"requires",     "restrict",      "return",      "short",    "signed",    "sizeof",
		"static",       "static_assert", "static_cast", "struct",   "switch",    "template",
		"this",         "thread_local",  "throw",       "true",     "try",       "typedef",
		"typeid",       "typename",      "typeof",      "union",    "unsigned",  "using",
		"virtual",      "void",          "volatile",    "wchar_t",  "while",     "xor",
		"xor_eq",
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], s) == 0)
			return true;
	return false;
}

const char *model_name_fault(const char *name)
{
	if (is_keyword(name))
		return "it is a keyword of C or C++, and C functions get this name";
	if (!strcmp(name, "tri") || !strncmp(name, "tri_", 4))
		return "names that begin with `tri_` belong to trib's own interface";
	return NULL;
}

/* Appends underscores to the name until it is unique and no keyword. */
static const char *member_name(struct arena *a, const struct model_io *before, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i <= n; i++)
		if (is_keyword(name) || (i < n && strcmp(before[i].member, name) == 0)) {
			name = arena_printf(a, "%s_", name);
			i = UINT32_MAX; /* start again */
		}
	return name;
}

struct model_io *model_io_list(struct arena *a, const struct hir_entry *e, uint32_t *n, uint32_t *n_inputs)
{
	const struct hir_unit *u = e->unit;
	struct model_io *io = ARENA_ARRAY(a, struct model_io, u->n_inputs + u->n_outputs);
	*n = 0;
	for (uint32_t i = 0; i < u->n_inputs; i++)
		if (e->params[i] == HIR_NONE) {
			bool state = i + e->n_states_in >= u->n_inputs;
			const char *member = state ? "" : member_name(a, io, *n, u->inputs[i].name);
			io[(*n)++] = (struct model_io){u->inputs[i].name, member, &u->inputs[i].type, false, state};
		}
	*n_inputs = *n;
	for (uint32_t i = 0; i < u->n_outputs; i++) {
		bool state = i + e->n_states_out >= u->n_outputs;
		const char *member = state ? "" : member_name(a, io, *n, u->outputs[i].name);
		io[(*n)++] = (struct model_io){u->outputs[i].name, member, hir_output_type(u, i), true, state};
	}
	return io;
}

const char *model_entry_prefix(struct arena *a, const struct hir_program *p, const char *model, uint32_t i)
{
	return p->n_entries == 1 ? model : arena_printf(a, "%s_%s", model, p->entries[i].name);
}

const char *const *model_exports(struct arena *a, const struct model_input *in, const struct model_info *info, uint32_t *n)
{
	const char **names = ARENA_ARRAY(a, const char *, 9 + in->program->n_entries);
	*n = 0;
	names[(*n)++] = TRI_DESC_SYMBOL;
	names[(*n)++] = arena_printf(a, "%s_desc", info->name);
	names[(*n)++] = arena_printf(a, "%s_open", info->name);
	for (uint32_t i = 0; i < in->program->n_entries; i++)
		names[(*n)++] = arena_printf(a, "%s_run", model_entry_prefix(a, in->program, info->name, i));
	names[(*n)++] = arena_printf(a, "%s_close", info->name);
	if (in->program->n_states) {
		names[(*n)++] = arena_printf(a, "%s_reset", info->name);
		names[(*n)++] = arena_printf(a, "%s_state_save", info->name);
		names[(*n)++] = arena_printf(a, "%s_state_load", info->name);
	}
	if (info->profile_hook) {
		names[(*n)++] = arena_printf(a, "%s_profile", info->name);
		names[(*n)++] = arena_printf(a, "%s_profile_reset", info->name);
	}
	return names;
}
