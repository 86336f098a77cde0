/* Messages cut out of a stream of bytes. */
#include "builder/lsp/frame.h"
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>

/* What the reader returns for the input in pieces of `piece` bytes: `[text]` for a message, `!` for a wrong header, `L` for a long one. */
static void read_in_pieces(const char *input, size_t n, size_t piece, struct buf *out)
{
	struct frame_reader r = {0};
	const char *text;
	size_t len;
	for (size_t at = 0; at < n; at += piece) {
		frame_reader_feed(&r, input + at, n - at < piece ? n - at : piece);
		for (enum frame_kind k; (k = frame_reader_next(&r, &text, &len)) != FRAME_NONE;)
			if (k == FRAME_MESSAGE)
				buf_printf(out, "[%.*s]", (int)len, text);
			else
				buf_putc(out, k == FRAME_BAD ? '!' : 'L');
	}
	frame_reader_free(&r);
}

static void reads(const char *input, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(input); piece++) {
		struct buf out = {0};
		buf_puts(&out, "");
		read_in_pieces(input, strlen(input), piece, &out);
		assert_string_equal(out.at, expected);
		buf_free(&out);
	}
}

static void pieces_of_any_size_are_the_same_messages(void **state)
{
	reads("Content-Length: 2\r\n\r\n{}Content-Length: 0\r\n\r\nContent-Length: 3\r\n\r\n[1]", "[{}][][[1]]");
}

static void other_fields_are_skipped(void **state) { reads("Content-Type: text\r\ncontent-length:2 \r\nX: 1\n\n{}", "[{}]"); }

static void incomplete_message_waits(void **state)
{
	reads("Content-Length: 2\r\n\r\n{}Content-Length: 5\r\n\r\n[1]", "[{}]");
	reads("Content-Length: 2\r\n", "");
}

static void wrong_header_is_reported_once_and_reading_goes_on(void **state)
{
	reads("Content-Length: x\r\n\r\nContent-Length: 2\r\n\r\n{}", "![{}]");
	reads("Content-Length: \r\n\r\nContent-Length: 2\r\n\r\n{}", "![{}]");
	reads("{\"id\":1}\nContent-Length: 2\r\n\r\n{}", "[{}]"); /* a line that is no field may be one of a later version */
}

static void endless_header_is_given_up(void **state)
{
	struct buf input = {0}, out = {0};
	for (int i = 0; i < 4096; i++)
		buf_putc(&input, 'a');
	buf_puts(&input, "Content-Length: 2\r\n\r\n{}");
	read_in_pieces(input.at, input.len, 1000, &out);
	assert_string_equal(out.at, "![{}]");
	buf_free(&input);
	buf_free(&out);
}

int test_frame(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_any_size_are_the_same_messages),
		cmocka_unit_test(other_fields_are_skipped),
		cmocka_unit_test(incomplete_message_waits),
		cmocka_unit_test(wrong_header_is_reported_once_and_reading_goes_on),
		cmocka_unit_test(endless_header_is_given_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
