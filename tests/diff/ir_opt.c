/* Reads tensor IR text, and prints or runs the result of passes:
 *
 *   ir-opt PASS[,PASS…] FILE      the text after these passes, one after the other ("-": none)
 *   ir-opt -O N FILE              the text after the passes of a level
 *   ir-opt -r PASSES FILE         the outputs after these passes, by the interpreter: dtype [dims] value…
 *   ir-opt -hash FILE             its hash
 *   ir-opt -p PASS[,PASS…] FILE   reads a program, and prints it after these program passes
 *
 * A function to run has no inputs; its data are constants. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/ir/ir.h"
#include "backend/ir/tensor.h"
#include "backend/passes/passes.h"
#include "backend/passes/program/program_passes.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"

static bool run_passes(char *names, struct ir_fn *f, struct pass_context *c)
{
	for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		if (!strcmp(name, "-"))
			continue;
		if (!strcmp(name, "all") ? passes_run(f, c, ALL_PASSES) : pass_run_named(name, f, c))
			continue;
		fprintf(stderr, "ir-opt: no pass %s\n", name);
		return false;
	}
	return true;
}

static void print_tensor(const struct tensor *t)
{
	printf("%s [", dtype_text(t->elem));
	for (uint32_t k = 0; k < t->rank; k++)
		printf(k ? ",%lld" : "%lld", (long long)t->dims[k]);
	printf("]");
	for (int64_t k = 0; k < tensor_count(t); k++) {
		if (dtype_class(t->elem) == DTC_FLOAT)
			printf(" %.17g", elem_float(t->elem, t->data, k));
		else
			printf(" %lld", (long long)elem_int(t->elem, t->data, k));
	}
	printf("\n");
}

static int run(const struct ir_fn *f, struct arena *a)
{
	struct tensor *outputs = ARENA_ARRAY(a, struct tensor, f->n_outputs + 1);
	const char *error = NULL;
	if (f->n_inputs || f->n_weights || dims_syms(f->dims)) {
		fprintf(stderr, "ir-opt: a function without inputs and symbols is wanted\n");
		return 2;
	}
	if (!interp_run(f, NULL, NULL, NULL, 0, a, outputs, &error)) {
		printf("error: %s\n", error);
		return 1;
	}
	for (uint32_t k = 0; k < f->n_outputs; k++)
		print_tensor(&outputs[k]);
	return 0;
}

static int print(const struct ir_fn *f)
{
	struct buf out = {0};
	ir_print(f, &out);
	fputs(out.at, stdout);
	buf_free(&out);
	return 0;
}

static int print_hash(const struct ir_fn *f)
{
	char hex[33];
	hash_hex(ir_hash(f), hex);
	puts(hex);
	return 0;
}

static int work(int argc, char **argv, struct ir_fn *f, struct arena *a, struct diags *d)
{
	uint8_t opt = argc == 4 && !strcmp(argv[1], "-O") ? (uint8_t)atoi(argv[2]) : 2;
	struct pass_context c =
		pass_context_new(&(struct plan_options){.target = target_get(TARGET_X86_64_V3), .opt = opt, .verify = true}, d, NULL);
	if (argc == 3 && !strcmp(argv[1], "-hash"))
		return print_hash(f);
	if (argc == 3)
		return run_passes(argv[1], f, &c) ? print(f) : 2;
	if (argc == 4 && !strcmp(argv[1], "-O"))
		return passes_run(f, &c, ALL_PASSES) ? print(f) : 1;
	if (argc == 4 && !strcmp(argv[1], "-r"))
		return run_passes(argv[2], f, &c) ? run(f, a) : 2;
	return 2;
}

static bool run_program_passes(char *names, struct ir_program *p)
{
	for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
		if (strcmp(name, "-") != 0 && !program_pass_run_named(name, p, target_get(TARGET_X86_64_V3))) {
			fprintf(stderr, "ir-opt: no pass %s\n", name);
			return false;
		}
	return true;
}

static int work_on_program(char **argv, const struct source *text, struct arena *a, struct diags *d)
{
	struct buf out = {0};
	struct ir_program *p = ir_program_read(a, text, d);
	bool ok = p && run_program_passes(argv[2], p);
	if (ok) {
		ir_program_print(p, &out);
		fputs(out.at ? out.at : "", stdout);
	}
	buf_free(&out);
	ir_program_free(p);
	return ok ? 0 : 1;
}

static int work_on_function(int argc, char **argv, const struct source *text, struct arena *a, struct diags *d)
{
	struct ir_fn *f = ir_read(a, text, d);
	return f ? work(argc, argv, f, a, d) : 1;
}

int main(int argc, char **argv)
{
	char *text = NULL;
	size_t len = 0;
	int rc = 2;
	if (argc < 3 || !os_read_file(argv[argc - 1], 0, &text, &len)) {
		fprintf(stderr, "usage: ir-opt PASSES FILE | ir-opt -O N FILE | ir-opt -r PASSES FILE | ir-opt -hash FILE\n");
		return 2;
	}
	struct arena *a = arena_new(0);
	struct sources *s = sources_new();
	struct diags *d = diags_new(0);
	const struct source *source = sources_add(s, argv[argc - 1], text, len);
	rc = argc == 4 && !strcmp(argv[1], "-p") ? work_on_program(argv, source, a, d) : work_on_function(argc, argv, source, a, d);
	if (diags_count(d))
		diags_print(d, s, stdout, false);
	diags_free(d);
	sources_free(s);
	arena_free(a);
	free(text);
	return rc;
}
