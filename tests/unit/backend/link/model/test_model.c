/* From plans, parameters and fragments to a library that runs: two hand-made units, `net` calling `layer` twice, with C in the place of
 * compiled fragments.
 *   layer(x int8 [N, 20], w trit [20, 40], s int32 [1]) = x @ w + (-s);  slots: w in TRIT2, -s
 *   net(class int8 [N, 20]) -> out, out1 int32 [N, 40];  slots: table of layer(a, s), table of layer(b, -s) */
#include "backend/link/model/model.h"
#include "backend/link/elf/object.h"
#include "backend/runtime/abi/tri.h"
#include "base/arena.h"
#include "base/map.h"
#include "frontend/hir/hir.h"
#include "backend/link/elf/lines.h"
#include "tests/unit/backend/link/elf/link_fixture.h"

enum { K = 20, M = 40 };

struct fake {
	struct arena *a;
	struct hir_unit layer, net;
	struct plan layer_plan, net_plan;
	struct hir_unit *units[2];
	const struct plan *plans[2];
	struct hir_entry entries[2];
	uint32_t entry_params[2][4];
	struct hir_program program;
	int8_t w[2][K * M];
	int32_t scale[1];
	struct tensor params[3];
	hash128 hashes[3], keys[2];
	struct model_input in;
	struct model_info info;
};

static struct line_origin origins[] = {{"a.tri", 5, 1, "net", "", "", LINES_NONE},
				       {"a.tri", 9, 4, "net", "Act", "fc.act", LINES_NONE},
				       {"a.tri", 7, 8, "Act", "relu", "fc.act", 1}};
static uint32_t of_loop[] = {2, 1};
static struct line_statement statements[] = {{"loop", of_loop, 2, TRI_STATEMENT_CODE, TRI_CEILING_MEMORY},
					     {"tri_sort_f32", NULL, 0, TRI_STATEMENT_KERNEL, TRI_CEILING_FLOAT}};
static const struct unit_lines net_lines = {origins, statements, 3, 2};
static const struct unit_lines *const lines_of_units[] = {NULL, &net_lines};

static struct hir_type type(struct dims *d, dtype elem, uint8_t rank, dim a, dim b)
{
	struct hir_type t = {.elem = elem, .rank = rank, .dims = {a, b}};
	for (uint32_t k = rank; k < HIR_MAX_RANK; k++)
		t.dims[k] = dim_const(d, 1);
	return t;
}

static void unit(struct fake *f, struct hir_unit *u, const char *name, uint32_t n_outputs)
{
	struct dims *d = dims_new(f->a);
	dim n = dim_new_sym(d, "N");
	static const char *const outs[] = {"out", "out1"};
	*u = (struct hir_unit){.name = name,
			       .symbol = arena_printf(f->a, "%s_0123", name),
			       .identity = map_key_str(name),
			       .dims = d,
			       .n_outputs = n_outputs};
	u->inputs = ARENA_ARRAY(f->a, struct hir_input, 4);
	u->outputs = ARENA_ARRAY(f->a, struct hir_output, n_outputs);
	u->nodes = ARENA_ARRAY(f->a, struct hir_node, 1);
	u->nodes[0].type = type(d, DT_INT32, 2, n, dim_const(d, M));
	for (uint32_t i = 0; i < n_outputs; i++)
		u->outputs[i] = (struct hir_output){.name = outs[i]};
	u->inputs[u->n_inputs++] = (struct hir_input){.name = "class", .type = type(d, DT_INT8, 2, n, dim_const(d, K))};
}

