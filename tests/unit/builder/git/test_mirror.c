/* Mirrors of a bare repository beside them: over file:// and over an ssh that is a shell script. No network. */
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/os.h"
#include "builder/git/child.h"
#include "builder/git/http.h"
#include "builder/git/module.h"

struct fixture {
	char dir[32], origin[64], db[64], url[80];
	git_repository *repo; /* the origin */
	struct git_failure error;
	char *path; /* the variable PATH */
};

static bool never(void) { return false; }
static bool at_once(void) { return true; }

static const char *under(const struct fixture *f, const char *name)
{
	static char path[128];
	snprintf(path, sizeof path, "%s/%s", f->dir, name);
	return path;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	*state = f;
	strcpy(f->dir, "/tmp/trib-mirror-XXXXXX");
	if (!mkdtemp(f->dir) || git_libgit2_init() < 0)
		return -1;
	snprintf(f->origin, sizeof f->origin, "%s/origin.git", f->dir);
	snprintf(f->db, sizeof f->db, "%s/mirror.git", f->dir);
	snprintf(f->url, sizeof f->url, "file://%s", f->origin);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	f->path = strdup(getenv("PATH"));
	return git_repository_init(&f->repo, f->origin, true) || git_repository_set_head(f->repo, "refs/heads/main");
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	unsetenv("GIT_CONFIG_GLOBAL");
	unsetenv("GIT_CONFIG_NOSYSTEM");
	unsetenv("GIT_SSH_COMMAND");
	setenv("PATH", f->path, 1);
	git_repository_free(f->repo);
	git_libgit2_shutdown();
	os_remove_tree(f->dir);
	free(f->path);
	free(f);
	return 0;
}

/* Commits one file with this text to a reference of the origin, without a parent. */
static git_oid commit(const struct fixture *f, const char *ref, const char *text)
{
	git_oid blob, tree_id, id;
	git_treebuilder *builder;
	git_tree *tree;
	git_signature *who;
	assert_int_equal(git_blob_create_from_buffer(&blob, f->repo, text, strlen(text)), 0);
	assert_int_equal(git_treebuilder_new(&builder, f->repo, NULL), 0);
	assert_int_equal(git_treebuilder_insert(NULL, builder, "net.tri", &blob, GIT_FILEMODE_BLOB), 0);
	assert_int_equal(git_treebuilder_write(&tree_id, builder), 0);
	assert_int_equal(git_tree_lookup(&tree, f->repo, &tree_id), 0);
	assert_int_equal(git_signature_new(&who, "A", "a@b", 1, 0), 0);
	assert_int_equal(git_commit_create(&id, f->repo, ref, who, who, NULL, text, tree, 0, NULL), 0);
	git_signature_free(who);
	git_tree_free(tree);
	git_treebuilder_free(builder);
	return id;
}

static void tag(const struct fixture *f, const char *name, const git_oid *id)
{
	git_object *object;
	git_signature *who;
	git_oid tag_id;
	assert_int_equal(git_object_lookup(&object, f->repo, id, GIT_OBJECT_COMMIT), 0);
	assert_int_equal(git_signature_new(&who, "A", "a@b", 1, 0), 0);
	assert_int_equal(git_tag_create(&tag_id, f->repo, name, object, who, "message", 0), 0);
	git_signature_free(who);
	git_object_free(object);
}

static void drop(const struct fixture *f, const char *ref) { assert_int_equal(git_reference_remove(f->repo, ref), 0); }

static void fetch(struct fixture *f, const char *url)
{
	if (!git_mirror_fetch(f->db, url, never, &f->error))
		fail_msg("%s", f->error.text);
}

static void resolves(struct fixture *f, enum git_ref kind, const char *name, const git_oid *to)
{
	char found[41], expected[41];
	assert_true(git_mirror_resolve(f->db, kind, name, found, &f->error));
	assert_string_equal(found, git_oid_tostr(expected, 41, to));
}

