/* Runs a fuzz target over given files and folders, so that every past finding is a plain test. A missing folder counts as empty. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "tests/fuzz/fuzz.h"

static int replay_file(const char *path, size_t size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(size ? size : 1); /* exactly sized: ASan sees an overread */
	int ok = f && data && fread(data, 1, size, f) == size;

	if (f)
		fclose(f);
	if (ok)
		LLVMFuzzerTestOneInput(data, size);
	else
		fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
	free(data);
	return ok ? 0 : -1;
}

/* Number of inputs run, or -1. */
static int replay(const char *path)
{
	struct stat st;
	struct dirent **names = NULL;
	int total = 0, n;

	if (stat(path, &st) != 0)
		return errno == ENOENT ? 0 : -1;
	if (!S_ISDIR(st.st_mode))
		return replay_file(path, (size_t)st.st_size) == 0 ? 1 : -1;
	n = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char sub[4096];
		int ran = 0;

		snprintf(sub, sizeof sub, "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			ran = replay(sub);
		total = ran < 0 || total < 0 ? -1 : total + ran;
		free(names[i]);
	}
	free(names);
	return n < 0 ? -1 : total;
}

int main(int argc, char **argv)
{
	int total = 0;

	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		int ran = replay(argv[i]);
		if (ran < 0)
			return 1;
		total += ran;
	}
	printf("replayed %d inputs\n", total);
	return 0;
}