static struct ir_fn *build_fn(struct fake *f, struct hir_unit *u, const struct hir_type *weights, uint32_t n)
{
	struct ir_fn *s = ir_fn_new(f->a, u->symbol, u->dims);
	s->weights = ARENA_ARRAY(f->a, struct hir_type, n);
	s->outputs = ARENA_ARRAY(f->a, ir_ref, 8);
	s->n_weights = n;
	for (uint32_t i = 0; i < n; i++) {
		s->weights[i] = weights[i];
		ir_ref r = ir_emit(s, OP_WEIGHT, &weights[i], NULL, 0, ORIGINS_NONE);
		ir_set_number(s, r, (struct ir_number){i});
		ir_at(s, r)->build_time = true;
		u->inputs[u->n_inputs++] = (struct hir_input){.name = i == n - 1 ? "s" : "w", .type = weights[i], .build_time = true};
	}
	return s;
}
static ir_ref negated(struct ir_fn *s, ir_ref r)
{
	struct hir_type t = ir_at(s, r)->type;
	ir_ref neg = ir_emit(s, OP_NEG, &t, &r, 1, ORIGINS_NONE);
	ir_at(s, neg)->build_time = true;
	return neg;
}

static void make_plans(struct fake *f)
{
	struct dims *dl = f->layer.dims, *dn = f->net.dims;
	struct hir_type l[] = {type(dl, DT_TRIT, 2, dim_const(dl, K), dim_const(dl, M)),
			       type(dl, DT_INT32, 1, dim_const(dl, 1), dim_const(dl, 1))};
	struct hir_type n[] = {type(dn, DT_TRIT, 2, dim_const(dn, K), dim_const(dn, M)),
			       type(dn, DT_TRIT, 2, dim_const(dn, K), dim_const(dn, M)),
			       type(dn, DT_INT32, 1, dim_const(dn, 1), dim_const(dn, 1))};
	struct ir_fn *ls = build_fn(f, &f->layer, l, 2), *ns = build_fn(f, &f->net, n, 3);
	struct slot *lslots = ARENA_ARRAY(f->a, struct slot, 2), *nslots = ARENA_ARRAY(f->a, struct slot, 2);
	ls->outputs[ls->n_outputs++] = 0;
	ls->outputs[ls->n_outputs++] = negated(ls, 1);
	lslots[0] = (struct slot){SLOT_DATA, LAYOUT_TRIT2, l[0], 0, 1, NULL};
	lslots[1] = (struct slot){SLOT_DATA, LAYOUT_PLAIN, l[1], 1, 1, NULL};
	ns->outputs[ns->n_outputs++] = 0; /* a, s; b, -s */
	ns->outputs[ns->n_outputs++] = 2;
	ns->outputs[ns->n_outputs++] = 1;
	ns->outputs[ns->n_outputs++] = negated(ns, 2);
	nslots[0] = (struct slot){SLOT_TABLE, LAYOUT_PLAIN, n[0], 0, 2, &f->layer};
	nslots[1] = (struct slot){SLOT_TABLE, LAYOUT_PLAIN, n[0], 2, 2, &f->layer};
	f->layer_plan = (struct plan){
		.unit = &f->layer, .build_fn = ls, .slots = lslots, .n_slots = 2, .build_fn_hash = ir_hash(ls), .run_fn_hash = {1, 1}};
	build_fn_describe(f->a, ls, &f->layer_plan.interface);
	f->net_plan = (struct plan){
		.unit = &f->net, .build_fn = ns, .slots = nslots, .n_slots = 2, .build_fn_hash = ir_hash(ns), .run_fn_hash = {2, 2}};
	build_fn_describe(f->a, ns, &f->net_plan.interface);
}

static const struct ir_fn *build_fn_of(void *ctx, const struct plan *plan)
{
	(void)ctx;
	return plan->build_fn;
}

