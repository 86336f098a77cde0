#include <stdarg.h>
#include "base/foreign.h"
#include "builder/profile/reports.h"

enum foreign_form report_form(const struct report_options *o) { return o->format == REPORT_MARKDOWN ? FOREIGN_MARKDOWN : FOREIGN_LINE; }

void report_printf(const struct report_options *o, struct buf *out, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	foreign_vprintf(out, report_form(o), format, ap);
	va_end(ap);
}
