#include "builder/reference.h"
#include "builder/options.h"
#include <stdio.h>

enum status reference_run(const struct options *o)
{
	(void)o;
	fputs("trib: the reference interpreter cannot be asked yet\n", stderr);
	return STATUS_USAGE;
}
