/* Completes a line with the compiled decoder. In this folder, after `trib build`:
 *     cc -o build/chat chat.c -Lbuild -lchat -Wl,-rpath,'$ORIGIN' && build/chat "3 + 4 ="
 */
#include "build/chat.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 60 };

static const char characters[] = "\n +,-.0123456789=abcdefghiklmnopqrstuvwxy"; /* of ../train/corpus.py */
enum { CHARACTERS = sizeof characters - 1 };

/* Reads n characters, which the model adds to what it has read since it was opened, and returns the likeliest next one, or -1. */
static int next_token(chat *model, const int64_t *tokens, int64_t n, tri_error *err)
{
	float logits[CHARACTERS];
	chat_io io = {
		.tokens = {.data = (void *)tokens, .shape = {1, n}, .rank = 2, .dtype = TRI_INT64},
		.out = {.data = logits, .shape = {1, CHARACTERS}, .rank = 2, .dtype = TRI_FLOAT32},
	};
	if (chat_run(model, &io, err))
		return -1;
	int best = 0;
	for (int c = 1; c < CHARACTERS; c++)
		if (logits[c] > logits[best])
			best = c;
	return best;
}

/* Converts a line to tokens. Returns their number, or 0 if it is empty, too long, or has other characters. */
static int encode(const char *line, int64_t *tokens)
{
	int n = 0;
	for (; line[n] && n < LONGEST; n++) {
		const char *at = strchr(characters, line[n]);
		if (!at)
			return 0;
		tokens[n] = at - characters;
	}
	return line[n] ? 0 : n;
}

int main(int argc, char **argv)
{
	int64_t tokens[LONGEST];
	int length = argc == 2 ? encode(argv[1], tokens) : 0, n = length;
	if (!length) {
		fprintf(stderr, "usage: chat BEGINNING, in lower-case letters, digits and \"+,-.=\"\n");
		return 2;
	}
	tri_error err = {0};
	chat *model = chat_open(NULL, &err);
	if (!model) {
		fprintf(stderr, "chat_open: %s\n", err.message);
		return 1;
	}
	fputs(argv[1], stdout);
	int token = next_token(model, tokens, n, &err);
	while (token > 0 && ++length < LONGEST) { /* token 0 ends the line */
		putchar(characters[token]);
		tokens[0] = token;
		token = next_token(model, tokens, 1, &err);
	}
	putchar('\n');
	if (token < 0)
		fprintf(stderr, "chat_run: %s\n", err.message);
	chat_close(model);
	return token < 0;
}
