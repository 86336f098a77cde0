/* Dimensions: canonical form, and random expressions against their evaluation. */
#include "tests/unit/unit.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "frontend/hir/dim.h"

struct fixture {
	struct arena *arena;
	struct dims *d;
	dim n, m, k;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	f->arena = arena_new(0);
	f->d = dims_new(f->arena);
	f->n = dim_new_sym(f->d, "N");
	f->m = dim_new_sym(f->d, "M");
	f->k = dim_new_sym(f->d, "K");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	arena_free(f->arena);
	free(f);
	return 0;
}

static void text_is(struct fixture *f, dim x, const char *want)
{
	struct buf b = {0};
	dim_print(f->d, x, &b);
	assert_string_equal(b.at, want);
	buf_free(&b);
}

/* Two sizes of one name must not look equal in a message. */
static void sizes_of_one_name_look_different(void **state)
{
	struct fixture *f = *state;
	dim again = dim_new_sym(f->d, "N"), sum = dim_add(f->d, again, f->m);
	struct buf b = {0};
	dim_print_apart(f->d, f->n, &b);
	buf_putc(&b, ' ');
	dim_print_apart(f->d, again, &b);
	buf_putc(&b, ' ');
	dim_print_apart(f->d, sum, &b);
	assert_string_equal(b.at, "N N_2 M + N_2");
	buf_free(&b);
	text_is(f, again, "N");
}

static dim c(struct fixture *f, int64_t v) { return dim_const(f->d, v); }

static void canonical(void **state)
{
	struct fixture *f = *state;
	struct dims *d = f->d;
	dim a = dim_add(d, dim_mul(d, c(f, 2), f->n), c(f, 1)), b = dim_sub(d, dim_add(d, dim_add(d, f->n, c(f, 3)), f->n), c(f, 2));
	assert_true(dim_eq(a, b));
	text_is(f, a, "2*N + 1");
	text_is(f, dim_sub(d, f->m, f->n), "-N + M");
	text_is(f, c(f, -7), "-7");
	/* (N + M)(N - M) = N*N - M*M */
	dim l = dim_mul(d, dim_add(d, f->n, f->m), dim_sub(d, f->n, f->m));
	assert_true(dim_eq(l, dim_sub(d, dim_mul(d, f->n, f->n), dim_mul(d, f->m, f->m))));
	assert_true(dim_eq(dim_sub(d, l, l), c(f, 0)));
}

static void division(void **state)
{
	struct fixture *f = *state;
	struct dims *d = f->d;
	assert_true(dim_eq(dim_floordiv(d, dim_mul(d, c(f, 6), f->n), c(f, 3)), dim_mul(d, c(f, 2), f->n)));
	assert_true(dim_eq(dim_floordiv(d, dim_mul(d, c(f, 2), f->n), c(f, 4)), dim_floordiv(d, f->n, c(f, 2))));
	assert_true(
		dim_eq(dim_floordiv(d, dim_mul(d, dim_mul(d, f->n, f->m), c(f, 6)), dim_mul(d, f->m, c(f, 2))), dim_mul(d, c(f, 3), f->n)));
	text_is(f, dim_floordiv(d, dim_add(d, f->n, c(f, 1)), c(f, 2)), "(N + 1)//2");
	text_is(f, dim_mod(d, f->n, c(f, 2)), "N%2");
	assert_true(dim_eq(dim_mod(d, dim_mul(d, f->n, c(f, 4)), c(f, 2)), c(f, 0)));
	assert_true(dim_eq(dim_mod(d, c(f, -7), c(f, 3)), c(f, 2)));
	assert_true(dim_eq(dim_floordiv(d, c(f, -7), c(f, 3)), c(f, -3)));
	assert_true(dim_eq(dim_floordiv(d, f->n, f->n), c(f, 1)));
}

