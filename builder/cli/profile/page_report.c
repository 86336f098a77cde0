#include "builder/cli/profile/page_report.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "builder/json_read.h"

/* The names of members that must be texts, and NULL. */
static bool has_texts(const json_t *o, ...)
{
	va_list names;
	bool ok = json_is_object(o);
	va_start(names, o);
	for (const char *name; ok && (name = va_arg(names, const char *));)
		ok = json_is_string(json_object_get(o, name));
	va_end(names);
	return ok;
}

static bool has_arrays(const json_t *o, ...)
{
	va_list names;
	bool ok = json_is_object(o);
	va_start(names, o);
	for (const char *name; ok && (name = va_arg(names, const char *));)
		ok = json_is_array(json_object_get(o, name));
	va_end(names);
	return ok;
}

static bool is_number_or_null(const json_t *v) { return json_is_number(v) || json_is_null(v); }
static bool page_report_is_index(const json_t *v, size_t n)
{
	return json_is_integer(v) && json_integer_value(v) >= 0 && (size_t)json_integer_value(v) < n;
}

static bool are_indices(const json_t *list, size_t n)
{
	size_t i;
	const json_t *v;
	bool ok = true;
	json_array_foreach(list, i, v) ok = ok && page_report_is_index(v, n);
	return ok;
}

static bool is_gate(const json_t *root)
{
	size_t i;
	const json_t *f;
	bool ok = has_texts(root, "verdict", NULL) && has_arrays(root, "findings", NULL);
	json_array_foreach(json_object_get(root, "findings"), i, f) ok = ok && has_texts(f, "item", "verdict", "metric", NULL);
	return ok;
}

static bool is_suggestions(const json_t *root)
{
	size_t i;
	const json_t *s;
	bool ok = has_texts(root, "kind", NULL) && has_arrays(root, "suggestions", NULL);
	json_array_foreach(json_object_get(root, "suggestions"), i, s) ok =
		ok && has_texts(s, "rule", "type", "priority", "effort", "item", "evidence", "action", "saving_kind", NULL) &&
		is_number_or_null(json_object_get(s, "saving"));
	return ok;
}

/* ---- graphs ---- */

static bool is_model(const json_t *m, size_t n_units)
{
	size_t i;
	const json_t *e;
	bool ok = has_texts(m, "name", NULL) && has_arrays(m, "entries", NULL);
	json_array_foreach(json_object_get(m, "entries"), i, e) ok =
		ok && has_texts(e, "name", NULL) && page_report_is_index(json_object_get(e, "unit"), n_units);
	return ok;
}

static bool is_definition(const json_t *d, size_t n)
{
	size_t i;
	const json_t *t;
	bool ok = has_texts(d, "name", "kind", "file", "signature", NULL) && has_arrays(d, "uses", "types", NULL) &&
		  are_indices(json_object_get(d, "uses"), n);
	json_array_foreach(json_object_get(d, "types"), i, t) ok = ok && has_texts(t, "name", NULL);
	return ok;
}

static bool page_report_is_step(const json_t *s, size_t n_units)
{
	const json_t *unit = json_object_get(s, "unit"), *other = json_object_get(s, "other");
	return has_texts(s, "kind", "name", NULL) && (!unit || page_report_is_index(unit, n_units)) &&
	       (!other || page_report_is_index(other, n_units));
}

static bool page_report_is_unit(const json_t *u, size_t n)
{
	size_t i, n_steps = json_array_size(json_object_get(u, "steps"));
	const json_t *part;
	bool ok = has_texts(u, "name", "model", "definition", "file", "signature", NULL) &&
		  has_arrays(u, "uses", "steps", "values", NULL) && are_indices(json_object_get(u, "uses"), n) &&
		  is_number_or_null(json_object_get(u, "compile_ms"));
	json_array_foreach(json_object_get(u, "steps"), i, part) ok = ok && page_report_is_step(part, n);
	json_array_foreach(json_object_get(u, "values"), i, part) ok = ok && has_texts(part, "type", NULL) &&
								       page_report_is_index(json_object_get(part, "from"), n_steps) &&
								       page_report_is_index(json_object_get(part, "to"), n_steps);
	return ok;
}

static bool is_graph(const json_t *root)
{
	size_t i, n_units = json_array_size(json_object_get(root, "units")), n_defs = json_array_size(json_object_get(root, "definitions"));
	const json_t *part;
	bool ok = has_arrays(root, "models", "definitions", "units", NULL);
	json_array_foreach(json_object_get(root, "models"), i, part) ok = ok && is_model(part, n_units);
	json_array_foreach(json_object_get(root, "definitions"), i, part) ok = ok && is_definition(part, n_defs);
	json_array_foreach(json_object_get(root, "units"), i, part) ok = ok && page_report_is_unit(part, n_units);
	return ok;
}

enum page_report_kind page_report_read(struct arena *a, const char *text, size_t len, const char **json)
{
	static const struct {
		const char *type;
		bool (*is_valid)(const json_t *root);
		enum page_report_kind kind;
	} kinds[] = {{"check", is_gate, PAGE_REPORT_GATE},
		     {"suggestions", is_suggestions, PAGE_REPORT_SUGGESTIONS},
		     {"graph", is_graph, PAGE_REPORT_GRAPH}};
	enum page_report_kind found = PAGE_REPORT_NONE;
	json_t *root = json_read(text, len, 0, NULL);
	const char *type = json_string_value(json_object_get(root, "type"));
	for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(type, kinds[i].type) == 0)
			found = kinds[i].is_valid(root) ? kinds[i].kind : PAGE_REPORT_DAMAGED;
	char *compact = found == PAGE_REPORT_NONE ? NULL : json_dumps(root, JSON_COMPACT | JSON_ENSURE_ASCII);
	*json = compact ? arena_strdup(a, compact) : NULL;
	free(compact);
	json_decref(root);
	return found;
}
