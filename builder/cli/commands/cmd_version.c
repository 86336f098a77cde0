#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/module.h"
#include "builder/run/library.h"
#include "builder/version.h"
#include "frontend/hir/dtype.h"

static void print_shape(const tri_entry_desc *e, const tri_io_desc *io)
{
	print(stdout, "[");
	for (int32_t k = 0; k < io->rank; k++) {
		const tri_dim_desc *d = &io->dims[k];
		print(stdout, "%s", k ? ", " : "");
		if (d->n_steps == 1 && d->steps[0].op == TRI_DIM_CONST)
			print(stdout, "%lld", (long long)d->steps[0].value);
		else if (d->n_steps == 1 && d->steps[0].op == TRI_DIM_SYM && d->steps[0].value < e->n_dims)
			print(stdout, "%s", e->dim_names[d->steps[0].value]);
		else
			print(stdout, "?");
	}
	print(stdout, "]");
}

static void print_tensors(const tri_entry_desc *e, const char *what, const tri_io_desc *io, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		print(stdout, "    %s %s: %s ", what, io[i].name, dtype_text((dtype)io[i].dtype));
		print_shape(e, &io[i]);
		print(stdout, "\n");
	}
}

static void print_weights(const tri_model_desc *d)
{
	for (uint32_t i = 0; i < d->n_weights; i++) {
		const tri_weight_desc *w = &d->weights[i];
		double count = 1;
		print(stdout, "weight %s: [", w->name);
		for (int32_t k = 0; k < w->rank; k++) {
			print(stdout, "%s%lld", k ? ", " : "", (long long)w->shape[k]);
			count *= (double)w->shape[k];
		}
		print(stdout, "] %s, %s, zeros %.1f %%", w->layout, w->form, 100 * (double)w->zeros / count);
		if (w->blocks_one > 0)
			print(stdout, "; estimates: blocks %.2f, %.2f", (double)w->blocks_one, (double)w->blocks_many);
		if (w->lists_one > 0)
			print(stdout, "; lists %.2f, %.2f", (double)w->lists_one, (double)w->lists_many);
		print(stdout, "\n");
	}
}

static enum status version_describe(const char *path)
{
	struct arena *a = arena_new(0);
	struct library lib;
	const char *error;
	bool ok = library_open(a, path, &lib, &error);
	if (!ok) {
		print(stderr, "trib: %s\n", error);
		arena_free(a);
		return STATUS_ENVIRONMENT;
	}
	const tri_model_desc *d = lib.desc;
	print(stdout, "model %s %s\nbuilt by %s for %s (%s)\n", d->name, d->version, d->compiler, d->target, d->backend);
	if (*d->commit)
		print(stdout, "commit %s%s\n", d->commit, d->dirty ? ", with uncommitted changes" : "");
	for (uint32_t i = 0; i < d->n_entries; i++) {
		print(stdout, "entry %s\n", d->entries[i].name);
		print_tensors(&d->entries[i], "input ", d->entries[i].inputs, d->entries[i].n_inputs);
		print_tensors(&d->entries[i], "output", d->entries[i].outputs, d->entries[i].n_outputs);
	}
	print_weights(d);
	print(stdout, "units %u\n", d->n_units);
	library_close(&lib);
	arena_free(a);
	return STATUS_OK;
}

enum status cmd_version(const struct options *o)
{
	if (o->model_path || o->n_operands)
		return version_describe(o->model_path ? o->model_path : o->operands[0]);
	struct arena *a = arena_new(0);
	bool is_there = module_path(a, "codegen") != NULL;
	print(stdout, "trib %s\ncode generator: LLVM %s%s\n", TRIB_VERSION, TRIB_LLVM_VERSION,
	      is_there ? "" : "; libtrib-codegen.so is missing");
	arena_free(a);
	return STATUS_OK;
}