/* By sums: an exact quotient is one, another stays a division. */
static void division_by_sums(void **state)
{
	struct fixture *f = *state;
	struct dims *d = f->d;
	dim less = dim_sub(d, f->n, c(f, 1)), sum = dim_add(d, dim_mul(d, f->n, f->n), f->m);
	assert_true(dim_eq(dim_floordiv(d, dim_mul(d, less, c(f, 8)), dim_mul(d, less, c(f, 4))), c(f, 2)));
	assert_true(dim_eq(dim_floordiv(d, dim_mul(d, less, sum), less), sum));
	assert_true(dim_eq(dim_floordiv(d, dim_mul(d, less, sum), sum), less));
	assert_true(dim_eq(dim_floordiv(d, dim_mul(d, less, less), dim_sub(d, c(f, 1), f->n)), dim_sub(d, c(f, 1), f->n)));
	assert_true(dim_eq(dim_mod(d, dim_mul(d, less, sum), sum), c(f, 0)));
	text_is(f, dim_floordiv(d, dim_mul(d, less, c(f, 3)), dim_mul(d, less, c(f, 2))), "(3*N - 3)//(2*N - 2)");
	text_is(f, dim_floordiv(d, f->n, less), "N//(N - 1)");
	text_is(f, dim_mod(d, dim_add(d, f->n, c(f, 3)), less), "(N + 3)%(N - 1)");
	assert_false(dims_overflowed(d));
}

static void comparison(void **state)
{
	struct fixture *f = *state;
	struct dims *d = f->d;
	assert_int_equal(dim_compare(d, f->n, f->n), 1);
	assert_int_equal(dim_compare(d, f->n, dim_add(d, f->n, c(f, 1))), -1);
	assert_int_equal(dim_compare(d, f->n, f->m), 0);
	assert_int_equal(dim_compare(d, dim_mul(d, c(f, 2), f->n), dim_add(d, dim_mul(d, c(f, 4), f->m), c(f, 1))), -1);
	dim x;
	int64_t coef;
	assert_int_equal(dim_divide_exact(d, dim_mul(d, c(f, 6), f->n), 3, &x), 1);
	text_is(f, x, "2*N");
	assert_int_equal(dim_divide_exact(d, c(f, 7), 3, &x), -1);
	assert_int_equal(dim_divide_exact(d, f->n, 3, &x), 0);
	assert_int_equal(dim_common_factor(d, dim_add(d, dim_mul(d, c(f, 8), f->n), c(f, 12))), 4);
	assert_int_equal(dim_common_factor(d, c(f, -6)), 6);
	assert_int_equal(dim_common_factor(d, c(f, INT64_MIN)), 1);
	assert_int_equal(dim_common_factor(d, c(f, 0)), 0);
	assert_int_equal(dim_divide_exact(d, dim_add(d, dim_mul(d, c(f, 3), f->n), c(f, 1)), 3, &x), -1);
	assert_true(dim_linear_in(d, dim_add(d, dim_mul(d, c(f, 3), f->n), f->m), 0, &coef, &x));
	assert_int_equal(coef, 3);
	assert_true(dim_eq(x, f->m));
	assert_false(dim_linear_in(d, dim_mul(d, f->n, f->m), 0, &coef, &x));
	dim square = dim_mul(d, f->n, f->n), half = dim_floordiv(d, f->n, c(f, 2)), rest = dim_floordiv(d, f->m, c(f, 2));
	assert_true(dim_determines(d, dim_add(d, dim_mul(d, f->n, f->m), f->n), 0));
	assert_true(dim_determines(d, dim_sub(d, dim_mul(d, f->n, rest), f->m), 0));
	assert_false(dim_determines(d, dim_add(d, square, f->n), 0));
	assert_false(dim_determines(d, dim_add(d, half, f->n), 0));
	assert_false(dim_determines(d, dim_mul(d, half, f->m), 0));
	assert_false(dim_determines(d, rest, 0));
	assert_true(dim_depends_on(d, dim_floordiv(d, f->n, c(f, 2)), 0));
}

static void overflow(void **state)
{
	struct fixture *f = *state;
	struct dims *d = f->d;
	assert_false(dims_overflowed(d));
	dim_add(d, c(f, INT64_MAX), c(f, 1));
	assert_true(dims_overflowed(d));
	assert_false(dims_overflowed(d));
	dim x = f->n; /* nesting without end must stop at a bound, not fill memory */
	for (int i = 0; i < 2000; i++)
		x = dim_add(d, dim_floordiv(d, x, dim_add(d, f->m, c(f, i))), f->k);
	assert_true(dims_overflowed(d));
	x = dim_add(d, dim_add(d, f->n, f->m), f->k);
	for (int i = 0; i < 20; i++)
		x = dim_mul(d, x, x);
	assert_true(dims_overflowed(d));
}

