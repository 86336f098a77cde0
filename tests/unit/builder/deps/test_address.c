#include "builder/deps/checkout.h"
#include "tests/unit/unit.h"
#include "base/arena.h"

static void addresses(void **state)
{
	static const struct {
		const char *base, *url, *want;
	} all[] = {
		{"", "../gates", "../gates"},
		{"../blocks", "../gates", "../gates"},
		{"../a/blocks.git", "gates", "../a/blocks.git/gates"},
		{"/srv/blocks.git", "../gates.git", "/srv/gates.git"},
		{"/srv/blocks.git", "https://h/gates", "https://h/gates"},
		{"/srv/blocks.git", "/gates", "/gates"},
		{"https://example.org/team/blocks", "../gates", "https://example.org/team/gates"},
		{"https://example.org/team/blocks", "../../other/gates", "https://example.org/other/gates"},
		{"ssh://git@h:22/team/blocks", "../gates", "ssh://git@h:22/team/gates"},
		{"git@h:team/blocks.git", "../gates.git", "git@h:team/gates.git"},
		{"../blocks", "git@h:gates", "git@h:gates"},
	};
	struct arena *a = arena_new(0);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		assert_string_equal(address_join(a, all[i].base, all[i].url), all[i].want);
	arena_free(a);
}

int test_address(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(addresses)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
