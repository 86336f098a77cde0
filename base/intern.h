/* Strings to dense 32-bit ids: equal text, equal id. Id 0 is the empty string. Not thread-safe: one owner. */
#ifndef TRIB_BASE_INTERN_H
#define TRIB_BASE_INTERN_H
#include <stddef.h>
#include <stdint.h>

struct interner;
typedef uint32_t name_id;

struct interner *interner_new(void);
void interner_free(struct interner *in); /* NULL is accepted */
name_id intern(struct interner *in, const char *s, size_t n);
name_id intern_str(struct interner *in, const char *s);
/* NUL-terminated text, valid as long as the interner. */
const char *intern_text(const struct interner *in, name_id id);
#endif
