/* Requests as bytes, and messages over a socket. */
#include "builder/serve/message.h"
#include "tests/unit/unit.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"

static struct buf encoded(void)
{
	static char *argv[] = {"trib", "", "-j2", NULL}, *env[] = {"A=1", NULL};
	struct request r = {.kind = REQUEST_BUILD, .argc = 3, .argv = argv, .envc = 1, .env = env};
	struct buf bytes = {0};
	process_context_read(&r.from);
	request_encode(&r, &bytes);
	return bytes;
}

static void request_is_read_back(void **state)
{
	struct arena *a = arena_new(0);
	struct buf bytes = encoded();
	struct process_context here;
	struct request r;
	process_context_read(&here);
	assert_true(request_decode(a, bytes.at, bytes.len, &r));
	assert_int_equal(r.kind, REQUEST_BUILD);
	assert_true(process_context_eq(&r.from, &here));
	assert_int_equal(r.argc, 3);
	assert_string_equal(r.argv[0], "trib");
	assert_string_equal(r.argv[1], "");
	assert_string_equal(r.argv[2], "-j2");
	assert_string_equal(r.env[0], "A=1");
	assert_true(!r.argv[3] && !r.env[1]);
	buf_free(&bytes);
	arena_free(a);
}

static void cut_or_extended_request_is_none(void **state)
{
	struct arena *a = arena_new(0);
	struct buf bytes = encoded();
	struct request r;
	for (size_t n = 0; n < bytes.len; n++) {
		char *exact = malloc(n + 1); /* so that ASan sees a read behind it */
		memcpy(exact, bytes.at, n);
		assert_false(request_decode(a, exact, n, &r));
		free(exact);
	}
	buf_putc(&bytes, 0);
	assert_false(request_decode(a, bytes.at, bytes.len, &r));
	buf_free(&bytes);
	arena_free(a);
}

static void request_of_another_version_is_none(void **state)
{
	struct arena *a = arena_new(0);
	struct buf bytes = encoded();
	struct request r;
	bytes.at[0]++;
	assert_false(request_decode(a, bytes.at, bytes.len, &r));
	bytes.at[0]--;
	memset(bytes.at + 2 * sizeof(uint32_t), 0xff, sizeof(uint32_t)); /* argc */
	assert_false(request_decode(a, bytes.at, bytes.len, &r));
	buf_free(&bytes);
	arena_free(a);
}

static int setup(void **state)
{
	int *ends = calloc(2, sizeof *ends);
	*state = ends;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int teardown(void **state)
{
	int *ends = *state;
	close(ends[0]);
	close(ends[1]);
	free(ends);
	return 0;
}

static void errno_says_why_nothing_was_received(void **state)
{
	int *ends = *state;
	struct buf got = {0};
	char bytes[4];
	assert_false(message_receive(ends[1], &got, 0));
	assert_int_equal(errno, ETIMEDOUT);
	message_send(ends[0], "123", 3);
	assert_false(message_receive_exactly(ends[1], bytes, sizeof bytes, 1000));
	assert_int_equal(errno, EPROTO);
	message_send(ends[0], "12345", 5);
	assert_false(message_receive_exactly(ends[1], bytes, sizeof bytes, 1000)); /* not the first four of five */
	assert_int_equal(errno, EPROTO);
	close(ends[0]);
	ends[0] = -1;
	assert_false(message_receive(ends[1], &got, 1000));
	assert_int_equal(errno, 0);
	assert_false(message_receive_exactly(ends[1], bytes, sizeof bytes, 1000));
	assert_int_equal(errno, 0);
	assert_false(message_send(ends[1], "1", 1));
	assert_int_equal(errno, EPIPE);
	buf_free(&got);
}

static int lowest_free(void)
{
	int fd = dup(STDIN_FILENO);
	close(fd);
	return fd;
}

static void descriptors_arrive_closed_on_exec(void **state)
{
	const int *ends = *state, own[GO_FDS] = {0, 1, 2, ends[0]};
	int got[GO_FDS];
	assert_true(message_send_fds(ends[0], own));
	assert_true(message_receive_fds(ends[1], got, 1000));
	assert_true(message_send(got[GO_LOCK], "x", 1)); /* the same socket */
	for (int i = 0; i < GO_FDS; i++) {
		assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
		close(got[i]);
	}
}

static void wrong_number_of_descriptors_leaks_none(void **state)
{
	const int *ends = *state;
	int got[GO_FDS], before = lowest_free();
	char go = 'g';
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec text = {&go, 1};
	struct msghdr m = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	*CMSG_FIRSTHDR(&m) = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	assert_int_equal(sendmsg(ends[0], &m, 0), 1);
	assert_false(message_receive_fds(ends[1], got, 1000));
	assert_int_equal(lowest_free(), before);
	message_send(ends[0], "g", 1);
	assert_false(message_receive_fds(ends[1], got, 1000));
}

int test_message(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_is_read_back),
		cmocka_unit_test(cut_or_extended_request_is_none),
		cmocka_unit_test(request_of_another_version_is_none),
		cmocka_unit_test_setup_teardown(errno_says_why_nothing_was_received, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptors_arrive_closed_on_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_number_of_descriptors_leaks_none, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
