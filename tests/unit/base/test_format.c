/* Expected texts are those of Python 3.13 and PyTorch 2.6. */
#include "tests/unit/unit.h"
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/format.h"

static void put(void *ctx, const char *s, size_t n) { buf_put(ctx, s, n); }

static void expect(struct buf *b, const char *want)
{
	assert_string_equal(b->at ? b->at : "", want);
	buf_free(b);
}

static struct format_spec parsed(const char *text)
{
	struct format_spec spec;
	assert_null(format_parse(text, strlen(text), &spec));
	return spec;
}

static void integer(const char *spec, int64_t v, const char *want)
{
	struct buf b = {0};
	struct format_out out = {put, &b};
	struct format_spec s = parsed(spec);
	assert_null(format_check(&s, FORMAT_CLASS_INT));
	format_int(&s, v, &out);
	expect(&b, want);
}

static void real(const char *spec, double v, const char *want)
{
	struct buf b = {0};
	struct format_out out = {put, &b};
	struct format_spec s = parsed(spec);
	assert_null(format_check(&s, FORMAT_CLASS_FLOAT));
	format_float(&s, v, FORMAT_FLOAT64, &out);
	expect(&b, want);
}

static void string(const char *spec, const char *v, const char *want)
{
	struct buf b = {0};
	struct format_out out = {put, &b};
	struct format_spec s = parsed(spec);
	assert_null(format_check(&s, FORMAT_CLASS_STR));
	format_str(&s, v, strlen(v), &out);
	expect(&b, want);
}

static void test_integers(void **state)
{
	integer("", -42, "-42");
	integer("5", 42, "   42");
	integer("<5", 42, "42   ");
	integer("^5", 42, " 42  ");
	integer("*^6", -42, "*-42**");
	integer("05", -42, "-0042");
	integer("=+6", 42, "+   42");
	integer(" d", 42, " 42");
	integer(",", 1234567, "1,234,567");
	integer("_", 1234567, "1_234_567");
	integer("012,", 1234567, "0,001,234,567");
	integer("#x", 255, "0xff");
	integer("#010b", -5, "-0b0000101");
	integer("_b", 0xAB, "1010_1011");
	integer("X", 48879, "BEEF");
	integer(".2f", 3, "3.00");
	integer("", INT64_MIN, "-9223372036854775808");
	integer("\xC3\xA9>4", 7,
		"\xC3\xA9\xC3\xA9\xC3\xA9"
		"7");
}

static void test_floats(void **state)
{
	real("", 1, "1.0");
	real("", 0.1, "0.1");
	real("", 1e-5, "1e-05");
	real("", 1e16, "1e+16");
	real("", 123456789012345.0, "123456789012345.0");
	real("", -0.0, "-0.0");
	real("", 1e300, "1e+300");
	real("", 2.5e-308, "2.5e-308");
	real(".3f", 3.14159, "3.142");
	real("8.2f", -1.5, "   -1.50");
	real("08.2f", -1.5, "-0001.50");
	real("e", 12345.678, "1.234568e+04");
	real(".2E", 0.00012, "1.20E-04");
	real("g", 1e-7, "1e-07");
	real(".3", 1234.5, "1.23e+03");
	real(".3", 3, "3.0");
	real(".5", 70000, "7e+04");
	real(",.1f", 1234567.25, "1,234,567.2");
	real(".1%", 0.125, "12.5%");
	real("", (double)NAN, "nan");
	real("+8.1f", -(double)INFINITY, "    -inf");
	real("07", (double)INFINITY, "0000inf");
}

static void shortest(enum format_elem elem, double v, const char *want)
{
	struct buf b = {0};
	struct format_out out = {put, &b};
	struct format_spec s = parsed("");
	format_float(&s, v, elem, &out);
	expect(&b, want);
}

static void test_shortest_by_type(void **state)
{
	shortest(FORMAT_FLOAT32, (double)0.1f, "0.1");
	shortest(FORMAT_FLOAT64, (double)0.1f, "0.10000000149011612");
	shortest(FORMAT_FLOAT32, (double)(1.0f / 3.0f), "0.33333334");
	shortest(FORMAT_FLOAT16, 0.0999755859375, "0.1");
	shortest(FORMAT_FLOAT16, 0x1p-24, "6e-08");
	shortest(FORMAT_FLOAT16, 65504, "65500.0");
	shortest(FORMAT_BFLOAT16, 3.140625, "3.14");
	shortest(FORMAT_FLOAT32, (double)1.4e-45f, "1e-45");
	shortest(FORMAT_FLOAT32, (double)16777216.0f, "16777216.0");
}

static void test_strings(void **state)
{
	string("", "abc", "abc");
	string("5", "abc", "abc  ");
	string(">5", "abc", "  abc");
	string("^6", "abc", " abc  ");
	string(".2", "abc", "ab");
	string("3.1", "\xC3\xA9x", "\xC3\xA9  ");
}

static void refused(const char *text)
{
	struct format_spec spec;
	assert_non_null(format_parse(text, strlen(text), &spec));
}

