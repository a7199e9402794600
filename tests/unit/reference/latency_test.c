/* Distances, the fit and what it promises: on samples it has not seen, on another cloud's regions,
 * never faster than light. Samples are read in place; without them those tests say so and pass. */
#include "server/reference/latency.h"

#include "server/model/offer.h"
#include "server/reference/place.h"
#include "tests/support/latency_samples.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(latency, .timeout = 120);

static size_t read_samples(struct latency_sample **ret_samples)
{
    char path[512];
    const char *data = getenv("RACKRATE_TEST_DATA");
    snprintf(path, sizeof(path), "%s/latency/aws-rtt-long.csv",
             data == NULL ? "../shared/data" : data);
    size_t count = latency_samples_read(path, ret_samples);
    if (count == 0)
        cr_skip_test("no measured round trips at %s", path);
    return count;
}

static double estimate(const char *a, const char *b)
{
    return latency_estimate(latency_place(place_find(a)), latency_place(place_find(b))).rtt_ms;
}

Test(latency, distances_of_known_pairs)
{
    static const struct {
        double latitude_a, longitude_a, latitude_b, longitude_b, km;
    } cases[] = {
        {51.5074, -0.1278, 40.7128, -74.0060, 5570},     /* London, New York */
        {35.6762, 139.6503, 37.7749, -122.4194, 8270},   /* Tokyo, San Francisco */
        {-33.8688, 151.2093, -34.6037, -58.3816, 11800}, /* Sydney, Buenos Aires */
        {0, 179.5, 0, -179.5, 111.2},                    /* over the antimeridian */
        {-17.7134, 178.0650, -13.7590, -172.1046, 1140}, /* Fiji, Samoa: over it too */
        {90, 0, 90, 137, 0},                             /* the pole has every longitude */
        {90, 0, -90, 55, 20015.1},                       /* pole to pole */
        {89, 0, 89, 180, 222.4},                         /* over the pole */
        {10, 20, -10, -160, 20015.1},                    /* antipodes */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double km = geo_distance_km(cases[i].latitude_a, cases[i].longitude_a, cases[i].latitude_b,
                                    cases[i].longitude_b);
        struct latency_place a, b;
        latency_place_at((struct geo_point){cases[i].latitude_a, cases[i].longitude_a}, &a);
        latency_place_at((struct geo_point){cases[i].latitude_b, cases[i].longitude_b}, &b);
        cr_expect(fabs(km - cases[i].km) <= 0.5 + 0.005 * cases[i].km, "case %zu: %.1f", i, km);
        struct latency_estimate out = latency_estimate(&a, &b), back = latency_estimate(&b, &a);
        cr_expect(fabs(out.distance_km - km) < 1e-6, "case %zu", i);
        cr_expect(fabs(out.rtt_ms - back.rtt_ms) < 1e-9 * out.rtt_ms, "case %zu", i);
        cr_expect(out.rtt_ms > 0 && out.low_ms <= out.rtt_ms && out.rtt_ms <= out.high_ms,
                  "case %zu", i);
    }
}

Test(latency, known_points_hold)
{
    double coast = estimate("us-east", "us-west");
    cr_expect(coast > 52 && coast < 70, "US East to US West: %.1f", coast);
    double pacific = estimate("us-west", "ap-northeast");
    cr_expect(pacific > 100 && pacific < 160, "US West to Asia Pacific Northeast: %.1f", pacific);
    double asia = (estimate("us-east", "ap-northeast") + pacific) / 2;
    cr_expect(asia > 120 && asia < 180, "US to Asia Pacific: %.1f", asia);
    double atlantic = estimate("us-ashburn", "gb-london");
    cr_expect(atlantic > 65 && atlantic < 90, "Ashburn to London: %.1f", atlantic);
    cr_expect(estimate("us-ashburn", "us-ashburn") < 5);
}