static void fake_new(struct fake *f, uint32_t n_entries)
{
	memset(f, 0, sizeof *f);
	f->a = arena_new(0);
	unit(f, &f->layer, "layer", 1);
	unit(f, &f->net, "net", 2);
	make_plans(f);
	f->units[0] = &f->layer, f->units[1] = &f->net;
	f->plans[0] = &f->layer_plan, f->plans[1] = &f->net_plan;
	memcpy(f->entry_params, (uint32_t[2][4]){{HIR_NONE, 0, 1, 2}, {HIR_NONE, 1, 2, 0}}, sizeof f->entry_params);
	f->entries[0] = (struct hir_entry){n_entries == 1 ? "tiny" : "forward", &f->net, f->entry_params[0], NULL, NULL, 0, 0};
	f->entries[1] = (struct hir_entry){"single", &f->layer, f->entry_params[1], NULL, NULL, 0, 0};
	f->program = (struct hir_program){.entries = f->entries, .n_entries = n_entries, .units = f->units, .n_units = 2};
	for (int i = 0; i < K * M; i++) {
		f->w[0][i] = (int8_t)(i % 3) - 1;
		f->w[1][i] = (int8_t)(i * i % 5 % 3) - 1;
	}
	f->scale[0] = 1000;
	f->params[0] = (struct tensor){DT_TRIT, 2, {K, M}, f->w[0]};
	f->params[1] = (struct tensor){DT_TRIT, 2, {K, M}, f->w[1]};
	f->params[2] = (struct tensor){DT_INT32, 1, {1}, f->scale};
	for (int i = 0; i < 3; i++)
		f->hashes[i] = hash_bytes(f->params[i].data, (size_t)tensor_bytes(&f->params[i]));
	f->in = (struct model_input){.program = &f->program,
				     .lines = lines_of_units,
				     .plans = f->plans,
				     .params = f->params,
				     .param_hashes = f->hashes,
				     .build_fn = build_fn_of};
	f->info = (struct model_info){.name = "tiny",
				      .version = "1.2 */ x",
				      .compiler = "trib test",
				      .target = "x86-64-v2",
				      .commit = "",
				      .dirty = true,
				      .unit_keys = f->keys};
}

/* ---- a cache that counts ---- */

struct shelf {
	struct map map;
	struct {
		const void *bytes;
		size_t len;
	} at[64];
	uint32_t n, hits;
	struct arena *a;
};
static bool shelf_find(void *ctx, struct model_blob *b)
{
	struct shelf *s = ctx;
	uint64_t i;
	if (!map_get(&s->map, b->key, &i))
		return false;
	s->hits++;
	b->bytes = s->at[i].bytes;
	return s->at[i].len == b->len;
}
static bool shelf_keep(void *ctx, struct model_blob *b, uint64_t at, const void *bytes, size_t n, const char **error)
{
	struct shelf *s = ctx;
	(void)error;
	assert_int_equal(at, 0);
	assert_int_equal(n, b->len);
	map_put(&s->map, b->key, s->n);
	s->at[s->n].len = b->len;
	b->bytes = s->at[s->n++].bytes = arena_strndup(s->a, bytes, b->len);
	return true;
}

static struct model_weights *lay_out(struct fake *f, struct shelf *shelf)
{
	struct shelf own = {.a = f->a};
	struct weight_host host = {.find = shelf_find, .write = shelf_keep, .ctx = shelf ? shelf : &own};
	struct pack_buffer buffer = {0};
	const char *error = NULL;
	struct model_weights *w = model_layout_weights(f->a, &f->in);
	for (uint32_t i = 0; i < w->n_parts; i++)
		if (!model_pack_weights(f->a, &f->in, w, i, &buffer, &host, &error))
			fail_msg("%s", error);
	map_free(&own.map);
	pack_buffer_free(&buffer);
	return w;
}

static void weights_are_shared_and_cached(void **state)
{
	struct fake f;
	struct shelf shelf = {.a = arena_new(0)};
	fake_new(&f, 1);
	struct model_weights *w = lay_out(&f, &shelf);
	assert_int_equal(w->n_tables, 3);
	assert_int_equal(w->n_blobs, 4);
	assert_int_equal(shelf.n, 4);
	assert_int_equal(w->tables[w->entry_tables[0]].slots[0].is_table, true);

	memset(f.w, 1, sizeof f.w); /* with the hashes as they were nothing is looked at again */
	f.scale[0] = 0;
	struct model_weights *again = lay_out(&f, &shelf);
	assert_int_equal(shelf.n, 4);
	assert_int_equal(shelf.hits, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(hash_eq(again->blobs[i].key, w->blobs[i].key));
		assert_ptr_equal(again->blobs[i].bytes, w->blobs[i].bytes);
	}

	f.params[0].dims[0] = M, f.params[0].dims[1] = K; /* the same bytes in another shape are packed again */
	lay_out(&f, &shelf);
	assert_int_equal(shelf.n, 5);
	f.params[0].dims[0] = K, f.params[0].dims[1] = M;

	f.hashes[0] = f.hashes[1]; /* a = b: one blob */
	f.hashes[2] = (hash128){5, 5};
	struct model_weights *equal = lay_out(&f, NULL);
	assert_int_equal(equal->n_tables, 3);
	assert_int_equal(equal->n_blobs, 3);
	arena_free(f.a);
	arena_free(shelf.a);
	map_free(&shelf.map);
}

