/* Files and owners of the private cluster. Permissions are not computed but tried, in a child that
 * has become the owner, so that access lists count as well. */
#include "db/cluster_files.h"

#include "server/base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAMS_ROOT "/usr/lib/postgresql"

char *cluster_format(const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        abort();
    va_end(arguments);
    return text;
}

bool cluster_owner_find(const char *data_dir, struct cluster_owner *ret_owner, char **ret_error)
{
    *ret_owner = (struct cluster_owner){.uid = geteuid(), .gid = getegid()};
    if (ret_owner->uid != 0)
        return true;
    ret_owner->change = true;
    struct stat facts;
    if (stat(data_dir, &facts) == 0 && facts.st_uid != 0) {
        ret_owner->uid = facts.st_uid;
        ret_owner->gid = facts.st_gid;
        return true;
    }
    const struct passwd *user = getpwnam("postgres");
    if (user == NULL) {
        *ret_error = xstrdup("PostgreSQL refuses to run as root and there is no user postgres: "
                             "install postgresql-15, or run as a plain user");
        return false;
    }
    ret_owner->uid = user->pw_uid;
    ret_owner->gid = user->pw_gid;
    return true;
}

bool cluster_owner_become(const struct cluster_owner *owner)
{
    if (!owner->change)
        return true;
    return setgroups(0, NULL) == 0 && setresgid(owner->gid, owner->gid, owner->gid) == 0 &&
           setresuid(owner->uid, owner->uid, owner->uid) == 0;
}

bool cluster_give(const struct cluster_owner *owner, const char *path)
{
    return !owner->change || chown(path, owner->uid, owner->gid) == 0;
}

/* In the child: writes the length of the prefix that blocks, 0 for none. */
static void try_path(const struct cluster_owner *owner, const char *path, int out)
{
    size_t blocked = 0;
    char prefix[PATH_MAX];
    if (!cluster_owner_become(owner))
        blocked = 1;
    for (size_t i = 1; blocked == 0 && i <= strlen(path) && i < sizeof(prefix); i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        if (access(prefix, X_OK) != 0) {
            if (errno != ENOENT)
                blocked = i;
            break;
        }
    }
    ssize_t written = write(out, &blocked, sizeof(blocked));
    _exit(written == (ssize_t)sizeof(blocked) ? 0 : 1);
}

char *cluster_blocked_at(const struct cluster_owner *owner, const char *path)
{
    int ends[2];
    if (!owner->change || path[0] != '/' || pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pid_t child = fork();
    if (child == 0)
        try_path(owner, path, ends[1]);
    close(ends[1]);
    size_t blocked = 0;
    ssize_t got = child < 0 ? 0 : read(ends[0], &blocked, sizeof(blocked));
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (got != (ssize_t)sizeof(blocked) || blocked == 0)
        return NULL;
    return cluster_format("%.*s", (int)blocked, path);
}

/* The major version that `DIR/postgres --version` prints, 0 where there is none. */
static int program_major(const char *directory)
{
    char *command = cluster_format("'%s/postgres' --version 2>/dev/null", directory);
    FILE *pipe = strchr(directory, '\'') == NULL ? popen(command, "re") : NULL;
    free(command);
    if (pipe == NULL)
        return 0;
    int major = 0;
    if (fscanf(pipe, "postgres (PostgreSQL) %d", &major) != 1)
        major = 0;
    pclose(pipe);
    return major;
}

static bool has_programs(const char *directory)
{
    char *initdb = cluster_format("%s/initdb", directory);
    char *postgres = cluster_format("%s/postgres", directory);
    bool good = access(initdb, X_OK) == 0 && access(postgres, X_OK) == 0;
    free(initdb);
    free(postgres);
    return good;
}

static char *find_in_path(int major, int *ret_major)
{
    const char *path = getenv("PATH");
    char *copy = xstrdup(path == NULL ? "" : path);
    char *found = NULL, *state = NULL;
    for (char *part = strtok_r(copy, ":", &state); part != NULL && found == NULL;
         part = strtok_r(NULL, ":", &state)) {
        if (*part != '/' || !has_programs(part))
            continue;
        int version = program_major(part);
        if (version == 0 || (major != 0 && version != major))
            continue;
        found = xstrdup(part);
        *ret_major = version;
    }
    free(copy);
    return found;
}

/* Debian keeps each major version in a directory of that name. */
char *cluster_programs_find(int major, int *ret_major)
{
    int best = 0;
    DIR *root = opendir(PROGRAMS_ROOT);
    for (const struct dirent *entry; root != NULL && (entry = readdir(root)) != NULL;) {
        int version = atoi(entry->d_name);
        if (version <= best || (major != 0 && version != major))
            continue;
        char *directory = cluster_format("%s/%s/bin", PROGRAMS_ROOT, entry->d_name);
        if (has_programs(directory))
            best = version;
        free(directory);
    }
    if (root != NULL)
        closedir(root);
    if (best == 0)
        return find_in_path(major, ret_major);
    *ret_major = best;
    return cluster_format("%s/%d/bin", PROGRAMS_ROOT, best);
}

bool cluster_make_directory(const char *path, mode_t mode)
{
    char *copy = xstrdup(path);
    bool good = true;
    for (char *at = copy + 1; good; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char kept = *at;
        *at = '\0';
        if (mkdir(copy, mode) != 0 && errno != EEXIST)
            good = false;
        *at = kept;
        if (kept == '\0')
            break;
    }
    struct stat facts;
    good = good && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    int saved = errno;
    free(copy);
    errno = saved;
    return good;
}

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *walk)
{
    (void)facts;
    (void)type;
    (void)walk;
    return remove(path);
}

bool cluster_remove_tree(const char *path)
{
    return access(path, F_OK) != 0 || nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) == 0;
}

char *cluster_read_file(const char *path, size_t max)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    char *text = xmalloc(max + 1);
    if (fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        if (size > 0 && (size_t)size > max)
            fseek(file, size - (long)max, SEEK_SET);
        else
            rewind(file);
    }
    size_t length = fread(text, 1, max, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

bool postmaster_file_read(const char *data_dir, struct postmaster_file *ret_file)
{
    char *path = cluster_format("%s/postmaster.pid", data_dir);
    char *text = cluster_read_file(path, 2 * PATH_MAX);
    free(path);
    *ret_file = (struct postmaster_file){0};
    if (text == NULL)
        return false;
    char *rest = text;
    for (int line = 1; rest != NULL; line++) {
        const char *value = strsep(&rest, "\n");
        if (line == 1)
            ret_file->pid = (pid_t)atoi(value);
        else if (line == 5)
            snprintf(ret_file->socket_dir, sizeof(ret_file->socket_dir), "%s", value);
        else if (line == 8)
            ret_file->ready = strncmp(value, "ready", 5) == 0;
    }
    free(text);
    return ret_file->pid > 0;
}

bool postmaster_is_alive(const char *data_dir, pid_t pid)
{
    if (kill(pid, 0) != 0 && errno != EPERM)
        return false;
    char link[64], target[PATH_MAX], real[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
    ssize_t length = readlink(link, target, sizeof(target) - 1);
    if (length < 0)
        return errno == EACCES || errno == EPERM; /* another user's: can't tell, so be careful */
    target[length] = '\0';
    return realpath(data_dir, real) != NULL && strcmp(real, target) == 0;
}
