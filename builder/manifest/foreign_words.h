/* Words of other tools: commands, flags, actions, keys and blocks that people write from habit, and what to write here. */
#ifndef TRIB_BUILDER_MANIFEST_FOREIGN_WORDS_H
#define TRIB_BUILDER_MANIFEST_FOREIGN_WORDS_H
#include <stdint.h>

enum foreign_kind { FOREIGN_COMMAND, FOREIGN_FLAG, FOREIGN_ACTION, FOREIGN_KEY, FOREIGN_BLOCK };

/* A row of foreign_words.def. */
struct foreign_word {
	enum foreign_kind kind;
	const char *places, *words, *same, *text;
};

/* Returns the row of a word in a command or block, or NULL. `place` of a command is "trib", that of a block "tri.build". */
const struct foreign_word *foreign_word_find(enum foreign_kind kind, const char *place, const char *word);
/* Returns the i-th row; NULL at the end. */
const struct foreign_word *foreign_word_row(uint32_t i);
#endif
