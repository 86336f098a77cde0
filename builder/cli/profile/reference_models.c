#include "builder/cli/profile/reference_models.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/embed.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/profile/targets.h"

EMBED(zoo_bit, ZOO "/bit.tri")
EMBED(zoo_mnist_mlp, ZOO "/mnist_mlp.tri")
EMBED(zoo_resnet, ZOO "/resnet.tri")
EMBED(zoo_vit, ZOO "/vit.tri")

/* bit.tri is imported by two of them. */
static const struct {
	const char *name, *begin, *end;
} files[] = {{"bit.tri", zoo_bit_begin, zoo_bit_end},
	     {"mnist_mlp.tri", zoo_mnist_mlp_begin, zoo_mnist_mlp_end},
	     {"resnet.tri", zoo_resnet_begin, zoo_resnet_end},
	     {"vit.tri", zoo_vit_begin, zoo_vit_end}};

static void put_manifest(struct buf *out)
{
	buf_puts(out, "project reference\n");
	for (uint32_t i = 0; i < TARGET_CLASSES; i++)
		buf_printf(out, "\nmodel %s\n    sources = %s\n    entry   = %s\n", targets[i].model, targets[i].sources_file,
			   targets[i].entry);
}

bool reference_models_write(const char *folder)
{
	struct arena *a = arena_new(0);
	struct buf manifest = {0};
	bool ok = true;
	put_manifest(&manifest);
	for (size_t i = 0; ok && i < sizeof files / sizeof *files; i++)
		ok = os_rewrite(path_join(a, folder, files[i].name), files[i].begin, (size_t)(files[i].end - files[i].begin));
	ok = ok && os_rewrite(path_join(a, folder, "tri.build"), manifest.at, manifest.len);
	buf_free(&manifest);
	arena_free(a);
	return ok;
}
