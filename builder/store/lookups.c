#include "builder/store/lookups.h"
#include "base/json.h"

static const struct {
	const char *name, *title;
} levels[LOOKUP_LEVELS] = {
#define LEVEL(id, name, title) {name, title},
#include "builder/store/lookup_levels.def"
};

const char *lookup_level_name(enum lookup_level l) { return levels[l].name; }
const char *lookup_level_title(enum lookup_level l) { return levels[l].title; }

void lookups_print(struct json_writer *w, const struct lookups list[LOOKUP_LEVELS])
{
	json_member_open(w, "levels", '{');
	for (uint32_t i = 0; i < LOOKUP_LEVELS; i++) {
		json_member_open(w, levels[i].name, '{');
		json_member_int(w, "lookups", lookups_all(&list[i]));
		json_member_int(w, "hits", list[i].hits);
		if (lookups_all(&list[i]))
			json_member_real(w, "rate", lookups_rate(&list[i]));
		json_close(w, '}');
	}
	json_close(w, '}');
}
