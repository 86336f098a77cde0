#include "builder/lsp/params.h"
#include <string.h>

const char *params_text(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	return json_is_string(v) && strlen(json_string_value(v)) == json_string_length(v) ? json_string_value(v) : NULL;
}

const char *params_uri(const json_t *params) { return params_text(json_object_get(params, "textDocument"), "uri"); }

bool params_position(const json_t *position, struct lsp_position *out)
{
	const json_t *line = json_object_get(position, "line"), *character = json_object_get(position, "character");
	*out = (struct lsp_position){json_integer_value(line), json_integer_value(character)};
	return json_is_integer(line) && json_is_integer(character) && out->line >= 0 && out->character >= 0;
}

bool params_range(const json_t *range, struct lsp_position *start, struct lsp_position *end)
{
	return params_position(json_object_get(range, "start"), start) && params_position(json_object_get(range, "end"), end);
}
