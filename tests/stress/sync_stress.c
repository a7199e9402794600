/* Races between writers, readers and the sync of two nodes on one database. A plain program for the
 * thread sanitizer: it ends with 0 when both nodes hold the same at the end and every acknowledged
 * write is there. Needs RACKRATE_TEST_DATABASE_URL. */
#include "db/provider.h"
#include "server/base/crypto.h"
#include "server/base/log.h"
#include "server/base/timestamp.h"
#include "server/catalog/query.h"
#include "server/sync/write.h"
#include "tests/support/test_database.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODES   2
#define WRITERS 2 /* a node */
#define READERS 2 /* a node */
#define SECONDS 6

static struct node *nodes[NODES];
static const char *url;
static _Atomic bool stop;
static _Atomic int writes, failures, searches;

static void *write_on(void *argument)
{
    int number = (int)(intptr_t)argument;
    struct node *node = nodes[number % NODES];
    struct db_connection *connection = test_connect(url);
    for (int i = 0; !stop; i++) {
        struct arena arena = {0};
        char body[400], slug[20];
        snprintf(slug, sizeof(slug), "p%d", i % 3);
        int length = snprintf(body, sizeof(body),
                              "{\"offers\":[{\"external_id\":\"w%d-%d\",\"gpu\":\"L4\",\"gpu_"
                              "count\":1,\"prices\":[{\"billing\":"
                              "\"on_demand\",\"price_per_gpu_hour\":%d.%02d}]}]}",
                              number, i % 20, 1 + i % 7, i % 100);
        const struct decode_options options = {
            .format = FORMAT_JSON, .provider_slug = slug, .as_of_us = TIMESTAMP_UNKNOWN};
        struct upload upload;
        struct decode_error error;
        struct write_result result;
        if (upload_decode(&options, body, (size_t)length, &arena, &upload, &error) != DECODE_OK)
            abort();
        const struct write_request write = {
            .provider_slug = slug,
            .mode = CHANGE_UPSERT,
            .upload = &upload,
            .record = {.kind = "upsert",
                       .format = "json",
                       .actor = "test",
                       .confirmed_at_us = TIMESTAMP_UNKNOWN},
        };
        enum write_outcome outcome = write_inventory(node, connection, &write, &arena, &result);
        if (outcome == WRITE_DONE) {
            writes++;
            /* Read your write: this node holds at least what was answered. */
            if (catalog_provider_version(node_catalog(node), slug) < result.version)
                failures++;
        } else {
            failures++;
        }
        buf_free(&result.body);
        arena_free(&arena);
    }
    db_disconnect(connection);
    return NULL;
}

static void *read_on(void *argument)
{
    struct node *node = nodes[(intptr_t)argument % NODES];
    while (!stop) {
        struct arena arena = {0};
        struct snapshot *snapshot = catalog_acquire(node_catalog(node));
        const struct query_parameter parameters[] = {{"gpu", "l4"}, {"max_price", "5"}};
        struct query *query;
        struct query_error *errors;
        struct buf out = {0};
        const char *cursor;
        if (query_parse(parameters, 2, snapshot, &arena, &query, &errors) != 0)
            abort();
        query_answer(snapshot, query, timestamp_now_us(), &arena, &out, &cursor);
        snapshot_release(snapshot);
        buf_free(&out);
        arena_free(&arena);
        searches++;
    }
    return NULL;
}

/* All that a node answers, malloc'd. */
static char *whole(struct node *node, int64_t now_us)
{
    struct arena arena = {0};
    struct snapshot *snapshot = catalog_acquire(node_catalog(node));
    const struct query_parameter parameters[] = {{"limit", "500"}};
    struct query *query;
    struct query_error *errors;
    struct buf out = {0};
    const char *cursor;
    if (query_parse(parameters, 1, snapshot, &arena, &query, &errors) != 0)
        abort();
    query_answer(snapshot, query, now_us, &arena, &out, &cursor);
    snapshot_release(snapshot);
    arena_free(&arena);
    return buf_detach(&out, NULL);
}

int main(void)
{
    pthread_t threads[NODES * (WRITERS + READERS)];
    size_t count = 0;
    log_set_level(LOG_LEVEL_ERROR);
    if (!crypt_init())
        return 1;
    url = test_database_new();
    struct db_connection *connection = test_connect(url);
    for (int i = 0; i < 3; i++) {
        char slug[20];
        snprintf(slug, sizeof(slug), "p%d", i);
        struct provider provider = {
            .slug = slug,
            .name = slug,
            .kind = PROVIDER_GPU_CLOUD,
            .freshness_hours = 168,
            .trust = {-1, -1, -1, -1},
            .confirmed_at_us = TIMESTAMP_UNKNOWN,
        };
        if (db_provider_add(connection, &provider, "test") != DB_OK)
            return 1;
    }
    for (int i = 0; i < NODES; i++) {
        nodes[i] = node_new(url);
        if (!node_catch_up(nodes[i], connection) || !node_start_sync(nodes[i], 50, NULL))
            return 1;
    }
    for (intptr_t i = 0; i < NODES * WRITERS; i++)
        pthread_create(&threads[count++], NULL, write_on, (void *)i);
    for (intptr_t i = 0; i < NODES * READERS; i++)
        pthread_create(&threads[count++], NULL, read_on, (void *)i);
    sleep(SECONDS);
    stop = true;
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    sleep(1);
    int64_t now_us = timestamp_now_us();
    char *first = whole(nodes[0], now_us), *second = whole(nodes[1], now_us);
    bool same = strcmp(first, second) == 0;
    printf("%d writes, %d failures, %d searches, nodes %s\n", writes, failures, searches,
           same ? "agree" : "DISAGREE");
    free(first);
    free(second);
    for (int i = 0; i < NODES; i++)
        node_free(nodes[i]);
    db_disconnect(connection);
    test_database_drop();
    return same && failures == 0 && writes > 10 && searches > 10 ? 0 : 1;
}
