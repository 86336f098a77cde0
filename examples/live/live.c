/* Draws the curve of build/libgain.so, and draws it again after each build of the library. In this folder, after `trib build`:
 *     cc -o build/live live.c -lm && build/live
 * SIGINT (Ctrl-C) or SIGTERM ends it. It needs no terminal.
 */
#include "build/gain.h"
#define TRI_LIVE_IMPLEMENTATION
#include "build/tri_live.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { POINTS = 21, WIDTH = 30, FRAME_MS = 20 };

static volatile sig_atomic_t ended;

/* Process 1 of a container ignores signals without a handler. */
static void end(int signal)
{
    (void)signal;
    ended = 1;
}

static void draw(const float *x, const float *y, uint64_t generation)
{
    printf("generation %llu\n", (unsigned long long)generation);
    for (int i = 0; i < POINTS; i++) {
        float height = fminf(fmaxf(y[i], -1), 1);
        printf("%5.1f %*s\n", x[i], (int)lroundf((height + 1) * WIDTH) + 1, "o");
    }
    fflush(stdout);
}

int main(void)
{
    signal(SIGINT, end);
    signal(SIGTERM, end);
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
        nanosleep(&(struct timespec){.tv_nsec = FRAME_MS * 1000000L}, NULL);
    } while (!failed && !ended);
    tri_live_close(gain);
    return failed != 0;
}
