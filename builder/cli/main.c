/* trib: reads the command line and runs the command. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/cli/args.h"
#include "builder/cli/help.h"
#include "builder/manifest/foreign_words.h"
#include "builder/manifest/single_file.h"
#include "builder/store/crash_guard.h"
#include "scheduler/jobserver.h"

/* glibc returns the end of the heap to the system as soon as 128 KiB to some MiB are free, and a phase that follows faults the pages in again. */
enum { RETAINED_BYTES = 32 << 20 };

static void name_help(const struct args *args)
{
	if (args->names_a_command)
		print(stderr, "`trib %s --help` lists its flags\n", command_table[args->command].name);
	else
		print(stderr, "`trib --help` lists the commands, `trib build --help` the flags of the default one\n");
}

static enum status usage(const struct args *args, struct buf *error)
{
	print(stderr, "trib: %s\n", error->at);
	if (!args->names_remedy)
		name_help(args);
	buf_free(error);
	return STATUS_USAGE;
}

static enum status main_help(const struct args *args)
{
	struct buf text = {0};
	args_help(args, &text);
	print_text(stdout, &text);
	buf_free(&text);
	return STATUS_OK;
}

static enum status cli_main_run(struct arena *a, int argc, char **argv)
{
	struct args args;
	struct buf error = {0};
	if (!args_parse(a, argc, argv, &args, &error))
		return usage(&args, &error);
	buf_free(&error); /* the help of a command needs no operands */
	if (args.options.version && args.command != COMMAND_VERSION)
		args.options.n_operands = 0; /* they belong to another command */
	if (args.options.version)
		return cmd_version(&args.options);
	if (args.options.help)
		return main_help(&args);
	if (!change_to_project(a, &args))
		return STATUS_ENVIRONMENT;
	if (!args.names_a_command && args.options.n_operands && !single_file_requested(&args.options) && access("tri.build", F_OK) != 0) {
		const char *word = args.options.operands[0];
		const struct foreign_word *w = foreign_word_find(FOREIGN_COMMAND, "trib", word);
		args.names_remedy = w;
		buf_printf(&error, "there is no command `%s`%s%s", word, w ? ": " : "",
			   w ? w->text : ", and no tri.build with such a model in this folder or above");
		return usage(&args, &error);
	}
	return command_table[args.command].run(&args.options);
}

int main(int argc, char **argv)
{
	os_open_standard_streams();
	crash_guard_install(argv);
	os_catch_interrupts();
	signal(SIGXFSZ, SIG_IGN); /* a file that grows beyond `ulimit -f` is an error (EFBIG) with a message, not death */
	os_set_death_handler(jobserver_abandon);
	mallopt(M_TRIM_THRESHOLD, RETAINED_BYTES);
	mallopt(M_MMAP_THRESHOLD, RETAINED_BYTES);
	struct arena *a = arena_new(0);
	enum status s = cli_main_run(a, argc, argv);
	arena_free(a);
	bool lost = fflush(stdout) != 0;
	if (lost || ferror(stdout)) {
		print(stderr, "trib: cannot write the standard output: %s\n", lost ? strerror(errno) : "an earlier write failed");
		s = s == STATUS_OK ? STATUS_ENVIRONMENT : s;
	}
	return (int)s;
}