/* Property: over random pairs of points anywhere, and all pairs of places. */
Test(latency, estimates_never_beat_light_in_fibre)
{
    unsigned short seed[3] = {1, 2, 3};
    for (int i = 0; i < 20000; i++) {
        struct latency_place a, b;
        latency_place_at((struct geo_point){180 * erand48(seed) - 90, 360 * erand48(seed) - 180},
                         &a);
        latency_place_at((struct geo_point){180 * erand48(seed) - 90, 360 * erand48(seed) - 180},
                         &b);
        struct latency_estimate estimate = latency_estimate(&a, &b);
        double floor_ms = estimate.distance_km * FIBRE_MS_PER_KM;
        cr_assert(estimate.rtt_ms >= floor_ms - 1e-6 && estimate.low_ms >= floor_ms - 1e-6 &&
                      estimate.rtt_ms < 1500,
                  "%.3f for %.1f km", estimate.rtt_ms, estimate.distance_km);
    }
    const latency_cell *all = latency_estimates();
    size_t count = place_count();
    for (uint16_t a = 0; a < count; a++) {
        for (uint16_t b = 0; b < count; b++) {
            double km =
                geo_distance_km(place_extent(a)->point.latitude, place_extent(a)->point.longitude,
                                place_extent(b)->point.latitude, place_extent(b)->point.longitude);
            double ms = LATENCY_CELL_CENTI(all[a * count + b]) / (double)LATENCY_CENTI;
            cr_assert(ms >= km * FIBRE_MS_PER_KM - 1e-9 && ms < 1500, "%s %s %.2f",
                      place_at(a)->slug, place_at(b)->slug, ms);
            cr_assert(all[a * count + b] == all[b * count + a]);
            cr_assert(latency_floor_ms(a, b) <= ms + 1e-9, "%s %s", place_at(a)->slug,
                      place_at(b)->slug);
        }
    }
}

Test(latency, words_for_many_places_say_how_wide_they_are)
{
    const struct place_extent *city = place_extent(place_find("se-stockholm"));
    const struct place_extent *country = place_extent(place_find("us"));
    const struct place_extent *area = place_extent(place_find("us-east"));
    cr_expect(city->reach_km < area->reach_km && area->reach_km < country->reach_km);
    cr_expect(area->point.latitude > 25 && area->point.latitude < 45 &&
              area->point.longitude > -95 && area->point.longitude < -70);
    /* Stockholm and Helsinki are not one point. */
    cr_expect(estimate("se-stockholm", "fi-helsinki") > estimate("se-stockholm", "se-stockholm"));
    struct latency_estimate narrow = latency_estimate(latency_place(place_find("se-stockholm")),
                                                      latency_place(place_find("us-ashburn")));
    struct latency_estimate wide = latency_estimate(latency_place(place_find("se-stockholm")),
                                                    latency_place(place_find("us")));
    cr_expect(wide.high_ms / wide.rtt_ms > narrow.high_ms / narrow.rtt_ms);
}

Test(latency, what_light_says_about_a_claim)
{
    uint16_t missouri = place_find("us-missouri"), zagreb = place_find("hr-zagreb");
    cr_assert(missouri != INDEX_NONE && zagreb != INDEX_NONE);
    cr_expect(latency_floor_ms(missouri, zagreb) > 60, "%.1f", latency_floor_ms(missouri, zagreb));
    cr_expect(latency_floor_ms(zagreb, zagreb) == 0);
    /* A country is large: a machine in it may be next door. */
    cr_expect(latency_floor_ms(place_find("us"), place_find("us-ashburn")) == 0);
    cr_expect(latency_floor_ms(place_find("de-berlin"), place_find("de")) == 0);
}

