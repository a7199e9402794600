/* `make fit-latency`: reads measured round trips (CSV: src,dst,rtt_ms; regions by AWS's names),
 * fits the model and writes server/reference/latency_table.c to standard output. The same file
 * gives the same table to the last digit. */
#include "server/model/offer.h"
#include "server/reference/latency_model.h"
#include "server/reference/place.h"
#include "tests/support/latency_samples.h"

#include <stdio.h>
#include <stdlib.h>

static void write_model(const struct latency_model *model, size_t samples)
{
    printf("/* Made by `make fit-latency` from %zu measured round trips between %zu places (%zu "
           "pairs); not edited\n * by hand.\n *\n",
           samples, model->anchor_count, model->pair_count);
    printf(" * Errors on pairs over 10 ms that a fit has not seen, median and 90th percentile:\n");
    printf(" *   one pair in ten left out at a time    %4.1f %%  %4.1f %%\n",
           100 * model->near.median, 100 * model->near.p90);
    printf(" *   a place left out with all its pairs   %4.1f %%  %4.1f %%\n",
           100 * model->far.median, 100 * model->far.p90);
    printf(" *   the same by distance alone            %4.1f %%  %4.1f %% */\n",
           100 * model->simple.median, 100 * model->simple.p90);
    printf("#include \"server/reference/latency_model.h\"\n\n/* clang-format off */\n");
    printf("const struct latency_model latency_model = {\n");
    printf("    .fixed_ms = %.6f,\n    .detour = %.6f,\n", model->fixed_ms, model->detour);
    printf("    .anchor_count = %zu,\n    .pair_count = %zu,\n", model->anchor_count,
           model->pair_count);
    printf("    .near = {%.4f, %.4f},\n    .far = {%.4f, %.4f},\n    .simple = {%.4f, %.4f},\n",
           model->near.median, model->near.p90, model->far.median, model->far.p90,
           model->simple.median, model->simple.p90);
    printf("    .anchors = {\n");
    for (size_t i = 0; i < model->anchor_count; i++) {
        const struct latency_anchor *anchor = &model->anchors[i];
        printf("        {\"%s\", {%.6f, %.6f}, %.9f},\n", anchor->slug, anchor->point.latitude,
               anchor->point.longitude, anchor->weight);
    }
    printf("    },\n    .pair_weights = {\n");
    for (size_t i = 0; i < model->anchor_count; i++) {
        printf("        { /* %s */", model->anchors[i].slug);
        for (size_t j = 0; j < model->anchor_count; j++)
            printf("%s%.9f,", j % 10 == 0 ? "\n            " : " ", model->pair_weights[i][j]);
        printf("\n        },\n");
    }
    printf("    },\n};\n");
}

int main(int argc, char **argv)
{
    struct latency_sample *samples;
    static struct latency_model model;
    size_t count = argc == 2 ? latency_samples_read(argv[1], &samples) : 0;
    if (count == 0 || !latency_fit(samples, count, true, &model)) {
        fprintf(stderr, "usage: fit_latency FILE.csv (src,dst,rtt_ms)\n");
        return 1;
    }
    write_model(&model, count);
    free(samples);
    return 0;
}
