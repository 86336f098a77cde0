#include "builder/profile/source_edit.h"
#include <errno.h>
#include <string.h>
#include "base/buf.h"
#include "base/os.h"

bool source_edit_next(struct source_edit *e)
{
	const char *at = strstr(e->text + e->end, "return ");
	if (!at)
		return false;
	e->at = (size_t)(at - e->text) + strlen("return ");
	e->end = e->at + strcspn(e->text + e->at, "\n#");
	return true;
}

bool source_edit_write(const struct source_edit *e, struct buf *error)
{
	struct buf text = {0};
	buf_put(&text, e->text, e->at);
	if (e->number)
		buf_printf(&text, "(%.*s) + %u", (int)(e->end - e->at), e->text + e->at, e->number);
	buf_puts(&text, e->number ? e->text + e->end : e->text + e->at);
	if (e->comments)
		buf_printf(&text, "\n# comment %u\n", e->comments);
	bool ok = os_rewrite(e->path, text.at ? text.at : "", text.len);
	if (!ok)
		buf_printf(error, "cannot write `%s`: %s", e->path, strerror(errno));
	buf_free(&text);
	return ok;
}
