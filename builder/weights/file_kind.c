#include "builder/weights/file_kind.h"
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { SAMPLE = 4096 }; /* bytes of a text, or of the first and last entries of an archive, that are searched */

static const struct {
	const char *magic;
	size_t len;
	enum file_kind kind;
} magics[] = {
	{"PK\3\4", 4, FILE_ZIP},
	{"PK\5\6", 4, FILE_ZIP},
	{"\x80\2", 2, FILE_PICKLE},
	{"\x80\3", 2, FILE_PICKLE},
	{"\x80\4", 2, FILE_PICKLE},
	{"\x80\5", 2, FILE_PICKLE},
	{"\x93NUMPY", 6, FILE_NPY},
	{"\x1f\x8b", 2, FILE_GZIP},
	{"\x89HDF\r\n\x1a\n", 8, FILE_HDF5},
	{"GGUF", 4, FILE_GGUF},
	{"version https://git-lfs.github.com/spec/", 40, FILE_LFS},
};

static const char *const texts[] = {
	[FILE_UNKNOWN] = "a file of an unknown format",
	[FILE_EMPTY] = "empty",
	[FILE_PYTORCH] = "a PyTorch file (torch.save)",
	[FILE_PICKLE] = "a Python pickle, as older versions of torch.save wrote it",
	[FILE_NPZ] = "a NumPy archive (.npz)",
	[FILE_NPY] = "a NumPy array (.npy)",
	[FILE_ZIP] = "a zip archive",
	[FILE_GZIP] = "compressed with gzip",
	[FILE_HDF5] = "an HDF5 file, as Keras writes it",
	[FILE_GGUF] = "a GGUF file, as llama.cpp reads it",
	[FILE_LFS] = "a git-lfs pointer: the file itself was not fetched",
	[FILE_HTML] = "an HTML page: the download fetched a web page",
	[FILE_INDEX] = "the index of a model in several files",
	[FILE_JSON] = "JSON text",
};

const char *file_kind_text(enum file_kind kind) { return texts[kind]; }

static bool file_kind_contains(const char *bytes, size_t len, const char *word) { return memmem(bytes, len, word, strlen(word)) != NULL; }

/* A name precedes each entry, and the directory at the end lists all names. */
static enum file_kind kind_of_zip(const char *bytes, size_t len)
{
	size_t n = len < SAMPLE ? len : SAMPLE;
	const char *end = bytes + len - n;
	if (file_kind_contains(bytes, n, "data.pkl") || file_kind_contains(end, n, "data.pkl"))
		return FILE_PYTORCH;
	return file_kind_contains(bytes, n, ".npy") || file_kind_contains(end, n, ".npy") ? FILE_NPZ : FILE_ZIP;
}

static enum file_kind kind_of_text(const char *bytes, size_t len)
{
	static const char *const html[] = {"<!doctype html", "<html", "<head", "<?xml"};
	size_t n = len < SAMPLE ? len : SAMPLE, gap = 0;
	if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		gap = 3;
	while (gap < n && strchr(" \t\r\n", bytes[gap]) && bytes[gap])
		gap++;
	for (size_t i = 0; i < sizeof html / sizeof *html; i++)
		if (n - gap >= strlen(html[i]) && strncasecmp(bytes + gap, html[i], strlen(html[i])) == 0)
			return FILE_HTML;
	if (gap == n || bytes[gap] != '{' || memchr(bytes, 0, n))
		return FILE_UNKNOWN;
	return file_kind_contains(bytes, n, "\"weight_map\"") ? FILE_INDEX : FILE_JSON;
}

enum file_kind file_kind_of(const void *bytes, size_t len)
{
	if (len == 0)
		return FILE_EMPTY;
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (len >= magics[i].len && memcmp(bytes, magics[i].magic, magics[i].len) == 0)
			return magics[i].kind == FILE_ZIP ? kind_of_zip(bytes, len) : magics[i].kind;
	return kind_of_text(bytes, len);
}
