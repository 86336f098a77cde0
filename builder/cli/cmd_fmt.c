#include "builder/cli/command.h"
#include "builder/cli/fmt.h"

enum status cmd_fmt(const struct options *o) { return fmt_run(o, stdout, stderr); }
