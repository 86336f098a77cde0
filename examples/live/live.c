/* Draws the curve of build/libgain.so, and draws it again after each build of the library. In this folder, after `trib build`:
 *     cc -o build/live live.c -lm && build/live
 * It ends with its standard input (Ctrl-D).
 */
#include "build/gain.h"
#define TRI_LIVE_IMPLEMENTATION
#include "build/tri_live.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { POINTS = 21, WIDTH = 30, FRAME_MS = 20 };

static void draw(const float *x, const float *y, uint64_t generation)
{
    printf("generation %llu\n", (unsigned long long)generation);
    for (int i = 0; i < POINTS; i++) {
        float height = fminf(fmaxf(y[i], -1), 1);
        printf("%5.1f %*s\n", x[i], (int)lroundf((height + 1) * WIDTH) + 1, "o");
    }
    fflush(stdout);
}

/* True until the standard input ends. */
static int wait_a_frame(void)
{
    char bytes[64];
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&in, 1, FRAME_MS) <= 0 || read(STDIN_FILENO, bytes, sizeof bytes) > 0;
}

int main(void)
{
    float x[POINTS], y[POINTS];
    for (int i = 0; i < POINTS; i++)
        x[i] = (float)(i - POINTS / 2) / (POINTS / 2);

    tri_error err = {0};
    tri_live *gain = tri_live_open("build/libgain.so", NULL, &err);
    if (!gain) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    gain_io io = {
        .x = {.data = x, .shape = {POINTS}, .rank = 1, .dtype = TRI_FLOAT32},
        .out = {.data = y, .shape = {POINTS}, .rank = 1, .dtype = TRI_FLOAT32},
    };
    int failed = 0;
    uint64_t drawn = 0, generation;
    do {
        if (tri_live_reload(gain, &err) < 0)
            fprintf(stderr, "%s\n", err.message);
        failed = tri_live_run(gain, 0, (tri_tensor *)&io, &generation, &err);
        if (failed)
            fprintf(stderr, "%s\n", err.message);
        else if (generation != drawn)
            draw(x, y, generation);
        drawn = generation;
    } while (!failed && wait_a_frame());
    tri_live_close(gain);
    return failed != 0;
}
