/* Real servers for tests: processes of the binary RACKRATE_TEST_BIN on free loopback ports, and a
 * small HTTP client that shows what came over the wire. Needs no test framework. */
#ifndef RACKRATE_TESTS_SUPPORT_TEST_SERVER_H
#define RACKRATE_TESTS_SUPPORT_TEST_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct test_server {
    pid_t pid;
    int port, ops_port;
    char state_dir[128];          /* of a private cluster; "" where a database URL was given */
    const char *database_url;     /* NULL: private */
    const char *const *extra_env; /* "NAME=value", ended by NULL; may be NULL */
};

/* Starts it and waits for /readyz (30 s). False where it does not come up. Start it again after a
 * kill with the same struct. */
bool test_server_start(struct test_server *server);
/* SIGTERM, waits; the exit code, or -1 by a signal. */
int test_server_stop(struct test_server *server);
/* SIGKILL, waits. */
void test_server_kill(struct test_server *server);
/* A fresh state directory a private cluster can live in, and its removal. */
void test_state_dir_make(struct test_server *server);
void test_state_dir_remove(struct test_server *server);

/* Runs `rackrate ARGUMENTS` against the server's database; its standard output, malloc'd, or NULL
 * where it failed. */
char *test_cli(const struct test_server *server, const char *arguments);
/* Adds a provider and gives a key for it (64 bytes). */
bool test_server_provider(const struct test_server *server, const char *slug, char *ret_key);

struct test_answer {
    int status; /* 0: no answer */
    char *head, *body;
    bool closed; /* the server closed the connection */
};
/* One request on a connection of its own. `timeout_ms` bounds the wait. */
struct test_answer test_request(int port, const char *method, const char *target, const char *key,
                                const char *body, int timeout_ms);
/* Bytes as they are, and what came back until the server closed or the time was over. */
struct test_answer test_raw(int port, const char *bytes, size_t length, int timeout_ms);
void test_answer_free(struct test_answer *answer);

/* A connected socket to the port, or -1. */
int test_connect_port(int port);
/* The number behind `"name":` in a JSON text; -1 where there is none. */
long long test_json_number(const char *json, const char *name);
/* Milliseconds of a clock that never goes back. */
long long test_now_ms(void);

#endif