/* ---- random expressions ---- */

struct pair {
	dim x;
	int64_t v; /* its value computed beside it */
};

static int64_t fdiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static int64_t steps_eval(struct fixture *f, dim x, const int64_t *syms)
{
	struct dim_step steps[1024];
	int64_t stack[64];
	uint32_t n = dim_program(f->d, x, steps, 1024), top = 0;
	assert_true(n <= 1024);
	for (uint32_t i = 0; i < n; i++) {
		if (steps[i].op == DIM_PUSH_CONST || steps[i].op == DIM_PUSH_SYM) {
			assert_true(top < 64);
			stack[top++] = steps[i].op == DIM_PUSH_SYM ? syms[steps[i].value] : steps[i].value;
			continue;
		}
		int64_t b = stack[--top], a = stack[top - 1];
		int64_t q = b ? fdiv(a, b) : 0;
		stack[top - 1] = steps[i].op == DIM_OP_ADD        ? a + b
				 : steps[i].op == DIM_OP_MUL      ? a * b
				 : steps[i].op == DIM_OP_FLOORDIV ? q
				 : b                              ? a - q * b
								  : 0;
	}
	assert_int_equal(top, 1);
	return stack[0];
}

static struct pair random_pair(struct fixture *f, const int64_t *syms, int depth)
{
	int op = depth ? rand() % 7 : rand() % 2;
	if (op == 0) {
		int64_t v = rand() % 21 - 6;
		return (struct pair){c(f, v), v};
	}
	if (op == 1) {
		uint32_t s = (uint32_t)rand() % 3;
		return (struct pair){dim_sym(f->d, s), syms[s]};
	}
	struct pair a = random_pair(f, syms, depth - 1), b = random_pair(f, syms, depth - 1);
	if (op == 2)
		return (struct pair){dim_add(f->d, a.x, b.x), a.v + b.v};
	if (op == 3)
		return (struct pair){dim_sub(f->d, a.x, b.x), a.v - b.v};
	if (op == 4)
		return (struct pair){dim_mul(f->d, a.x, b.x), a.v * b.v};
	int64_t k;
	if (!b.v || (dim_is_const(f->d, b.x, &k) && !k))
		return a;
	int64_t q = fdiv(a.v, b.v);
	return op == 5 ? (struct pair){dim_floordiv(f->d, a.x, b.x), q} : (struct pair){dim_mod(f->d, a.x, b.x), a.v - q * b.v};
}

static void random_expressions(void **state)
{
	struct fixture *f = *state;
	srand(20260101);
	for (int i = 0; i < 20000; i++) {
		int64_t syms[3] = {1 + rand() % 9, 1 + rand() % 9, 1 + rand() % 9};
		struct pair p = random_pair(f, syms, 4), q = random_pair(f, syms, 2);
		if (dims_overflowed(f->d))
			continue;
		assert_int_equal(dim_eval(f->d, p.x, syms), p.v);
		assert_int_equal(steps_eval(f, p.x, syms), p.v);
		int same = dim_compare(f->d, p.x, q.x);
		if (same > 0)
			assert_int_equal(p.v, q.v);
		if (same < 0)
			assert_int_not_equal(p.v, q.v);
	}
}

static void translation(void **state)
{
	struct fixture *f = *state;
	srand(7);
	for (int i = 0; i < 3000; i++) {
		struct dims *to = dims_new(f->arena);
		dim a = dim_new_sym(to, "A"), b = dim_new_sym(to, "B");
		int64_t outer[2] = {1 + rand() % 7, 1 + rand() % 7}, syms[3] = {2 * outer[0], outer[0] + outer[1], 5};
		dim map[3] = {dim_mul(to, dim_const(to, 2), a), dim_add(to, a, b), dim_const(to, 5)};
		struct pair p = random_pair(f, syms, 4);
		if (dims_overflowed(f->d))
			continue;
		dim x = dim_translate(to, f->d, p.x, map);
		if (!dims_overflowed(to))
			assert_int_equal(dim_eval(to, x, outer), p.v);
	}
}

