/* Servers are found by their ports: each gets two that were free a moment ago. */
#include "tests/support/test_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

long long test_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int port = -1;
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        port = ntohs(address.sin_port);
    close(fd);
    return port;
}

int test_connect_port(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

void test_state_dir_make(struct test_server *server)
{
    snprintf(server->state_dir, sizeof(server->state_dir), "/tmp/rackrate-e2e-XXXXXX");
    if (mkdtemp(server->state_dir) == NULL || chmod(server->state_dir, 0755) != 0)
        abort();
    strcat(server->state_dir, "/state");
}

void test_state_dir_remove(struct test_server *server)
{
    char command[200];
    *strrchr(server->state_dir, '/') = '\0';
    snprintf(command, sizeof(command), "rm -rf '%s'", server->state_dir);
    if (system(command) != 0)
        fprintf(stderr, "could not remove %s\n", server->state_dir);
}

/* The child's environment: its database or state, its ports, and what the test wants. */
static void set_environment(const struct test_server *server)
{
    char text[64];
    snprintf(text, sizeof(text), "127.0.0.1:%d", server->port);
    setenv("RACKRATE_LISTEN", text, 1);
    snprintf(text, sizeof(text), "127.0.0.1:%d", server->ops_port);
    setenv("RACKRATE_OPS_LISTEN", text, 1);
    setenv("RACKRATE_SAMPLE", "0", 1);
    if (server->database_url != NULL)
        setenv("RACKRATE_DATABASE_URL", server->database_url, 1);
    else
        setenv("RACKRATE_STATE_DIR", server->state_dir, 1);
    for (size_t i = 0; server->extra_env != NULL && server->extra_env[i] != NULL; i++)
        putenv(strdup(server->extra_env[i]));
}

static const char *binary(void)
{
    const char *path = getenv("RACKRATE_TEST_BIN");
    return path == NULL ? "build/release/rackrate" : path;
}

bool test_server_start(struct test_server *server)
{
    if (server->port == 0)
        server->port = free_port();
    if (server->ops_port == 0)
        server->ops_port = free_port();
    server->pid = fork();
    if (server->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* a test that dies leaves no server behind */
        set_environment(server);
        int log = open("/dev/null", O_WRONLY);
        if (getenv("RACKRATE_TEST_VERBOSE") == NULL)
            dup2(log, STDERR_FILENO);
        execl(binary(), "rackrate", "serve", (char *)NULL);
        _exit(127);
    }
    for (long long until = test_now_ms() + 30000; test_now_ms() < until;) {
        struct test_answer answer = test_request(server->port, "GET", "/readyz", NULL, NULL, 2000);
        int status = answer.status;
        test_answer_free(&answer);
        if (status == 200)
            return true;
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
            return false;
        usleep(10000);
    }
    return false;
}

int test_server_stop(struct test_server *server)
{
    int status;
    kill(server->pid, SIGTERM);
    if (waitpid(server->pid, &status, 0) != server->pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void test_server_kill(struct test_server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
}

char *test_cli(const struct test_server *server, const char *arguments)
{
    char command[1024];
    if (server->database_url != NULL)
        snprintf(command, sizeof(command), "RACKRATE_DATABASE_URL='%s' %s %s 2>/dev/null",
                 server->database_url, binary(), arguments);
    else
        snprintf(command, sizeof(command), "RACKRATE_STATE_DIR='%s' %s %s 2>/dev/null",
                 server->state_dir, binary(), arguments);
    FILE *out = popen(command, "r");
    char *text = calloc(1, 65536);
    size_t length = fread(text, 1, 65535, out);
    text[length] = '\0';
    if (pclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

bool test_server_provider(const struct test_server *server, const char *slug, char *ret_key)
{
    char arguments[200];
    snprintf(arguments, sizeof(arguments), "provider add %s --name %s", slug, slug);
    char *added = test_cli(server, arguments);
    snprintf(arguments, sizeof(arguments), "key create %s", slug);
    char *key = test_cli(server, arguments);
    bool good = added != NULL && key != NULL;
    if (good) {
        key[strcspn(key, "\n")] = '\0';
        snprintf(ret_key, 64, "%s", key);
    }
    free(added);
    free(key);
    return good;
}

static void split(struct test_answer *answer, char *bytes, size_t length)
{
    bytes[length] = '\0';
    char *body = strstr(bytes, "\r\n\r\n");
    if (strncmp(bytes, "HTTP/1.1 ", 9) == 0)
        answer->status = atoi(bytes + 9);
    answer->body = strdup(body == NULL ? "" : body + 4);
    if (body != NULL)
        *body = '\0';
    answer->head = strdup(bytes);
}

struct test_answer test_raw(int port, const char *bytes, size_t length, int timeout_ms)
{
    struct test_answer answer = {0};
    size_t capacity = 1 << 16, got = 0;
    char *buffer = malloc(capacity + 1);
    int fd = test_connect_port(port);
    long long until = test_now_ms() + timeout_ms;
    for (size_t sent = 0; fd >= 0 && sent < length;) {
        ssize_t count = send(fd, bytes + sent, length - sent, MSG_NOSIGNAL);
        if (count <= 0)
            break;
        sent += (size_t)count;
    }
    while (fd >= 0 && test_now_ms() < until) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, (int)(until - test_now_ms())) <= 0)
            break;
        if (got == capacity) {
            capacity *= 2;
            buffer = realloc(buffer, capacity + 1);
        }
        ssize_t count = recv(fd, buffer + got, capacity - got, 0);
        if (count <= 0) {
            answer.closed = true;
            break;
        }
        got += (size_t)count;
    }
    if (fd >= 0)
        close(fd);
    split(&answer, buffer, got);
    free(buffer);
    return answer;
}

struct test_answer test_request(int port, const char *method, const char *target, const char *key,
                                const char *body, int timeout_ms)
{
    char *bytes = NULL, authorization[128] = "";
    if (key != NULL)
        snprintf(authorization, sizeof(authorization), "Authorization: Bearer %s\r\n", key);
    int length = body == NULL
                     ? asprintf(&bytes, "%s %s HTTP/1.1\r\nHost: t\r\nConnection: close\r\n%s\r\n",
                                method, target, authorization)
                     : asprintf(&bytes,
                                "%s %s HTTP/1.1\r\nHost: t\r\nConnection: close\r\n%sContent-Type: "
                                "application/json\r\n"
                                "Content-Length: %zu\r\n\r\n%s",
                                method, target, authorization, strlen(body), body);
    struct test_answer answer = test_raw(port, bytes, (size_t)length, timeout_ms);
    free(bytes);
    return answer;
}

void test_answer_free(struct test_answer *answer)
{
    free(answer->head);
    free(answer->body);
    *answer = (struct test_answer){0};
}

long long test_json_number(const char *json, const char *name)
{
    char wanted[80];
    snprintf(wanted, sizeof(wanted), "\"%s\":", name);
    const char *at = strstr(json, wanted);
    return at == NULL ? -1 : atoll(at + strlen(wanted));
}
