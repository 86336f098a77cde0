/* What print and assert do with their values, on any device. Text goes to standard error, because it is for people who debug a model; standard
 * output belongs to the host program. */
#ifndef TRI_EFFECTS_H
#define TRI_EFFECTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in tri_print. */
struct tri_effect_values {
	const uint8_t *kinds; /* for each value its element type << 4 | rank */
	void *const *at;      /* its data */
	const int64_t *dims;  /* the sizes of all values, one value after the other */
	uint32_t n;
};
/* Writes a template of base/format.h with the values. */
void tri_effect_print(const char *text, const struct tri_effect_values *v);
/* Returns the first value, a condition. If it is false, `said` gets "where: message"; the template is for the others. */
bool tri_effect_holds(const char *text, const char *where, const struct tri_effect_values *v, char *said, size_t room);
#endif