/* ---- the library ---- */

static const char units_text[] =
	"#include <stdint.h>\n#include <string.h>\n#include \"backend/runtime/abi/unit.h\"\n"
	"tri_kernel_fn tri_matmul_i8_trit2;\n"
	"void layer_0123(struct tri_context *c, void *const *b, const void *const *w, const int64_t *d, char *s) {\n"
	"  (void)s; void *bufs[] = {b[0], (void *)(uintptr_t)w[0], b[1]}; int64_t dims[] = {d[0], 20, 40}; tri_matmul_i8_trit2(c, bufs, dims, 0);\n"
	"  int32_t add; memcpy(&add, w[1], 4); if ((uintptr_t)w[0] % 64 || (uintptr_t)w[1] % 64) add = 0;\n"
	"  for (int64_t i = 0; i < d[0] * 40; i++) { int32_t v; memcpy(&v, (char *)b[1] + 4 * i, 4); v += add; memcpy((char *)b[1] + 4 * i, &v, 4); } }\n"
	"int64_t layer_0123_scratch(const int64_t *d) { (void)d; return 0; }\n"
	"void net_0123(struct tri_context *c, void *const *b, const void *const *w, const int64_t *d, char *s) {\n"
	"  if (((int8_t *)b[0])[0] == 77) tri_fail(c, 0, -4, 9);\n"
	"  void *one[] = {b[0], b[1]}, *two[] = {b[0], b[2]}; layer_0123(c, one, w[0], d, s); layer_0123(c, two, w[1], d, s); }\n"
	"int64_t net_0123_scratch(const int64_t *d) { return d[0] * 8; }\n";

static void *library(struct fake *f, enum runtime_level level)
{
	struct object *o[2 + MOST_OBJECTS];
	uint32_t n_exports;
	struct model_weights *w = lay_out(f, NULL);
	o[0] = model_object(f->a, &f->in, w, &f->info);
	o[1] = compile(f->a, "units.o", units_text);
	uint32_t n = 2 + runtime_parse(f->a, level, o + 2);
	const char *const *exports = model_exports(f->a, &f->in, &f->info, &n_exports);
	return link_open(f->a, o, n, exports, n_exports);
}

static void check(const struct fake *f, const int8_t *x, int64_t n, int which, int32_t add, const int32_t *y)
{
	for (int64_t r = 0; r < n; r++)
		for (int c = 0; c < M; c++) {
			int32_t want = add;
			for (int k = 0; k < K; k++)
				want += x[r * K + k] * f->w[which][k * M + c];
			assert_int_equal(y[r * M + c], want);
		}
}

typedef struct tri_model *open_fn(const tri_options *, tri_error *);
typedef int run_fn(struct tri_model *, tri_tensor *, tri_error *);
typedef void close_fn(struct tri_model *);