static void test_refused(void **state)
{
	refused("q");
	refused(".");
	refused("5.2ff");
	refused("99999");
	refused(".1000f");
	refused("{}");
	struct format_spec s = parsed("d");
	assert_non_null(format_check(&s, FORMAT_CLASS_FLOAT));
	assert_non_null(format_check(&s, FORMAT_CLASS_STR));
	s = parsed(".2");
	assert_non_null(format_check(&s, FORMAT_CLASS_INT));
	s = parsed(",x");
	assert_non_null(format_check(&s, FORMAT_CLASS_INT));
}

static void tensor(const char *spec, enum format_elem elem, uint32_t rank, const int64_t *dims, const void *data, const char *want)
{
	struct buf b = {0};
	struct format_out out = {put, &b};
	struct format_value v = {elem, rank, dims, data};
	struct format_spec s;
	if (spec)
		s = parsed(spec);
	format_tensor(spec ? &s : NULL, &v, &out);
	expect(&b, want);
}

static void test_tensors(void **state)
{
	const float f[] = {1, 2, 3, 4.5f}, whole[] = {1, -2, 3, 1000}, wide[] = {1e-3f, 1, 10, 1e3f},
		    mixed[] = {(float)NAN, 1, (float)INFINITY, 0};
	const int32_t i[] = {1, -20, 3, 4};
	const int64_t q[] = {1, 2}, d22[] = {2, 2}, d4[] = {4}, d2[] = {2}, d122[] = {1, 2, 2}, d03[] = {0, 3};
	const uint8_t b[] = {1, 0};
	const int8_t t[] = {-1, 1};
	const uint8_t bytes[] = {7, 200};
	tensor(NULL, FORMAT_FLOAT32, 2, d22, f, "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])");
	tensor(NULL, FORMAT_FLOAT32, 1, d4, whole, "tensor([   1.,   -2.,    3., 1000.])");
	tensor(NULL, FORMAT_FLOAT32, 1, d4, wide, "tensor([1.0000e-03, 1.0000e+00, 1.0000e+01, 1.0000e+03])");
	tensor(NULL, FORMAT_FLOAT32, 1, d4, mixed, "tensor([nan, 1., inf, 0.])");
	tensor(NULL, FORMAT_INT32, 3, d122, i, "tensor([[[  1, -20],\n         [  3,   4]]])");
	tensor(NULL, FORMAT_INT64, 1, d2, q, "tensor([1, 2], dtype=int64)");
	tensor(NULL, FORMAT_BOOL, 1, d2, b, "tensor([ true, false])");
	tensor(NULL, FORMAT_TRIT, 1, d2, t, "tensor([-1,  1], dtype=trit)");
	tensor(NULL, FORMAT_UINT8, 1, d2, bytes, "tensor([  7, 200], dtype=uint8)");
	tensor(NULL, FORMAT_FLOAT32, 2, d03, NULL, "tensor([], size=(0, 3))");
	tensor(NULL, FORMAT_FLOAT32, 0, NULL, f + 3, "4.5");
	tensor(".1f", FORMAT_FLOAT32, 1, d4, f, "tensor([1.0, 2.0, 3.0, 4.5])");
	tensor(".1f", FORMAT_FLOAT32, 0, NULL, f + 3, "4.5");
}

static void test_large_tensor(void **state)
{
	static int32_t v[1200];
	const int64_t dims[] = {12, 100};
	for (int k = 0; k < 1200; k++)
		v[k] = k;
	tensor(NULL, FORMAT_INT32, 2, dims, v,
	       "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
	       "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
	       "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
	       "        ...,\n"
	       "        [ 900,  901,  902,  ...,  997,  998,  999],\n"
	       "        [1000, 1001, 1002,  ..., 1097, 1098, 1099],\n"
	       "        [1100, 1101, 1102,  ..., 1197, 1198, 1199]])");
}

static void test_templates(void **state)
{
	const float x = 1.5f;
	const int32_t n = 7;
	struct format_value values[] = {{FORMAT_FLOAT32, 0, NULL, &x}, {FORMAT_INT32, 0, NULL, &n}};
	struct buf b = {0};
	struct format_out out = {put, &b};
	format_template("{{x}} = {:.2f}, n = {}\n", values, &out);
	expect(&b, "{x} = 1.50, n = 7\n");
	assert_int_equal(format_placeholders("{{x}} = {:.2f}, n = {}\n"), 2);
	assert_int_equal(format_placeholders(""), 0);
	assert_int_equal(format_placeholders("{"), -1);
	assert_int_equal(format_placeholders("}"), -1);
	assert_int_equal(format_placeholders("{x}"), -1);
	assert_int_equal(format_placeholders("{:q}"), -1);
}

int test_format(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),     cmocka_unit_test(test_floats),    cmocka_unit_test(test_shortest_by_type),
		cmocka_unit_test(test_strings),      cmocka_unit_test(test_refused),   cmocka_unit_test(test_tensors),
		cmocka_unit_test(test_large_tensor), cmocka_unit_test(test_templates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
