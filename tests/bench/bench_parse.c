/* Measures lexer and parser: bench_parse FILE [RUNS] prints one JSON object with medians over the runs (default 21). Times are processor
 * time of the thread, which other processes disturb least; "wall_…" is elapsed time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/diag.h"
#include "base/source.h"
#include "frontend/syntax/ast.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parser.h"

#define MAX_RUNS 1001

struct sample {
	double lex, parse, wall;
};

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, by_value);
	return v[n / 2];
}

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) != 0)
		return NULL;
	long size = ftell(f);
	char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
	rewind(f);
	*len = text ? fread(text, 1, (size_t)size, f) : 0;
	fclose(f);
	return text;
}

static struct sample run(const struct source *src, struct diags *d, uint32_t *tokens, uint32_t *nodes, uint32_t *lines)
{
	struct tokens t;
	struct ast ast;
	double wall = now(CLOCK_MONOTONIC), start = now(CLOCK_THREAD_CPUTIME_ID);
	lex(src, &t, d);
	double lexed = now(CLOCK_THREAD_CPUTIME_ID);
	*tokens = t.len;
	*lines = t.lines;
	parse(&t, &ast, d);
	double parsed = now(CLOCK_THREAD_CPUTIME_ID);
	wall = now(CLOCK_MONOTONIC) - wall;
	*nodes = ast.len;
	ast_free(&ast);
	return (struct sample){lexed - start, parsed - lexed, wall};
}

int main(int argc, char **argv)
{
	size_t len = 0;
	char *text = argc > 1 ? read_file(argv[1], &len) : NULL;
	int runs = argc > 2 ? atoi(argv[2]) : 21;
	double lexing[MAX_RUNS], parsing[MAX_RUNS], both[MAX_RUNS], walls[MAX_RUNS];
	uint32_t tokens = 0, nodes = 0, lines = 0;
	if (!text || runs < 1 || runs > MAX_RUNS) {
		fprintf(stderr, "usage: bench_parse FILE [RUNS]\n");
		return 2;
	}
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	const struct source *src = sources_add(sources, argv[1], text, len);
	run(src, diags, &tokens, &nodes, &lines); /* warms up */
	for (int i = 0; i < runs; i++) {
		struct sample s = run(src, diags, &tokens, &nodes, &lines);
		lexing[i] = s.lex;
		parsing[i] = s.parse;
		both[i] = s.lex + s.parse;
		walls[i] = s.wall;
	}
	uint32_t errors = diags_errors(diags);
	double l = median(lexing, runs), p = median(parsing, runs), b = median(both, runs), w = median(walls, runs);
	printf("{\"lines\":%" PRIu32 ",\"bytes\":%zu,\"tokens\":%" PRIu32 ",\"nodes\":%" PRIu32 ",\"errors\":%" PRIu32 ",\"runs\":%d,",
	       lines, len, tokens, nodes, errors, runs);
	printf("\"lex_ms\":%.3f,\"parse_ms\":%.3f,\"lex_lines_per_s\":%.0f,\"parse_lines_per_s\":%.0f,\"lex_parse_lines_per_s\":%.0f,",
	       l * 1e3, p * 1e3, lines / l, lines / p, lines / b);
	printf("\"best_lex_parse_lines_per_s\":%.0f,\"wall_lex_parse_lines_per_s\":%.0f,\"mb_per_s\":%.1f}\n", lines / both[0], lines / w,
	       (double)len / b * 1e-6);
	diags_free(diags);
	sources_free(sources);
	free(text);
	return errors != 0;
}
