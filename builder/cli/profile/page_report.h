/* Reads reports for a page: the JSON of `trib profile check`, `trib profile suggest` and `trib graph`. */
#ifndef TRIB_BUILDER_CLI_PROFILE_PAGE_REPORT_H
#define TRIB_BUILDER_CLI_PROFILE_PAGE_REPORT_H
#include <stddef.h>

struct arena;

enum page_report_kind { PAGE_REPORT_NONE, PAGE_REPORT_GATE, PAGE_REPORT_SUGGESTIONS, PAGE_REPORT_GRAPH, PAGE_REPORT_DAMAGED };
/* PAGE_REPORT_DAMAGED: it is one of them by its type, but lacks what the page needs. *json: the text in one line, in `a`. */
enum page_report_kind page_report_read(struct arena *a, const char *text, size_t len, const char **json);
#endif