Test(latency, the_fit_is_reproduced)
{
    struct latency_sample *samples;
    static struct latency_model model;
    size_t count = read_samples(&samples);
    cr_assert(latency_fit(samples, count, true, &model));
    cr_expect(fabs(model.fixed_ms - latency_model.fixed_ms) < 1e-6);
    cr_expect(fabs(model.detour - latency_model.detour) < 1e-6);
    cr_expect(fabs(model.near.p90 - latency_model.near.p90) < 1e-4);
    cr_expect(fabs(model.far.p90 - latency_model.far.p90) < 1e-4);
    cr_assert(model.anchor_count == latency_model.anchor_count);
    for (size_t i = 0; i < model.anchor_count; i++) {
        cr_expect(strcmp(model.anchors[i].slug, latency_model.anchors[i].slug) == 0);
        cr_expect(fabs(model.anchors[i].weight - latency_model.anchors[i].weight) < 1e-6);
        for (size_t j = 0; j < model.anchor_count; j++)
            cr_expect(fabs(model.pair_weights[i][j] - latency_model.pair_weights[i][j]) < 1e-6);
    }
    /* The order of the samples is nothing to it. */
    for (size_t i = 0; i < count / 2; i++) {
        struct latency_sample other = samples[i];
        samples[i] = samples[count - 1 - i];
        samples[count - 1 - i] = other;
    }
    static struct latency_model turned;
    cr_assert(latency_fit(samples, count, false, &turned));
    struct latency_end a, b, c, d;
    latency_end_make(&model, latency_sample_point("us-dallas"), &a);
    latency_end_make(&model, latency_sample_point("es-madrid"), &b);
    latency_end_make(&turned, latency_sample_point("us-dallas"), &c);
    latency_end_make(&turned, latency_sample_point("es-madrid"), &d);
    cr_expect(fabs(latency_model_estimate(&model, &a, &b, NULL) -
                   latency_model_estimate(&turned, &c, &d, NULL)) < 1e-6);
    free(samples);
}

Test(latency, pairs_left_out_are_within_bounds)
{
    struct latency_sample *samples;
    static struct latency_model model;
    size_t count = read_samples(&samples);
    cr_assert(latency_fit(samples, count, true, &model));
    cr_expect(model.near.median <= 0.08 && model.near.p90 <= 0.22, "%.3f %.3f", model.near.median,
              model.near.p90);
    /* Whole places left out, Africa's only one among them. */
    cr_expect(model.far.median <= 0.08 && model.far.p90 <= 0.26, "%.3f %.3f", model.far.median,
              model.far.p90);
    cr_expect(model.far.median < model.simple.median / 2);
    free(samples);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Regions of another cloud, whose pairs nothing was fitted to. */
Test(latency, another_clouds_pairs_are_within_bounds)
{
    static double errors[1000], simple[1000];
    FILE *file = fopen("tests/unit/reference/azure_rtt.txt", "r");
    char line[1024], *words[64];
    uint16_t columns[64];
    size_t count = 0, within = 0;
    cr_assert(file != NULL, "run from the top of the tree");
    while (fgets(line, sizeof(line), file) != NULL) {
        size_t fields = 0;
        for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n"))
            words[fields++] = word;
        if (words[0][0] == '#')
            continue;
        for (size_t i = 1; words[0][0] == '@' && i < fields; i++)
            columns[i] = place_resolve("azure", words[i], NULL, NULL);
        for (size_t i = 1; words[0][0] != '@' && i < fields; i++) {
            uint16_t row = place_resolve("azure", words[0], NULL, NULL);
            double measured = atof(words[i]);
            cr_assert(row != INDEX_NONE && columns[i] != INDEX_NONE, "%s %s", words[0], words[i]);
            if (row == columns[i] || measured <= 10)
                continue;
            struct latency_estimate estimate =
                latency_estimate(latency_place(row), latency_place(columns[i]));
            errors[count] = fabs(estimate.rtt_ms / measured - 1);
            simple[count++] = fabs(
                latency_model_distance_only(&latency_model, estimate.distance_km) / measured - 1);
            within += measured >= estimate.low_ms && measured <= estimate.high_ms;
        }
    }
    fclose(file);
    qsort(errors, count, sizeof(errors[0]), compare_doubles);
    qsort(simple, count, sizeof(simple[0]), compare_doubles);
    cr_log_info("%zu pairs: median %.1f %%, p90 %.1f %% (distance alone %.1f %%, %.1f %%); %.1f %% "
                "within the band",
                count, 100 * errors[count / 2], 100 * errors[count * 9 / 10],
                100 * simple[count / 2], 100 * simple[count * 9 / 10],
                100.0 * (double)within / (double)count);
    cr_expect(count > 800);
    cr_expect(errors[count / 2] <= 0.08, "median %.4f", errors[count / 2]);
    cr_expect(errors[count * 9 / 10] <= 0.22, "p90 %.4f", errors[count * 9 / 10]);
    cr_expect((double)within / (double)count >= 0.85 && (double)within / (double)count <= 0.97,
              "%.3f within the band", (double)within / (double)count);
}
