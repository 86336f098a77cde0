/* Any bytes as the record of a file's checks. Checking valid files ends without an error for every record; a valid record covers all
 * checks. */
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "base/source.h"
#include "frontend/frontend.h"
#include "tests/fuzz/fuzz.h"

static const char *const paths[] = {"sizes.tri", "net.tri"};
static const char *const texts[] = {
	"const WIDTH = 8\nconst HALF = WIDTH // 2\ntype Row<N> = Tensor<float32, [N, 8]>\nfn doubled(n: int) -> int {\n    return n * 2\n}\n",
	"import \"sizes.tri\" as sizes\nfrom \"sizes.tri\" import Row, HALF\nimport nn\nconst THIRD = HALF + sizes.WIDTH\nfn half(x: Row<N>) -> Tensor<float32, [N, 4]> {\n"
	"    return x[:, :HALF]\n}\nlayer Net() {\n    let fc = nn.Linear(4, sizes.doubled(4))\n    fn forward(x: Row<N>) -> Row<N> {\n        return fc(half(x)) * float(THIRD)\n"
	"    }\n}\n",
};

static const struct source *load(void *ctx, const char *path)
{
	struct sources *s = ctx;
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(paths[i], path))
			return sources_add(s, path, texts[i], strlen(texts[i]));
	return NULL;
}

/* The files' records, after a check with those given; was all vouched for? */
static bool check(const struct buf given[2], struct buf out[2])
{
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	struct frontend *f = frontend_new(sources, (struct frontend_host){load, sources}, diags);
	bool known = true;
	frontend_record_reads(f);
	BUG_ON(!frontend_add_file(f, "net.tri"));
	for (uint32_t i = 0; i < frontend_files(f); i++)
		for (int k = 0; k < 2; k++)
			if (!strcmp(frontend_file_path(f, i), paths[k]))
				frontend_read_checks(f, i, given[k].at, given[k].len);
	frontend_verify_checks(f);
	for (uint32_t i = 0; i < frontend_files(f); i++)
		known = known && frontend_checks_recorded(f, i);
	BUG_ON(!frontend_check(f) || diags_count(diags));
	for (uint32_t i = 0; i < frontend_files(f); i++)
		for (int k = 0; k < 2; k++)
			if (!strcmp(frontend_file_path(f, i), paths[k]))
				frontend_write_checks(f, i, &out[k]);
	frontend_free(f);
	diags_free(diags);
	sources_free(sources);
	return known;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf none[2] = {{0}}, sound[2] = {{0}}, given[2], made[2] = {{0}}, again[2] = {{0}};
	check(none, sound);
	for (int k = 0; k < 2; k++) {
		given[k] = sound[k];
		given[1 - k] = (struct buf){.at = (char *)data, .len = size};
		check(given, made);
		BUG_ON(!check(sound, again));
		for (int i = 0; i < 2; i++) {
			buf_free(&made[i]);
			buf_free(&again[i]);
		}
	}
	buf_free(&sound[0]);
	buf_free(&sound[1]);
	return 0;
}
