/* Who logs in at a server: what `git credential` knows of it, through the helpers, GIT_ASKPASS and SSH_ASKPASS that the user has set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "builder/git/child.h"
#include "builder/git/http.h"

enum { MOST = 16384 };

/* `git credential WHAT` with `text`; what it answers, malloc'd, or NULL. */
static char *credential(struct login *l, const char *what, const char *text)
{
	const char *const argv[] = {"git", "credential", what, NULL};
	struct child c;
	char *answer = calloc(1, MOST);
	size_t len = 0;
	if (!answer)
		abort();
	bool ok = child_start(&c, argv, "GIT_TERMINAL_PROMPT=0", l->stopped);
	if (ok) {
		ok = child_write(&c, text, strlen(text)) && shutdown(c.talk, SHUT_WR) == 0;
		for (ssize_t n = 1; ok && n > 0 && len < MOST - 1; len += n > 0 ? (size_t)n : 0)
			n = child_read(&c, answer + len, MOST - 1 - len);
		ok = child_end(&c, NULL, 0) && ok;
	}
	if (ok)
		return answer;
	free(answer);
	return NULL;
}

/* The value of a line `KEY=…`, malloc'd; NULL: none. */
static char *value(const char *answer, const char *key)
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

static int refuse(const char *text)
{
	git_error_set_str(GIT_ERROR_HTTP, text);
	return GIT_EAUTH;
}

int login_ask(git_credential **out, const char *url, const char *user, unsigned allowed, void *login)
{
	struct login *l = login;
	char wish[4096];
	if (!(allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT))
		return refuse("the server wants a way to log in that is not a name and a password");
	if (l->answer) {
		l->refused = true;
		return refuse("the server does not take the name and the password that it was given");
	}
	if (strpbrk(url, "\r\n") || (user && strpbrk(user, "\r\n")) || !same_server(url, l->url))
		return refuse("the server hands over to another one, which wants a name and a password");
	int n = snprintf(wish, sizeof wish, "url=%s\n%s%s%s\n", url, user ? "username=" : "", user ? user : "", user ? "\n" : "");
	l->answer = n > 0 && (size_t)n < sizeof wish ? credential(l, "fill", wish) : NULL;
	char *name = value(l->answer, "username"), *secret = value(l->answer, "password");
	int failed = name && secret ? git_credential_userpass_plaintext_new(out, name, secret)
				    : refuse("the server wants a name and a password, and `git credential` knows none");
	free(name);
	free(secret);
	return failed;
}

void login_settle(struct login *l, bool fetched)
{
	if (l->answer && (fetched || l->refused))
		free(credential(l, fetched ? "approve" : "reject", l->answer));
	free(l->answer);
	l->answer = NULL;
}
