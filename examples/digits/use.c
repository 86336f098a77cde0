/* Classifies the first test images with the compiled library. In this folder, after `trib build`:
 *     cc -o build/use use.c -Lbuild -ldigits -Wl,-rpath,'$ORIGIN' && build/use
 */
#include "build/digits.h"

#include <stdint.h>
#include <stdio.h>

enum { IMAGES = 10, PIXELS = 64, CLASSES = 10 };

/* Reads the first `size` bytes of data of a .npy file (format 1.0, little-endian). */
static int npy_read(const char *path, void *data, size_t size)
{
    FILE *f = fopen(path, "rb");
    unsigned char head[10];
    int ok = f && fread(head, 1, sizeof head, f) == sizeof head &&
             fseek(f, head[8] | head[9] << 8, SEEK_CUR) == 0 && fread(data, 1, size, f) == size;
    if (f)
        fclose(f);
    if (!ok)
        fprintf(stderr, "cannot read %s\n", path);
    return ok;
}

int main(void)
{
    static float x[IMAGES][PIXELS], logits[IMAGES][CLASSES];
    static int64_t y[IMAGES];
    if (!npy_read("data/test_x.npy", x, sizeof x) || !npy_read("data/test_y.npy", y, sizeof y))
        return 1;

    tri_error err = {0};
    digits *model = digits_open(NULL, &err);
    if (!model) {
        fprintf(stderr, "digits_open: %s\n", err.message);
        return 1;
    }
    digits_io io = {
        .x = {.data = x, .shape = {IMAGES, PIXELS}, .rank = 2, .dtype = TRI_FLOAT32},
        .out = {.data = logits, .shape = {IMAGES, CLASSES}, .rank = 2, .dtype = TRI_FLOAT32},
    };
    int failed = digits_run(model, &io, &err);
    if (failed)
        fprintf(stderr, "digits_run: %s\n", err.message);
    for (int i = 0; i < IMAGES && !failed; i++) {
        int best = 0;
        for (int c = 1; c < CLASSES; c++)
            if (logits[i][c] > logits[i][best])
                best = c;
        printf("image %d: a %d, labelled %d\n", i, best, (int)y[i]);
    }
    digits_close(model);
    return failed != 0;
}