static dim wanted(struct dims *d)
{
	dim n = dim_sym(d, 0), m = dim_sym(d, 1), seven = dim_const(d, 7), two = dim_const(d, 2);
	dim half = dim_floordiv(d, dim_add(d, n, seven), two), rest = dim_mod(d, m, dim_add(d, n, two));
	return dim_add(d, dim_mul(d, half, m), dim_mul(d, rest, seven));
}

static void serialized(const struct dims *d, dim x, struct arena *a, struct buf *out)
{
	struct dims_writer *w = dims_writer_new(a, d);
	varint_put(out, dims_writer_add(w, x));
	dims_writer_finish(w, out);
}

/* The text and the bytes of a dim depend on its value alone, whatever was made before it. */
static void form_does_not_depend_on_the_history(void **state)
{
	struct fixture *f = *state;
	struct buf texts[2] = {{0}, {0}}, bytes[2] = {{0}, {0}};
	for (int k = 0; k < 2; k++) {
		struct dims *d = dims_copy(f->arena, f->d);
		dim n = dim_sym(d, 0), m = dim_sym(d, 1);
		if (k) {
			dim half = dim_floordiv(d, dim_add(d, n, dim_const(d, 7)), dim_const(d, 2)); /* rest is older in the other table */
			dim_mul(d, half, m);
		}
		dim x = wanted(d);
		dim_print(d, x, &texts[k]);
		serialized(d, x, f->arena, &bytes[k]);
	}
	assert_string_equal(texts[0].at, texts[1].at);
	assert_int_equal(bytes[0].len, bytes[1].len);
	assert_memory_equal(bytes[0].at, bytes[1].at, bytes[0].len);
	struct varint_in in = {(const unsigned char *)bytes[0].at, (const unsigned char *)bytes[0].at + bytes[0].len, true};
	dim x = {varint_take_upto(&in, UINT32_MAX)};
	struct dims *read = dims_read(f->arena, &in);
	int64_t syms[3] = {5, 11, 3};
	struct dims *d = dims_copy(f->arena, f->d);
	assert_non_null(read);
	assert_ptr_equal(in.at, in.end);
	assert_int_equal(dim_eval(read, x, syms), dim_eval(d, wanted(d), syms));
	for (int k = 0; k < 2; k++) {
		buf_free(&texts[k]);
		buf_free(&bytes[k]);
	}
}

/* What was made before a copy has the same handle in it, and the copy grows apart. */
static void copies_share_handles(void **state)
{
	struct fixture *f = *state;
	dim x = wanted(f->d);
	struct dims *copy = dims_copy(f->arena, f->d);
	assert_true(dim_eq(wanted(copy), x));
	uint32_t before = dims_count(f->d);
	dim_const(copy, 123456);
	assert_int_equal(dims_count(f->d), before);
	dims_rename_sym(copy, 0, "rows");
	assert_string_equal(dims_sym_name(f->d, 0), "N");
	assert_int_equal(dim_compare(f->d, x, x), 1);
	assert_int_equal(dims_count(f->d), before);
}

static void closed_table_cannot_grow(void **state)
{
	struct fixture *f = *state;
	int status = 0;
	pid_t child = fork();
	if (!child) {
		fclose(stderr);
		dims_close(f->d);
		dim_add(f->d, f->n, f->m);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int test_dim(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(form_does_not_depend_on_the_history, setup, teardown),
		cmocka_unit_test_setup_teardown(copies_share_handles, setup, teardown),
		cmocka_unit_test_setup_teardown(closed_table_cannot_grow, setup, teardown),
		cmocka_unit_test_setup_teardown(sizes_of_one_name_look_different, setup, teardown),
		cmocka_unit_test_setup_teardown(canonical, setup, teardown),
		cmocka_unit_test_setup_teardown(division, setup, teardown),
		cmocka_unit_test_setup_teardown(division_by_sums, setup, teardown),
		cmocka_unit_test_setup_teardown(comparison, setup, teardown),
		cmocka_unit_test_setup_teardown(overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(random_expressions, setup, teardown),
		cmocka_unit_test_setup_teardown(translation, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
