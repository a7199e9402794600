/* Children of the cluster: started as another user, without this process's files, signals and
 * terminal. */
#include "db/cluster_process.h"

#include "server/base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS         5
#define DISK_FULL_BYTES (1U << 20)
#define STOP_FAST_MS    60000
#define STOP_NOW_MS     10000

/* What libpq and PostgreSQL would read from the environment must not reach the private cluster. */
static void clear_environment(void)
{
    static const char *const names[] = {"PGDATA",    "PGPORT",      "PGHOST",
                                        "PGUSER",    "PGOPTIONS",   "PGDATABASE",
                                        "PGSERVICE", "LC_MESSAGES", "LANGUAGE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    setenv("LC_ALL", "C", 1);
}

static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
}

static void run_child(const struct cluster_owner *owner, const char *program,
                      const char *const *arguments, int log, pid_t parent)
{
    setsid();
    reset_signals();
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0 || !cluster_owner_become(owner))
        _exit(126);
    /* After the change of user, which would clear it; and the parent may be gone already. */
    if (prctl(PR_SET_PDEATHSIG, SIGINT) != 0 || getppid() != parent)
        _exit(126);
    close_range(3, ~0U, 0);
    umask(077);
    clear_environment();
    execv(program, (char *const *)arguments);
    dprintf(STDERR_FILENO, "can't run %s: %s\n", program, strerror(errno));
    _exit(127);
}

pid_t cluster_spawn(const struct cluster_owner *owner, const char *program,
                    const char *const *arguments, const char *log_path)
{
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (log < 0)
        return -1;
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0)
        run_child(owner, program, arguments, log, parent);
    close(log);
    return child;
}

bool cluster_wait(pid_t pid, int timeout_ms, bool *ret_good)
{
    for (int waited_ms = 0;; waited_ms += POLL_MS) {
        int status;
        pid_t gone = waitpid(pid, &status, WNOHANG);
        if (gone == pid || (gone < 0 && errno == ECHILD)) {
            if (ret_good != NULL)
                *ret_good = gone == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
            return true;
        }
        if (waited_ms >= timeout_ms)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    }
}

/* As cluster_wait for a process that need not be a child. */
static bool wait_gone(const char *data_dir, pid_t pid, int timeout_ms)
{
    for (int waited_ms = 0;; waited_ms += POLL_MS) {
        (void)waitpid(pid, NULL, WNOHANG);
        if (!postmaster_is_alive(data_dir, pid))
            return true;
        if (waited_ms >= timeout_ms)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    }
}

void cluster_stop_process(const char *data_dir, pid_t pid)
{
    if (!postmaster_is_alive(data_dir, pid)) {
        (void)waitpid(pid, NULL, WNOHANG);
        return;
    }
    kill(pid, SIGINT);
    kill(pid, SIGCONT);
    if (wait_gone(data_dir, pid, STOP_FAST_MS))
        return;
    kill(pid, SIGQUIT);
    if (wait_gone(data_dir, pid, STOP_NOW_MS))
        return;
    kill(pid, SIGKILL);
    (void)wait_gone(data_dir, pid, STOP_NOW_MS);
}

char *cluster_explain(const char *what, const char *log_path)
{
    char *tail = cluster_read_file(log_path, 4000);
    char *answer;
    struct statvfs space;
    /* On a full disk the log may have no room for saying so. */
    bool full = statvfs(log_path, &space) == 0 &&
                (uint64_t)space.f_bavail * space.f_frsize < DISK_FULL_BYTES;
    if (full || (tail != NULL && strstr(tail, "No space left on device") != NULL)) {
        answer = cluster_format(
            "%s: the disk is full. Free some space and start again; nothing is lost. See %s", what,
            log_path);
    } else {
        const char *last = tail;
        for (const char *at = tail; at != NULL; at = strstr(at + 1, "FATAL:"))
            last = at;
        size_t length = last == NULL ? 0 : strcspn(last, "\n");
        answer = cluster_format("%s: %.*s. See %s", what, (int)length, last == NULL ? "" : last,
                                log_path);
    }
    free(tail);
    return answer;
}
