/* RFC 3339 in and out, against the C library's own calendar in UTC. */
#include "server/base/timestamp.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TestSuite(timestamp, .timeout = 20);

Test(timestamp, reads_and_refuses)
{
    static const struct {
        const char *text;
        bool good;
        int64_t us;
    } cases[] = {
        {"1970-01-01T00:00:00Z", true, 0},
        {"2026-11-30T12:00:00Z", true, INT64_C(1796040000000000)},
        {"2026-11-30t12:00:00z", true, INT64_C(1796040000000000)},
        {"2026-11-30 13:30:00+01:30", true, INT64_C(1796040000000000)},
        {"2026-11-30T12:00:00.5Z", true, INT64_C(1796040000500000)},
        {"2024-02-29T00:00:00Z", true, INT64_C(1709164800000000)},
        {"2023-02-29T00:00:00Z", false, 0},
        {"2026-13-01T00:00:00Z", false, 0},
        {"2026-11-31T00:00:00Z", false, 0},
        {"2026-11-30T24:00:00Z", false, 0},
        {"2026-11-30T12:60:00Z", false, 0},
        {"2026-11-30T12:00:00", false, 0},
        {"2026-11-30", false, 0},
        {"2026-11-30T12:00:00.Z", false, 0},
        {"2026-11-30T12:00:00+1:00", false, 0},
        {"2026-11-30T12:00:00Zx", false, 0},
        {"1969-12-31T23:59:59Z", false, 0},
        {"yesterday", false, 0},
        {"", false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t us = -1;
        bool good = timestamp_parse(cases[i].text, strlen(cases[i].text), &us);
        cr_expect(good == cases[i].good, "\"%s\"", cases[i].text);
        cr_expect(!good || us == cases[i].us, "\"%s\" gives %lld", cases[i].text, (long long)us);
    }
}

Test(timestamp, prints_what_it_reads_and_agrees_with_the_library)
{
    char text[TIMESTAMP_TEXT_SIZE], expected[40];
    srand(3);
    for (int i = 0; i < 20000; i++) {
        int64_t seconds = (int64_t)rand() * 60 + rand() % 60, again;
        int64_t us = seconds * 1000000 + (i % 2 ? rand() % 1000000 : 0);
        size_t length = timestamp_print(us, text);
        cr_assert(timestamp_parse(text, length, &again) && again == us, "%s", text);
        time_t time = (time_t)seconds;
        struct tm parts;
        gmtime_r(&time, &parts);
        strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S", &parts);
        cr_assert(strncmp(text, expected, strlen(expected)) == 0, "%s, not %s", text, expected);
    }
}
