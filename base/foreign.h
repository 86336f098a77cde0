/* Foreign text: what others wrote, in the form that its reader needs.
 *
 * Foreign are the names, texts, comments and paths of sources, manifests, dependencies, weights, profiles and git, the environment, and the
 * messages of drivers and other libraries. Whatever they hold, they cannot move a cursor, reorder or begin a line, become markup, notify an
 * account or command a service of CI. Values keep foreign text as it is. The writers escape it:
 *
 *   output                                    writer                                        form
 *   text on stdout and stderr                 print, print_text (base/print.h)              MESSAGE, TEXT
 *   diagnostics, excerpts, edits              row_put (base/canvas.h)                       as LINE
 *   tables and sentences of reports           table_print, report_say (builder/profile)    LINE, MARKDOWN, CODE
 *   JSON, also of the server and the editor   json_strn (base/json.h)                       JSON
 *   comments in an editor                     builder/lsp/hover.c                           MARKDOWN, TEXT
 *   pages, drawings                           builder/profile, builder/run/roofline.c       HTML, SCRIPT
 *   graphs                                    builder/query/graph_print.c                   DOT
 *   annotations                               base/diag_annotate.c                          WORKFLOW, PROPERTY
 *
 * What a user asked for stays as it is: outputs as .npy, `trib fmt -`, what a `main` block prints. On a terminal that is text, too. Compiled
 * code prints its messages on stderr in any program, so backend/cpu/emit_stmt.c escapes their constants (TEXT). */
#ifndef TRIB_BASE_FOREIGN_H
#define TRIB_BASE_FOREIGN_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum foreign_form {
#define FORM(id, marks, write) FOREIGN_##id,
#include "base/foreign_forms.def"
#undef FORM
	FOREIGN_FORMS
};

/* True if a terminal obeys the character or hides it: control characters, bidirectional controls, line separators, tags, byte order marks. */
bool foreign_is_unsafe(uint32_t cp);

/* True at the bracket of "##[", "##vso[" or "##teamcity[": services of CI obey what follows, anywhere in a line of a log. */
bool foreign_is_command(const char *s, size_t at);

/* Appends the text in a form. Bytes that are not UTF-8 become U+FFFD. */
void foreign_put(struct buf *out, enum foreign_form form, const char *s, size_t n);
void foreign_puts(struct buf *out, enum foreign_form form, const char *s);

/* Like buf_printf, but the texts of %s and %c are foreign; widths of %s count columns. The format is ours. */
void foreign_printf(struct buf *out, enum foreign_form form, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void foreign_vprintf(struct buf *out, enum foreign_form form, const char *fmt, va_list ap);
/* The columns of a text in the form LINE. */
uint32_t foreign_columns(const char *s);
#endif