static void is_unknown(struct fixture *f, enum git_ref kind, const char *name)
{
	char found[41];
	assert_false(git_mirror_resolve(f->db, kind, name, found, &f->error));
	assert_int_equal(f->error.problem, GIT_PROBLEM_REVISION);
}

/* A program of this name before all others. */
static void put_program(const struct fixture *f, const char *name, const char *script)
{
	struct buf text = {0}, path = {0};
	buf_printf(&text, "#!/bin/sh\n%s\n", script);
	assert_true(os_write_if_changed(under(f, name), text.at, text.len, 0755, false));
	buf_printf(&path, "%s:%s", f->dir, f->path);
	setenv("PATH", path.at, 1);
	buf_free(&text);
	buf_free(&path);
}

static void file_has(const struct fixture *f, const char *name, const char *expected)
{
	char *text;
	size_t len;
	assert_true(os_read_file(under(f, name), 1 << 16, &text, &len));
	assert_string_equal(text, expected);
	free(text);
}

/* ---- references ---- */

static void references_are_mirrored(void **state)
{
	struct fixture *f = *state;
	git_oid head = commit(f, "refs/heads/main", "1"), other = commit(f, "refs/heads/other", "2");
	char text[41];
	tag(f, "v1", &other);
	fetch(f, f->url);
	resolves(f, GIT_REF_HEAD, NULL, &head);
	resolves(f, GIT_REF_BRANCH, "other", &other);
	resolves(f, GIT_REF_TAG, "v1", &other); /* the commit, not the tag's object */
	resolves(f, GIT_REF_REV, git_oid_tostr(text, 41, &head), &head);
	is_unknown(f, GIT_REF_BRANCH, "v1");
	is_unknown(f, GIT_REF_TAG, "other");
}

static void next_fetch_follows_the_origin(void **state)
{
	struct fixture *f = *state;
	commit(f, "refs/heads/main", "1");
	commit(f, "refs/heads/old", "2");
	fetch(f, f->url);
	drop(f, "refs/heads/main");
	drop(f, "refs/heads/old");
	git_oid rewritten = commit(f, "refs/heads/main", "3"); /* no descendant of the first one */
	fetch(f, f->url);
	resolves(f, GIT_REF_BRANCH, "main", &rewritten);
	resolves(f, GIT_REF_HEAD, NULL, &rewritten);
	is_unknown(f, GIT_REF_BRANCH, "old");
}

static void branch_may_become_a_folder(void **state)
{
	struct fixture *f = *state;
	commit(f, "refs/heads/main", "1");
	commit(f, "refs/heads/a", "2");
	fetch(f, f->url);
	drop(f, "refs/heads/a");
	git_oid inner = commit(f, "refs/heads/a/b", "3");
	fetch(f, f->url);
	resolves(f, GIT_REF_BRANCH, "a/b", &inner);
	is_unknown(f, GIT_REF_BRANCH, "a");
}

static void files_of_a_fetched_commit(void **state)
{
	struct fixture *f = *state;
	git_oid head = commit(f, "refs/heads/main", "fn f() { return 1 }\n");
	char text[41];
	fetch(f, f->url);
	assert_int_equal(mkdir(under(f, "files"), 0777), 0);
	assert_true(git_mirror_check_out(f->db, git_oid_tostr(text, 41, &head), f->dir, "files", &f->error));
	file_has(f, "files/net.tri", "fn f() { return 1 }\n");
	assert_false(git_mirror_check_out(f->db, text, f->dir, "none", &f->error));
	assert_int_equal(f->error.problem, GIT_PROBLEM_DISK);
	assert_string_equal(f->error.text, "none: No such file or directory");
}

/* ---- what stops a fetch ---- */