static void runs_at(enum runtime_level level)
{
	enum { N = 70 };
	struct fake f;
	static int8_t x[N * K];
	static int32_t y[2][N * M];
	tri_error err;
	if (!level_runs(level))
		return;
	fake_new(&f, 1);
	void *h = library(&f, level);
	open_fn *open_;
	run_fn *run;
	close_fn *close_;
	*(void **)&open_ = symbol(h, "tiny_open");
	*(void **)&run = symbol(h, "tiny_run");
	*(void **)&close_ = symbol(h, "tiny_close");
	const tri_model_desc *d = symbol(h, "tiny_desc");
	assert_ptr_equal(symbol(h, TRI_DESC_SYMBOL), d);
	assert_ptr_equal(d->open, open_);
	assert_ptr_equal(d->close, close_);
	for (int i = 0; i < N * K; i++)
		x[i] = (int8_t)(i * 31);
	struct tri_model *m = open_(&(tri_options){.size = sizeof(tri_options), .threads = 2}, &err), *other = d->open(NULL, NULL);
	assert_non_null(m);
	tri_tensor io[] = {{x, {N, K}, 2, TRI_INT8}, {y[0], {N, M}, 2, TRI_INT32}, {y[1], {N, M}, 2, TRI_INT32}};
	assert_int_equal(run(m, io, &err), TRI_OK);
	check(&f, x, N, 0, -1000, y[0]);
	check(&f, x, N, 1, 1000, y[1]);
	memset(y, 0, sizeof y);
	io[0].shape[0] = io[1].shape[0] = io[2].shape[0] = 3;
	assert_int_equal(d->run(other, 0, io, NULL), TRI_OK);
	check(&f, x, 3, 1, 1000, y[1]);
	assert_int_equal(y[0][3 * M], 0);
	io[0].shape[1] = 60;
	assert_int_equal(run(m, io, &err), TRI_ERR_SHAPE);
	assert_string_equal(err.message, "input class: expected [N=3, 20], got [3, 60]");
	io[0].shape[1] = K;
	x[0] = 77;
	assert_int_equal(run(m, io, &err), TRI_ERR_RANGE);
	assert_string_equal(err.message, "index -4 is out of range: it must be at least 0 and less than 9");
	close_(m);
	d->close(other);
	dlclose(h);
	arena_free(f.a);
}
static void library_runs(void **state)
{
	for (enum runtime_level level = 0; level < RUNTIME_LEVELS; level++)
		runs_at(level);
}

static void descriptor(void **state)
{
	struct fake f;
	fake_new(&f, 1);
	void *h = library(&f, RUNTIME_BASE);
	const tri_model_desc *d = symbol(h, "tiny_desc");
	assert_int_equal(d->abi, TRI_ABI);
	assert_string_equal(d->name, "tiny");
	assert_string_equal(d->version, "1.2 */ x");
	assert_string_equal(d->backend, "cpu");
	assert_string_equal(d->commit, "");
	assert_int_equal(d->dirty, 1);
	assert_int_equal(d->n_units, 2);
	assert_string_equal(d->units[1].name, "net");
	assert_int_equal(strlen(d->units[1].key), 32);
	assert_int_equal(d->units[0].n_statements, 0);
	assert_int_equal(d->units[0].origin, TRI_NONE);
	assert_int_equal(d->units[1].n_statements, 2);
	const tri_statement *s = &d->statements[d->units[1].first_statement];
	assert_string_equal(d->texts + s[0].name, "loop");
	assert_string_equal(d->texts + s[1].name, "tri_sort_f32");
	assert_int_equal(s[0].n_origins, 2);
	assert_int_equal(s[1].n_origins, 0);
	assert_true(s[0].kind == TRI_STATEMENT_CODE && s[0].ceiling == TRI_CEILING_MEMORY);
	assert_true(s[1].kind == TRI_STATEMENT_KERNEL && s[1].ceiling == TRI_CEILING_FLOAT);
	const tri_origin *main_one = &d->origins[d->members[s[0].first_origin]], *call = &d->origins[main_one->inlined_at];
	assert_string_equal(d->texts + main_one->operation, "relu");
	assert_string_equal(d->texts + main_one->layer, "fc.act");
	assert_string_equal(d->texts + main_one->file, "a.tri");
	assert_int_equal(main_one->line, 7);
	assert_string_equal(d->texts + call->operation, "Act");
	assert_int_equal(call->inlined_at, TRI_NONE);
	assert_int_equal(d->members[s[0].first_origin + 1], d->units[1].origin + 1);
	assert_int_equal(d->n_entries, 1);
	const tri_entry_desc *e = &d->entries[0];
	assert_string_equal(e->name, "tiny");
	assert_int_equal(e->n_inputs, 1);
	assert_int_equal(e->n_outputs, 2);
	assert_string_equal(e->inputs[0].name, "class");
	assert_int_equal(e->inputs[0].dtype, TRI_INT8);
	assert_int_equal(e->inputs[0].rank, 2);
	assert_int_equal(e->inputs[0].dims[0].steps[0].op, TRI_DIM_SYM);
	assert_int_equal(e->inputs[0].dims[1].n_steps, 1);
	assert_int_equal(e->inputs[0].dims[1].steps[0].value, K);
	assert_string_equal(e->outputs[1].name, "out1");
	assert_int_equal(e->outputs[1].dtype, TRI_INT32);
	assert_int_equal(e->n_dims, 1);
	assert_string_equal(e->dim_names[0], "N");
	dlclose(h);
	arena_free(f.a);
}

