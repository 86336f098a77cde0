/* Names and passwords for servers, from `git credential`: it asks the configured helpers, GIT_ASKPASS and SSH_ASKPASS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "builder/git/child.h"
#include "builder/git/http.h"

enum { MAX_ANSWER = 16384 };

/* Runs `git credential COMMAND` with `text` as input. Returns its output, malloc'd, or NULL. */
static char *run_credential(struct login *l, const char *command, const char *text)
{
	const char *const argv[] = {"git", "credential", command, NULL};
	struct child c;
	char *answer = calloc(1, MAX_ANSWER);
	size_t len = 0;
	if (!answer)
		abort();
	bool ok = child_start(&c, argv, "GIT_TERMINAL_PROMPT=0", l->stopped);
	if (ok) {
		ok = child_write(&c, text, strlen(text)) && shutdown(c.socket, SHUT_WR) == 0;
		for (ssize_t n = 1; ok && n > 0 && len < MAX_ANSWER - 1; len += n > 0 ? (size_t)n : 0)
			n = child_read(&c, answer + len, MAX_ANSWER - 1 - len);
		ok = child_end(&c, NULL, 0) && ok;
	}
	if (ok)
		return answer;
	free(answer);
	return NULL;
}

/* Returns the value of a line `KEY=…`, malloc'd; NULL: none. */
static char *login_find_value(const char *answer, const char *key)
{
	size_t n = strlen(key);
	for (const char *s = answer; s && *s; s = strchr(s, '\n'), s += s != NULL)
		if (strncmp(s, key, n) == 0 && s[n] == '=')
			return strndup(s + n + 1, strcspn(s + n + 1, "\n"));
	return NULL;
}

static bool same_server(const char *a, const char *b)
{
	const char *ha = strstr(a, "://"), *hb = strstr(b, "://");
	if (!ha || !hb)
		return false;
	size_t na = strcspn(ha + 3, "/"), nb = strcspn(hb + 3, "/");
	const char *ua = memchr(ha + 3, '@', na), *ub = memchr(hb + 3, '@', nb);
	const char *ea = ha + 3 + na, *eb = hb + 3 + nb, *sa = ua ? ua + 1 : ha + 3, *sb = ub ? ub + 1 : hb + 3;
	return ha - a == hb - b && strncmp(a, b, (size_t)(ha - a)) == 0 && ea - sa == eb - sb && strncmp(sa, sb, (size_t)(ea - sa)) == 0;
}

static int login_fail(const char *text)
{
	git_error_set_str(GIT_ERROR_HTTP, text);
	return GIT_EAUTH;
}

int login_provide(git_credential **out, const char *url, const char *user, unsigned allowed, void *login)
{
	struct login *l = login;
	char query[4096];
	if (!(allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT))
		return login_fail("the server requires a login method other than a name and a password, which trib does not support");
	if (l->answer) {
		l->rejected = true;
		return login_fail("the server rejected the name and password");
	}
	if (strpbrk(url, "\r\n") || (user && strpbrk(user, "\r\n")) || !same_server(url, l->url))
		return login_fail("the server redirects to another server, which requires a name and a password");
	int n = snprintf(query, sizeof query, "url=%s\n%s%s%s\n", url, user ? "username=" : "", user ? user : "", user ? "\n" : "");
	l->answer = n > 0 && (size_t)n < sizeof query ? run_credential(l, "fill", query) : NULL;
	char *name = login_find_value(l->answer, "username"), *secret = login_find_value(l->answer, "password");
	int failed = name && secret ? git_credential_userpass_plaintext_new(out, name, secret)
				    : login_fail("the server requires a name and a password, and `git credential` has none");
	free(name);
	free(secret);
	return failed;
}

void login_finish(struct login *l, bool fetched)
{
	if (l->answer && (fetched || l->rejected))
		free(run_credential(l, fetched ? "approve" : "reject", l->answer));
	free(l->answer);
	l->answer = NULL;
}