static void missing_repository_is_an_error(void **state)
{
	struct fixture *f = *state;
	assert_false(git_mirror_fetch(f->db, "file:///nowhere/r.git", never, &f->error));
	assert_int_equal(f->error.problem, GIT_PROBLEM_FETCH);
	assert_non_null(strstr(f->error.text, "/nowhere/r.git"));
	assert_false(git_mirror_fetch("/proc/none", f->url, never, &f->error));
	assert_int_equal(f->error.problem, GIT_PROBLEM_DISK);
}

static void user_stops_a_fetch(void **state)
{
	struct fixture *f = *state;
	commit(f, "refs/heads/main", "1");
	assert_false(git_mirror_fetch(f->db, f->url, at_once, &f->error));
	is_unknown(f, GIT_REF_BRANCH, "main");
	fetch(f, f->url);
}

/* ---- ssh ---- */

/* Notes its arguments, and runs the last one here. */
#define FAKE_SSH "printf '%s|' \"$@\" >\"$(dirname \"$0\")/said\"; for last; do :; done; eval \"$last\""

static void ssh_gets_host_port_and_a_quoted_path(void **state)
{
	struct fixture *f = *state;
	struct buf url = {0}, said = {0};
	git_oid head = commit(f, "refs/heads/main", "1");
	char moved[96];
	snprintf(moved, sizeof moved, "%s/it's.git", f->dir);
	assert_int_equal(rename(f->origin, moved), 0);
	put_program(f, "ssh", FAKE_SSH);
	buf_printf(&url, "ssh://me@host:2222%s", moved);
	fetch(f, url.at);
	resolves(f, GIT_REF_HEAD, NULL, &head);
	buf_printf(&said, "-p|2222|me@host|git-upload-pack '%s/it'\\''s.git'|", f->dir);
	file_has(f, "said", said.at);
	buf_clear(&url);
	buf_printf(&url, "me@host:%s", moved);
	fetch(f, url.at);
	buf_clear(&said);
	buf_printf(&said, "me@host|git-upload-pack '%s/it'\\''s.git'|", f->dir);
	file_has(f, "said", said.at);
	buf_free(&url);
	buf_free(&said);
}

static void ssh_command_is_for_the_shell(void **state)
{
	struct fixture *f = *state;
	struct buf url = {0}, command = {0};
	commit(f, "refs/heads/main", "1");
	put_program(f, "other", FAKE_SSH);
	buf_printf(&command, "%s -i 'a key'", under(f, "other"));
	setenv("GIT_SSH_COMMAND", command.at, 1);
	buf_printf(&url, "ssh://[::1]%s", f->origin);
	fetch(f, url.at);
	buf_clear(&command);
	buf_printf(&command, "-i|a key|::1|git-upload-pack '%s'|", f->origin);
	file_has(f, "said", command.at);
	buf_free(&url);
	buf_free(&command);
}

static void ssh_fails(struct fixture *f, const char *url, const char *message)
{
	assert_false(git_mirror_fetch(f->db, url, never, &f->error));
	assert_int_equal(f->error.problem, GIT_PROBLEM_SSH);
	assert_string_equal(f->error.text, message);
}

static void errors_of_ssh_are_shown(void **state)
{
	struct fixture *f = *state;
	put_program(f, "ssh", "printf 'a banner\\nHost key verification failed.\\n' >&2; exit 255");
	ssh_fails(f, "ssh://host/r.git", "a banner; Host key verification failed.");
	put_program(f, "ssh", "exit 1 # quietly");
	ssh_fails(f, "ssh://host/r.git", "ssh failed without a message");
	put_program(f, "ssh", "exit 0");
	ssh_fails(f, "ssh://host/r.git", "the server closed the connection");
}

static void addresses_that_look_like_options_are_refused(void **state)
{
	static const char *const urls[] = {"ssh://-oProxyCommand=x/r.git", "ssh://host:-p/r.git", "host:-r.git", "ssh:///r.git"};
	struct fixture *f = *state;
	put_program(f, "ssh", "touch \"$(dirname \"$0\")/said\"");
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
		assert_false(git_mirror_fetch(f->db, urls[i], never, &f->error));
		assert_int_not_equal(access(under(f, "said"), F_OK), 0);
	}
}

