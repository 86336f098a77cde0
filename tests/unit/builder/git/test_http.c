/* Settings of https by address, and who gets a password. */
#include "builder/git/http.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"

#define URL "https://user@host.org/team/repo.git"

static const char *const variables[] = {"GIT_SSL_NO_VERIFY", "GIT_SSL_CAINFO", "SSL_CERT_FILE", "GIT_SSL_CAPATH", "SSL_CERT_DIR"};

static int setup(void **state)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	return git_libgit2_init() < 0;
}

static int teardown(void **state)
{
	git_libgit2_shutdown();
	return 0;
}

/* The headers for URL with this text as git's configuration, with commas between them. `no verify`: any certificate is accepted. */
static void sets(const char *text, const char *expected)
{
	char path[] = "/tmp/trib-config-XXXXXX";
	int fd = mkstemp(path);
	git_config *config;
	git_fetch_options o;
	struct buf out = {0};
	git_fetch_options_init(&o, GIT_FETCH_OPTIONS_VERSION);
	assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text) && git_config_open_ondisk(&config, path) == 0);
	assert_true(http_set_up(config, URL, &o));
	buf_puts(&out, o.callbacks.certificate_check ? "no verify" : "");
	for (size_t i = 0; i < o.custom_headers.count; i++)
		buf_printf(&out, "%s%s", out.len ? ", " : "", o.custom_headers.strings[i]);
	assert_string_equal(out.at, expected);
	http_clean_up(&o);
	buf_free(&out);
	git_config_free(config);
	close(fd);
	unlink(path);
}

static void address_with_most_in_common_decides(void **state)
{
	sets("[http]\n\textraHeader = A: all\n", "A: all");
	sets("[http]\n\textraHeader = A: all\n[http \"https://host.org\"]\n\textraHeader = A: host\n", "A: host");
	sets("[http \"https://host.org/team/\"]\n\textraHeader = A: team\n[http \"https://host.org\"]\n\textraHeader = A: host\n",
	     "A: team");
	sets("[http]\n\textraHeader = A: all\n[http \"https://other.org\"]\n\textraHeader = A: other\n", "A: all");
}

static void beginning_of_a_name_is_no_part_of_the_address(void **state)
{
	sets("[http \"https://host.or\"]\n\textraHeader = A: 1\n[http \"https://host.org/te\"]\n\textraHeader = A: 2\n", "");
	sets("[http \"http://host.org\"]\n\textraHeader = A: 1\n", "");
}

static void certificates_are_verified_unless_switched_off(void **state)
{
	sets("[http]\n\tsslVerify = true\n", "");
	sets("[http]\n\tsslVerify = off\n", "no verify");
	sets("[http]\n\tsslVerify = false\n[http \"https://host.org\"]\n\tsslVerify\n", ""); /* a key alone is true */
	setenv("GIT_SSL_NO_VERIFY", "1", 1);
	sets("", "no verify");
}

/* ---- logins ---- */

static bool never(void) { return false; }

static void refuses(struct login *l, const char *url, unsigned allowed, const char *message)
{
	git_credential *out = NULL;
	assert_int_equal(login_provide(&out, url, NULL, allowed, l), GIT_EAUTH);
	assert_string_equal(git_error_last()->message, message);
	assert_null(out);
}

static void password_goes_only_to_the_named_server(void **state)
{
	static const char *const others[] = {
		"https://host.org.evil.com/r", "https://host.or/r",           "http://host.org/r", "https://host.org:444/r",
		"https://a@evil.com/host.org", "https://host.org@evil.com/r", "host.org"};
	struct login l = {.url = URL, .stopped = never};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		refuses(&l, others[i], GIT_CREDENTIAL_USERPASS_PLAINTEXT,
			"the server redirects to another server, which requires a name and a password");
	refuses(&l, "https://host.org/r\nhost=evil.com", GIT_CREDENTIAL_USERPASS_PLAINTEXT,
		"the server redirects to another server, which requires a name and a password");
}

static void password_is_given_once(void **state)
{
	struct login l = {.url = URL, .answer = strdup("username=a\npassword=b\n"), .stopped = never};
	refuses(&l, URL, GIT_CREDENTIAL_SSH_KEY,
		"the server requires a login method other than a name and a password, which trib does not support");
	assert_false(l.rejected);
	refuses(&l, URL, GIT_CREDENTIAL_USERPASS_PLAINTEXT, "the server rejected the name and password");
	assert_true(l.rejected);
	free(l.answer);
}

int test_http(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(address_with_most_in_common_decides, setup, teardown),
		cmocka_unit_test_setup_teardown(beginning_of_a_name_is_no_part_of_the_address, setup, teardown),
		cmocka_unit_test_setup_teardown(certificates_are_verified_unless_switched_off, setup, teardown),
		cmocka_unit_test_setup_teardown(password_goes_only_to_the_named_server, setup, teardown),
		cmocka_unit_test_setup_teardown(password_is_given_once, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
