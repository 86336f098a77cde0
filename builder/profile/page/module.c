/* The module trib-page: the page's style and scripts. */
#include "builder/profile/page/page.h"
#include "base/embed.h"

EMBED(page_style, PAGE_FOLDER "/style.css")
EMBED(page_d3, PAGE_D3)
#define SCRIPT(name) EMBED(page_##name, PAGE_FOLDER "/" #name ".js")
#include "builder/profile/page/scripts.def"

__attribute__((visibility("default"))) const struct page_assets *trib_page(void)
{
	static const struct page_file scripts[] = {
		{page_d3_begin, page_d3_end},
#define SCRIPT(name) {page_##name##_begin, page_##name##_end},
#include "builder/profile/page/scripts.def"
	};
	static const struct page_assets assets = {PAGE_ABI, {page_style_begin, page_style_end}, scripts, sizeof scripts / sizeof *scripts};
	return &assets;
}
