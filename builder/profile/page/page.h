/* One self-contained HTML page of profiles and reports. Its scripts are in this folder; the module trib-page holds them. */
#ifndef TRIB_BUILDER_PROFILE_PAGE_PAGE_H
#define TRIB_BUILDER_PROFILE_PAGE_PAGE_H
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct profile;

struct page_profile {
	const char *name; /* such as its file */
	const struct profile *profile;
};
struct page_data {
	const char *title;
	const struct page_profile *profiles; /* those after the first are compared with it, if they are of the same kind */
	uint32_t n_profiles;
	const char *const *gates; /* JSON of `trib profile check` */
	uint32_t n_gates;
	const char *suggestions; /* JSON of `trib profile suggest`, or NULL */
	const char *graph;       /* JSON of `trib graph`, or NULL */
	const char *live;        /* of a served page: its version. It loads itself again when `version`, beside it, has another text */
};
/* Appends the page. False: *error, in `a`, says why the module cannot be opened. */
bool page_print(struct arena *a, const struct page_data *d, struct buf *out, const char **error);

/* ---- the module ---- */

#define PAGE_ABI 1u
#define PAGE_ENTRY "trib_page"
struct page_file {
	const char *begin, *end;
};
struct page_assets {
	uint32_t abi;
	struct page_file style;
	const struct page_file *scripts; /* d3, the frame, the views: in this order */
	uint32_t n_scripts;
};
const struct page_assets *trib_page(void);
#endif
