#include "builder/cli/command.h"

enum status cmd_check(const struct options *o) { return check_run(o, stdout, stderr); }
