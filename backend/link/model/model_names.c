#include "backend/link/model/model_names.h"
#include <string.h>
#include "backend/link/model/model.h"
#include "backend/runtime/abi/tri.h"
#include "base/arena.h"
#include "frontend/hir/hir.h"

static bool is_one_of(const char *const *words, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], s) == 0)
			return true;
	return false;
}

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
	return is_one_of(words, sizeof words / sizeof *words, s);
}

static bool begins_with(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

static bool ends_with(const char *s, const char *with) { return strlen(s) >= strlen(with) && !strcmp(s + strlen(s) - strlen(with), with); }

/* The types and macros of stddef.h and stdint.h, with those that C11 (7.31.10) reserves for it. Every header includes it. */
static bool is_of_stdint(const char *s)
{
	static const char *const words[] = {"NULL",      "size_t",      "ptrdiff_t",   "max_align_t",    "offsetof",
					    "SIZE_MAX",  "PTRDIFF_MAX", "PTRDIFF_MIN", "SIG_ATOMIC_MAX", "SIG_ATOMIC_MIN",
					    "WCHAR_MAX", "WCHAR_MIN",   "WINT_MAX",    "WINT_MIN"};
	if (is_one_of(words, sizeof words / sizeof *words, s))
		return true;
	if (begins_with(s, "int") || begins_with(s, "uint"))
		return ends_with(s, "_t");
	return (begins_with(s, "INT") || begins_with(s, "UINT")) && (ends_with(s, "_MAX") || ends_with(s, "_MIN") || ends_with(s, "_C"));
}

/* Other macros without arguments: of math.h and errno.h, of the headers that trib writes, and of the compilers. */
static bool is_macro(const char *s)
{
	static const char *const words[] = {
		"HUGE_VAL",     "HUGE_VALF", "HUGE_VALL",  "INFINITY",    "NAN",       "MATH_ERRNO", "MATH_ERREXCEPT", "math_errhandling",
		"M_E",          "M_LOG2E",   "M_LOG10E",   "M_LN2",       "M_LN10",    "M_PI",       "M_PI_2",         "M_PI_4",
		"M_1_PI",       "M_2_PI",    "M_2_SQRTPI", "M_SQRT2",     "M_SQRT1_2", "FP_NAN",     "FP_INFINITE",    "FP_ZERO",
		"FP_SUBNORMAL", "FP_NORMAL", "FP_ILOGB0",  "FP_ILOGBNAN", "errno",     "TRI_ABI",    "TRI_TENSOR",     "TRI_MEMORY",
		"TRI_MAX_RANK", "linux",     "unix",       "i386"};
	return is_one_of(words, sizeof words / sizeof *words, s);
}

const char *model_name_fault(const char *name)
{
	if (is_keyword(name))
		return "it is a keyword of C or C++, and C functions get this name";
	if (!strcmp(name, "tri") || begins_with(name, "tri_") || begins_with(name, "TRI_"))
		return "names that begin with `tri_` or `TRI_` belong to trib's own interface";
	if (is_of_stdint(name) || is_macro(name))
		return "it is a type or a macro of C, and a type in the generated header gets this name";
	return NULL;
}

/* With enough underscores a name is not taken. */
static bool is_taken(const char *member) { return is_keyword(member) || is_of_stdint(member) || is_macro(member); }

/* Appends underscores to the name until it is unique and means nothing else in C. */
static const char *member_name(struct arena *a, const struct model_io *before, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i <= n; i++)
		if (is_taken(name) || (i < n && strcmp(before[i].member, name) == 0)) {
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
	const char **names = ARENA_ARRAY(a, const char *, 10 + 2 * in->program->n_entries);
	*n = 0;
	names[(*n)++] = TRI_DESC_SYMBOL;
	names[(*n)++] = arena_printf(a, "%s_desc", info->name);
	names[(*n)++] = arena_printf(a, "%s_open", info->name);
	for (uint32_t i = 0; i < in->program->n_entries; i++) {
		const char *prefix = model_entry_prefix(a, in->program, info->name, i);
		names[(*n)++] = arena_printf(a, "%s_run", prefix);
		names[(*n)++] = arena_printf(a, "%s_run_async", prefix);
	}
	names[(*n)++] = arena_printf(a, "%s_close", info->name);
	names[(*n)++] = arena_printf(a, "%s_device", info->name);
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
