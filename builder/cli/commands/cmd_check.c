#include "builder/cli/command.h"
#include "builder/cli/print.h"

enum status cmd_check(const struct options *o)
{
	if (o->n_operands && o->profile)
		return fail_usage("`trib check` takes --profile only for a project, not for a file");
	return check_run(o, stdout, stderr);
}
