#include "base/intern.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>

static void equal_text_equal_id(void **state)
{
	struct interner *in = interner_new();
	const char *first;
	name_id a;

	assert_int_equal(intern_str(in, ""), 0);
	assert_int_equal(intern(in, NULL, 0), 0);
	assert_string_equal(intern_text(in, 0), "");
	a = intern(in, "layer norm", 5);
	first = intern_text(in, a);
	assert_string_equal(first, "layer");
	for (int i = 0; i < 20000; i++) {
		char name[16];

		snprintf(name, sizeof name, "n%d", i);
		assert_int_equal(intern_str(in, name), (name_id)i + 2); /* dense, in order */
	}
	assert_int_equal(intern_str(in, "layer"), a);
	assert_ptr_equal(intern_text(in, a), first); /* never moves */
	assert_int_equal(intern_str(in, "n12345"), 12347);
	assert_string_equal(intern_text(in, 12347), "n12345");
	interner_free(in);
	interner_free(NULL);
}

static void embedded_nul(void **state)
{
	struct interner *in = interner_new();

	assert_int_not_equal(intern(in, "a\0b", 3), intern(in, "a\0c", 3));
	assert_int_not_equal(intern(in, "a\0b", 3), intern(in, "a", 1));
	interner_free(in);
}

int test_intern(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(equal_text_equal_id), cmocka_unit_test(embedded_nul)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
