/* Writing JSON into a buffer: commas, escapes and nesting are kept right. Reading is jansson's job. */
#ifndef TRIB_BASE_JSON_H
#define TRIB_BASE_JSON_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"

struct json_writer {
	struct buf *out;
	bool need_comma;
};

void json_open(struct json_writer *w, char bracket);  /* '{' or '[' */
void json_close(struct json_writer *w, char bracket); /* '}' or ']' */
void json_key(struct json_writer *w, const char *key);
void json_str(struct json_writer *w, const char *s); /* NULL: null; as FOREIGN_JSON (base/foreign.h) */
void json_strn(struct json_writer *w, const char *s, size_t n);
void json_int(struct json_writer *w, int64_t v);
void json_num(struct json_writer *w, double v); /* three decimals; NaN and infinity become null */
void json_bool(struct json_writer *w, bool v);
void json_none(struct json_writer *w);

/* A member of an object: its key and its value. */
void json_member_open(struct json_writer *w, const char *key, char bracket);
void json_member_str(struct json_writer *w, const char *key, const char *v);
void json_member_int(struct json_writer *w, const char *key, int64_t v);
void json_member_num(struct json_writer *w, const char *key, double v);
void json_member_real(struct json_writer *w, const char *key, double v); /* nine significant digits */
void json_member_bool(struct json_writer *w, const char *key, bool v);
#endif