/* ---- logins ---- */

/* Notes command and input; answers `fill`. */
#define FAKE_GIT                                                                          \
	"d=$(dirname \"$0\"); { echo \"$2 $GIT_TERMINAL_PROMPT\"; cat; } >>\"$d/said\"\n" \
	"if [ \"$2\" = fill ]; then echo username=me; echo password=secret; fi"

static void password_comes_from_git_credential(void **state)
{
	struct fixture *f = *state;
	struct login l = {.url = "https://host.org/r.git", .stopped = never};
	git_credential *out = NULL;
	put_program(f, "git", FAKE_GIT);
	assert_int_equal(login_provide(&out, "https://host.org/r.git/info/refs", "you", GIT_CREDENTIAL_USERPASS_PLAINTEXT, &l), 0);
	assert_string_equal(git_credential_get_username(out), "me");
	git_credential_free(out);
	login_finish(&l, true);
	file_has(f, "said", "fill 0\nurl=https://host.org/r.git/info/refs\nusername=you\n\napprove 0\nusername=me\npassword=secret\n");
}

static void rejected_password_is_reported(void **state)
{
	struct fixture *f = *state;
	struct login l = {.url = "https://host.org/r.git", .answer = strdup("username=me\npassword=old\n"), .stopped = never};
	git_credential *out = NULL;
	put_program(f, "git", FAKE_GIT);
	assert_int_equal(login_provide(&out, l.url, NULL, GIT_CREDENTIAL_USERPASS_PLAINTEXT, &l), GIT_EAUTH);
	login_finish(&l, false);
	file_has(f, "said", "reject 0\nusername=me\npassword=old\n");
	login_finish(&l, false); /* nothing is left to report */
	file_has(f, "said", "reject 0\nusername=me\npassword=old\n");
}

static void credential_without_an_answer_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct login l = {.url = "https://host.org/r.git", .stopped = never};
	git_credential *out = NULL;
	put_program(f, "git", "cat >/dev/null; exit 128");
	assert_int_equal(login_provide(&out, l.url, NULL, GIT_CREDENTIAL_USERPASS_PLAINTEXT, &l), GIT_EAUTH);
	assert_string_equal(git_error_last()->message, "the server requires a name and a password, and `git credential` has none");
	assert_null(l.answer);
}

/* ---- child processes ---- */

static void child_ends_when_the_user_stops(void **state)
{
	static const char *const argv[] = {"sh", "-c", "echo ready; exec sleep 60", NULL};
	struct child c;
	char text[16] = "";
	assert_true(child_start(&c, argv, NULL, at_once));
	assert_int_equal(child_read(&c, text, 6), 6);
	assert_false(child_end(&c, NULL, 0));
	assert_int_equal(c.pid, 0);
}

static void child_that_cannot_start_is_an_error(void **state)
{
	static const char *const argv[] = {"/nowhere/program", NULL};
	struct child c;
	assert_false(child_start(&c, argv, NULL, never));
}

int test_mirror(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {TEST(references_are_mirrored),
					   TEST(next_fetch_follows_the_origin),
					   TEST(branch_may_become_a_folder),
					   TEST(files_of_a_fetched_commit),
					   TEST(missing_repository_is_an_error),
					   TEST(user_stops_a_fetch),
					   TEST(ssh_gets_host_port_and_a_quoted_path),
					   TEST(ssh_command_is_for_the_shell),
					   TEST(errors_of_ssh_are_shown),
					   TEST(addresses_that_look_like_options_are_refused),
					   TEST(password_comes_from_git_credential),
					   TEST(rejected_password_is_reported),
					   TEST(credential_without_an_answer_is_an_error),
					   TEST(child_ends_when_the_user_stops),
					   TEST(child_that_cannot_start_is_an_error)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
