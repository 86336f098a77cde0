#include "base/os.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void private_dirty_memory(void **state)
{
	const size_t size = 8 << 20;
	int ends[2];
	char byte;
	char *more = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before = os_private_dirty_bytes(0);

	if (!before)
		skip(); /* no smaps_rollup */
	assert_true(more != MAP_FAILED);
	memset(more, 1, size);
	assert_true(os_private_dirty_bytes(0) >= before + size);
	assert_true(os_private_dirty_bytes(getpid()) >= before + size);

	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	close(ends[0]);
	uint64_t of_child = os_private_dirty_bytes(child);
	assert_true(of_child > 0 && of_child < size); /* it shares the pages */
	close(ends[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(os_private_dirty_bytes(child), 0);

	/* pages of a file that was just written are not memory of the process that maps it */
	char path[] = "/tmp/trib-os-XXXXXX";
	int fd = mkstemp(path);
	uint64_t without = os_private_dirty_bytes(0);
	assert_true(fd >= 0 && write(fd, more, size) == (ssize_t)size);
	char *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(file != MAP_FAILED && memcmp(file, more, size) == 0);
	assert_true(os_private_dirty_bytes(0) < without + size / 2);
	munmap(file, size);
	close(fd);
	unlink(path);
	munmap(more, size);
}

int test_os_limits(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_dirty_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
