/* Places: the table's own consistency, spellings, real data, distances. */
#include "server/model/offer.h"
#include "server/reference/place.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(place, .timeout = 60);

Test(place, the_table_is_consistent)
{
    size_t areas = 0, countries = 0, points = 0;
    for (uint16_t i = 0; i < place_count(); i++) {
        const struct place *place = place_at(i);
        cr_expect(place_find(place->slug) == i, "%s is there once", place->slug);
        areas += place->kind == PLACE_AREA;
        countries += place->kind == PLACE_COUNTRY;
        points += place->kind == PLACE_POINT;
        cr_expect(place->continent != NULL && strlen(place->continent) == 2, "%s", place->slug);
        cr_expect(place->parent == NULL || place_at(place_find(place->parent))->kind == PLACE_AREA,
                  "%s", place->slug);
        cr_expect(place->kind != PLACE_POINT ||
                      (place->parent != NULL && country_is_known(place->country)),
                  "%s", place->slug);
        cr_expect(abs(place->latitude_microdegrees) <= 90000000 &&
                  abs(place->longitude_microdegrees) <= 180000000);
    }
    cr_expect(areas == 27 && countries > 100 && points >= 250,
              "%zu areas, %zu countries, %zu places", areas, countries, points);
}

Test(place, spellings_resolve_or_stay_unknown)
{
    static const struct {
        const char *provider, *region, *zone, *slug;
    } cases[] = {
        {"aws", "us-east-1", "use1-az1", "us-ashburn"},
        {"aws", "us-east-1", "use1-atl2-az1", "us-atlanta"},
        {"aws", "ap-northeast-1-wl1-kix1", NULL, "jp-osaka"},
        {"aws", "eu-west-1", NULL, "ie-dublin"},
        {NULL, "use1-az1", NULL, "us-ashburn"},
        {"gcp", "us-central1", "us-central1-a", "us-council-bluffs"},
        {NULL, "us-central1-a", NULL, "us-council-bluffs"},
        {"nebius", "us-central1", NULL, "us-kansas-city"},
        {"azure", "westeurope", NULL, "nl-amsterdam"},
        {"bar-azure", "eastus2", NULL, "us-boydton"},
        {"runpod", "US", "US-TX-3", "us-texas"},
        {"runpod", "RO", "EU-RO-1", "ro"},
        {"runpod", "CA", "CA-MTL-1", "ca-montreal"},
        {"vast", "Denmark, DK, EU", NULL, "dk"},
        {"vast", ", US, NA", NULL, "us"},
        {"vast", "Georgia, US, NA", NULL, "us-georgia-state"},
        {NULL, "US, Dallas, TX", NULL, "us-dallas"},
        {NULL, "dallas-usa-3", NULL, "us-dallas"},
        {NULL, "CANADA-2", NULL, "ca"},
        {NULL, "eu-north", NULL, "eu-north"},
        {NULL, "DE", NULL, "de"},
        {NULL, "us-east", "iad1", "us-east"},
        {NULL, "Stockholm", NULL, "se-stockholm"},
        {NULL, "se-stockholm", NULL, "se-stockholm"},
        {NULL, "eu-west-1", NULL, NULL},
        {NULL, "atlantis", NULL, NULL},
        {NULL, "default", NULL, NULL},
        {NULL, NULL, NULL, NULL},
        {NULL, "", NULL, NULL},
        {NULL, ",,,", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint16_t found = place_resolve(cases[i].provider, cases[i].region, cases[i].zone, NULL);
        const char *slug = found == INDEX_NONE ? NULL : place_at(found)->slug;
        cr_expect((slug == NULL) == (cases[i].slug == NULL) &&
                      (slug == NULL || strcmp(slug, cases[i].slug) == 0),
                  "%s / %s / %s gives %s", cases[i].provider == NULL ? "-" : cases[i].provider,
                  cases[i].region == NULL ? "-" : cases[i].region,
                  cases[i].zone == NULL ? "-" : cases[i].zone, slug == NULL ? "nothing" : slug);
    }
}

Test(place, containment)
{
    uint16_t stockholm = place_find("se-stockholm"), sweden = place_find("se"),
             north = place_find("eu-north");
    cr_expect(place_contains(north, stockholm) && place_contains(sweden, stockholm) &&
              place_contains(north, sweden));
    cr_expect(place_contains(stockholm, stockholm) && !place_contains(stockholm, sweden));
    cr_expect(!place_contains(place_find("eu-west"), stockholm) &&
              !place_contains(place_find("us"), stockholm));
}

/* Every place of the latency files is known; the columns are provider, region, location. */
Test(place, every_place_of_the_latency_data_resolves)
{
    const char *root = getenv("RACKRATE_TEST_DATA");
    char path[500], line[1000];
    snprintf(path, sizeof(path), "%s/latency/regions-latlong.csv",
             root == NULL ? "../shared/data" : root);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        cr_skip_test("RACKRATE_TEST_DATA has no latency/regions-latlong.csv");
    size_t rows = 0, unknown = 0;
    cr_assert(fgets(line, sizeof(line), file) != NULL);
    while (fgets(line, sizeof(line), file) != NULL) {
        char *provider = strtok(line, ","), *region = strtok(NULL, ",");
        bool city = strcmp(provider, "wonderproxy-city") == 0;
        rows++;
        /* Two rows name whole groups of wavelength zones, which are no place. */
        if (place_resolve(city ? "wonderproxy" : provider, region, NULL, NULL) == INDEX_NONE) {
            unknown++;
            cr_expect(strstr(region, "-wl1") != NULL, "%s %s is unknown", provider, region);
        }
    }
    fclose(file);
    cr_expect(rows == 489 && unknown <= 2, "%zu rows, %zu unknown", rows, unknown);
}

Test(place, distances_on_the_globe)
{
    static const struct {
        double a[2], b[2], km;
    } cases[] = {
        {{51.5074, -0.1278}, {40.7128, -74.006}, 5570}, /* London, New York */
        {{35.6895, 139.6917},
         {37.7749, -122.4194},
         8270},                      /* Tokyo, San Francisco: over the antimeridian */
        {{90, 0}, {-90, 77}, 20015}, /* pole to pole */
        {{0, 179.5}, {0, -179.5}, 111.2},
        {{10, 10}, {10, 10}, 0},
        {{0, 0}, {0, 180}, 20015},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double km = geo_distance_km(cases[i].a[0], cases[i].a[1], cases[i].b[0], cases[i].b[1]);
        double back = geo_distance_km(cases[i].b[0], cases[i].b[1], cases[i].a[0], cases[i].a[1]);
        cr_expect(fabs(km - cases[i].km) <= cases[i].km * 0.005 + 0.1, "case %zu: %f", i, km);
        cr_expect(fabs(km - back) < 1e-9);
    }
}
