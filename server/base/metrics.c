/* Counters are relaxed atomics: each is exact, and no reader needs them to agree with one another.
 */
#include "server/base/metrics.h"

#include "server/base/arena.h"
#include "server/base/timestamp.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *kind;
    const char *name;
    const char *help;
} descriptions[METRIC_COUNT] = {
#define COUNTER                   "counter"
#define GAUGE                     "gauge"
#define X(kind, name, text, help) {kind, text, help},
    METRICS(X)
#undef X
};

static _Atomic int64_t values[METRIC_COUNT];

/* Upper bounds of the duration histogram, in microseconds. */
static const int64_t bounds_us[] = {50,    100,   250,    500,    1000,    2500,    5000,
                                    10000, 25000, 100000, 250000, 1000000, 5000000, 30000000};
#define BOUND_COUNT    (sizeof(bounds_us) / sizeof(bounds_us[0]))
#define OPERATIONS_MAX 64
#define STATUSES_MAX   600

struct operation {
    _Atomic(const char *) name; /* a static string: compared by pointer */
    _Atomic int64_t buckets[BOUND_COUNT + 1];
    _Atomic int64_t sum_us;
    _Atomic int64_t statuses[STATUSES_MAX];
};
static struct operation operations[OPERATIONS_MAX];
static pthread_mutex_t operations_mutex = PTHREAD_MUTEX_INITIALIZER;

void metric_add(enum metric metric, int64_t amount)
{
    atomic_fetch_add_explicit(&values[metric], amount, memory_order_relaxed);
}

void metric_set(enum metric metric, int64_t value)
{
    atomic_store_explicit(&values[metric], value, memory_order_relaxed);
}

int64_t metric_get(enum metric metric)
{
    return atomic_load_explicit(&values[metric], memory_order_relaxed);
}

static struct operation *find_operation(const char *name)
{
    for (size_t i = 0; i < OPERATIONS_MAX; i++) {
        const char *held = atomic_load_explicit(&operations[i].name, memory_order_acquire);
        if (held == name)
            return &operations[i];
        if (held == NULL)
            break;
    }
    struct operation *found = NULL;
    pthread_mutex_lock(&operations_mutex);
    for (size_t i = 0; i < OPERATIONS_MAX && found == NULL; i++) {
        const char *held = atomic_load_explicit(&operations[i].name, memory_order_acquire);
        if (held == NULL)
            atomic_store_explicit(&operations[i].name, name, memory_order_release);
        if (held == NULL || held == name)
            found = &operations[i];
    }
    pthread_mutex_unlock(&operations_mutex);
    return found;
}

void metrics_observe_request(const char *operation, int status, int64_t duration_us)
{
    static const char other[] = "other";
    struct operation *row = find_operation(operation == NULL ? other : operation);
    if (row == NULL)
        return;
    size_t bucket = 0;
    while (bucket < BOUND_COUNT && duration_us > bounds_us[bucket])
        bucket++;
    atomic_fetch_add_explicit(&row->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&row->sum_us, duration_us, memory_order_relaxed);
    if (status > 0 && status < STATUSES_MAX)
        atomic_fetch_add_explicit(&row->statuses[status], 1, memory_order_relaxed);
}

static void write_requests(struct buf *out)
{
    buf_add_string(
        out, "# HELP rackrate_http_requests_total Requests answered, by operation and status\n"
             "# TYPE rackrate_http_requests_total counter\n");
    for (size_t i = 0; i < OPERATIONS_MAX && operations[i].name != NULL; i++) {
        for (int status = 100; status < STATUSES_MAX; status++) {
            int64_t count = operations[i].statuses[status];
            if (count > 0)
                buf_printf(out,
                           "rackrate_http_requests_total{operation=\"%s\",status=\"%d\"} %lld\n",
                           operations[i].name, status, (long long)count);
        }
    }
    buf_add_string(
        out,
        "# HELP rackrate_http_request_duration_seconds Time from a request's head to its answer\n"
        "# TYPE rackrate_http_request_duration_seconds histogram\n");
    for (size_t i = 0; i < OPERATIONS_MAX && operations[i].name != NULL; i++) {
        const char *name = operations[i].name;
        int64_t total = 0;
        for (size_t b = 0; b <= BOUND_COUNT; b++) {
            total += operations[i].buckets[b];
            buf_printf(out, "rackrate_http_request_duration_seconds_bucket{operation=\"%s\",le=\"",
                       name);
            if (b < BOUND_COUNT)
                buf_add_decimal(out, bounds_us[b], 6);
            else
                buf_add_string(out, "+Inf");
            buf_printf(out, "\"} %lld\n", (long long)total);
        }
        buf_printf(out, "rackrate_http_request_duration_seconds_sum{operation=\"%s\"} ", name);
        buf_add_decimal(out, operations[i].sum_us, 6);
        buf_printf(out, "\nrackrate_http_request_duration_seconds_count{operation=\"%s\"} %lld\n",
                   name, (long long)total);
    }
}

static void write_process(struct buf *out)
{
    long pages = 0, ignored = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &ignored, &pages) != 2)
            pages = 0;
        fclose(file);
    }
    int64_t files = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (directory != NULL) {
        while (readdir(directory) != NULL)
            files++;
        closedir(directory);
    }
    buf_printf(out,
               "# HELP process_resident_memory_bytes Resident memory\n# TYPE "
               "process_resident_memory_bytes gauge\n"
               "process_resident_memory_bytes %lld\n",
               (long long)pages * sysconf(_SC_PAGESIZE));
    buf_printf(out,
               "# HELP process_open_fds Open file descriptors\n# TYPE process_open_fds "
               "gauge\nprocess_open_fds %lld\n",
               (long long)(files > 3 ? files - 3 : 0));
}

void metrics_write(struct buf *out)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %lld\n", descriptions[i].name,
                   descriptions[i].help, descriptions[i].name, descriptions[i].kind,
                   descriptions[i].name, (long long)metric_get((enum metric)i));
    }
    write_requests(out);
    write_process(out);
}
