#include "tests/support/latency_samples.h"

#include "server/model/offer.h"
#include "server/reference/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct geo_point point_of(uint16_t place)
{
    const struct place *at = place_at(place);
    return (struct geo_point){at->latitude_microdegrees / 1e6, at->longitude_microdegrees / 1e6};
}

struct geo_point latency_sample_point(const char *slug)
{
    uint16_t place = place_find(slug);
    if (place == INDEX_NONE) {
        fprintf(stderr, "no place %s\n", slug);
        abort();
    }
    return point_of(place);
}

size_t latency_samples_read(const char *path, struct latency_sample **ret_samples)
{
    FILE *file = fopen(path, "r");
    char line[200], from[64], to[64];
    size_t count = 0, room = 0;
    struct latency_sample *samples = NULL;
    double rtt_ms;
    *ret_samples = NULL;
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "src,", 4) == 0)
            continue;
        uint16_t a = INDEX_NONE, b = INDEX_NONE;
        if (sscanf(line, "%63[^,],%63[^,],%lf", from, to, &rtt_ms) == 3) {
            a = place_resolve("aws", from, NULL, NULL);
            b = place_resolve("aws", to, NULL, NULL);
        }
        if (a == INDEX_NONE || b == INDEX_NONE) {
            fclose(file);
            free(samples);
            return 0;
        }
        if (count == room) {
            room = 2 * room + 64;
            samples = realloc(samples, room * sizeof(*samples));
            if (samples == NULL)
                abort();
        }
        samples[count++] = (struct latency_sample){place_at(a)->slug, place_at(b)->slug,
                                                   point_of(a), point_of(b), rtt_ms};
    }
    fclose(file);
    *ret_samples = samples;
    return count;
}