static void several_entries(void **state)
{
	struct fake f;
	int8_t x[K];
	int32_t y[2][M];
	run_fn *run, *forward;
	fake_new(&f, 2);
	f.entry_params[1][1] = 1, f.entry_params[1][2] = 2; /* single: b, s */
	void *h = library(&f, RUNTIME_BASE);
	const tri_model_desc *d = symbol(h, "tiny_desc");
	*(void **)&run = symbol(h, "tiny_single_run");
	*(void **)&forward = symbol(h, "tiny_forward_run");
	struct tri_model *m = d->open(NULL, NULL);
	memset(x, 3, sizeof x);
	tri_tensor io[] = {{x, {1, K}, 2, TRI_INT8}, {y[0], {1, M}, 2, TRI_INT32}, {y[1], {1, M}, 2, TRI_INT32}};
	assert_int_equal(run(m, io, NULL), TRI_OK);
	check(&f, x, 1, 1, -1000, y[0]);
	assert_int_equal(forward(m, io, NULL), TRI_OK);
	check(&f, x, 1, 0, -1000, y[0]);
	assert_int_equal(d->run(m, 1, io, NULL), TRI_OK);
	check(&f, x, 1, 1, -1000, y[0]);
	d->close(m);
	assert_null(dlsym(h, "tiny_run"));
	dlclose(h);
	arena_free(f.a);
}

static void header_compiles(struct fake *f, const char *body)
{
	struct buf text = {0};
	const char *h = temp_path(f->a, ".h"), *c = temp_path(f->a, ".c");
	model_header(&f->in, &f->info, &text);
	write_file(h, text.at, text.len);
	const char *use = arena_printf(f->a, "#include \"%s\"\n#include \"%s\"\n%s", h, h, body);
	write_file(c, use, strlen(use));
	run_command(arena_printf(f->a, "cc -std=c99 -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror -c %s -o /dev/null", c));
	if (system("command -v c++ >/dev/null 2>&1") == 0)
		run_command(arena_printf(f->a, "c++ -Wall -Wextra -Wpedantic -Werror -x c++ -c %s -o /dev/null", c));
	unlink(h);
	unlink(c);
	buf_free(&text);
}
static void header(void **state)
{
	struct fake f;
	struct buf text = {0};
	fake_new(&f, 1);
	model_header(&f.in, &f.info, &text);
	assert_non_null(strstr(text.at, "tri_tensor class_; /* input: int8 [N, 20] */"));
	assert_non_null(strstr(text.at, "tri_tensor out1; /* output: int32 [N, 40] */"));
	assert_null(strstr(text.at, "1.2 */ x"));
	buf_free(&text);
	header_compiles(
		&f,
		"int use(tiny *m, tiny_io *io); int use(tiny *m, tiny_io *io) { tri_error e; io->class_ = io->out; return tiny_run(m, io, &e) + (tiny_open(0, &e) != 0) + (int)tiny_desc.abi; }\n");
	arena_free(f.a);
	fake_new(&f, 2);
	f.net.outputs[0].name = "class"; /* as the input */
	header_compiles(
		&f,
		"int use(tiny *m, const tiny_forward_io *a, const tiny_single_io *b); int use(tiny *m, const tiny_forward_io *a, const tiny_single_io *b) {\n"
		"return a->class__.rank + tiny_forward_run(m, a, 0) + tiny_single_run(m, b, 0); }\n");
	arena_free(f.a);
}

int test_model(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_shared_and_cached),
		cmocka_unit_test(library_runs),
		cmocka_unit_test(descriptor),
		cmocka_unit_test(several_entries),
		cmocka_unit_test(header),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
