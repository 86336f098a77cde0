/* Private to this folder. Loop IR is described once, in fields*.c, by functions that visit each field of a structure in order. The functions below
 * are what they call; the mode says what happens to a field. So text and bytes, written and read, cannot differ. */
#ifndef TRIB_BACKEND_LOOPS_IR_CODEC_H
#define TRIB_BACKEND_LOOPS_IR_CODEC_H
#include "backend/ir/read_token.h"
#include "backend/loops/ir/loops.h"
#include "backend/loops/ir/visit.h"
#include "base/varint.h"

enum codec_mode { CODEC_PRINT, CODEC_READ, CODEC_SERIALIZE, CODEC_DESERIALIZE, CODEC_VISIT };
struct codec {
	enum codec_mode mode;
	struct arena *unit;       /* of what is read */
	struct loop_fn *f;        /* written, visited, or being read */
	struct dims *dims;        /* of what is read */
	struct dims_writer *used; /* serialize: the dims so far */
	struct buf *out;          /* print, serialize */
	struct ir_reader text;
	struct varint_in bytes;
	loop_field_fn *visit;
	void *ctx;
	uint32_t depth;                /* of a line in the text */
	const struct loop_nest *nest;  /* whose fields are visited */
	const struct loop_nest *outer; /* the loops of the innermost block around; NULL: none */
	uint32_t blocks;               /* around */
};
static inline bool codec_reads(const struct codec *c) { return c->mode == CODEC_READ || c->mode == CODEC_DESERIALIZE; }
/* Whether the codec may change fields: visitors may shorten lists. */
static inline bool codec_changes(const struct codec *c) { return codec_reads(c) || c->mode == CODEC_VISIT; }
static inline bool codec_failed(const struct codec *c) { return codec_reads(c) && (c->text.failed || !c->bytes.ok); }
/* What is read must be sound. `what`: "… expected". */
void code_need(struct codec *c, bool sound, const char *what);

/* ---- only in the text ---- */
void code_mark(struct codec *c, const char *text); /* a word or sign, with spaces around it */
void code_line(struct codec *c);
void code_own(struct codec *c, const char *sigil, uint32_t number); /* "b3": the number of what follows */

/* ---- fields ---- */
void code_number(struct codec *c, uint32_t *x, uint32_t most);
void code_reference(struct codec *c, const char *sigil, uint32_t *x, uint32_t count); /* "b3": below `count` */
void code_integer(struct codec *c, int64_t *x);
void code_real(struct codec *c, double *x);
void code_dim(struct codec *c, dim *x);
void code_name(struct codec *c, const char **x);
void code_text(struct codec *c, const char **x);
void code_elements(struct codec *c, struct loop_buffer *x); /* "{1, 2}" */
/* True if an optional part follows, which starts with `mark`. */
bool code_option(struct codec *c, const char *mark, bool present);
void code_flag(struct codec *c, const char *mark, bool *x);
/* One of `count` words. */
typedef const char *codec_words(uint32_t number);
uint32_t code_word(struct codec *c, uint32_t x, uint32_t count, codec_words *words);
#define CODE_ENUM(c, x, count, words) CODE_SET(x, (__typeof__(x))code_word(c, (uint32_t)(x), count, words))
/* Assigns what differs. A function that is written may be shared by threads, so nothing is stored into it. */
#define CODE_SET(x, value)                  \
	do {                                \
		__typeof__(x) v_ = (value); \
		if ((x) != v_)              \
			(x) = v_;           \
	} while (0)

/* ---- lists ---- */
struct codec_list {
	uint32_t at, n, cap; /* at: the number of the next item */
};
struct codec_list code_list(struct codec *c, uint32_t n);
/* True if there is another item. `starts`: the words that an item may start with in the text; "b#": a sigil. */
bool code_next(struct codec *c, struct codec_list *l, const char *starts);
/* Of items with commas between, up to `close`. */
bool code_next_comma(struct codec *c, struct codec_list *l, const char *close);
/* Room for item at - 1, zeroed. */
void *code_room(struct codec *c, void *items, struct codec_list *l, size_t size);

#define CODE_ITEMS(c, items, count, next, one)                                       \
	do {                                                                         \
		struct codec_list l_ = code_list(c, count);                          \
		while (next) {                                                       \
			if (codec_reads(c))                                          \
				(items) = code_room(c, items, &l_, sizeof *(items)); \
			one(c, &(items)[l_.at - 1]);                                 \
		}                                                                    \
		if (codec_changes(c))                                                \
			CODE_SET(count, l_.at);                                      \
	} while (0)
#define CODE_LINES(c, items, count, starts, one) CODE_ITEMS(c, items, count, code_next(c, &l_, starts), one)
#define CODE_COMMAS(c, items, count, close, one) CODE_ITEMS(c, items, count, code_next_comma(c, &l_, close), one)

/* access.c */
void code_access(struct codec *c, struct loop_access *x, uint32_t loops);
/* fields.c: the whole function; in the text all but `unit NAME(…)` of its first line. */
void code_fn(struct codec *c);
#endif
