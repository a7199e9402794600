/* Where the cluster's Unix socket lies: STATE_DIR/run, or where that path is too long for a socket
 * a short directory under /tmp that STATE_DIR/socket-dir names. Only its owner may enter it, which
 * is what guards the database, since local connections are trusted. */
#include "db/cluster_files.h"

#include "server/base/arena.h"
#include "server/base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET_PATH_MAX 107 /* of struct sockaddr_un */
#define SOCKET_NAME     "/.s.PGSQL.5432"

static bool is_short_enough(const char *socket_dir)
{
    return strlen(socket_dir) + strlen(SOCKET_NAME) <= SOCKET_PATH_MAX;
}

char *cluster_socket_url(const char *socket_dir)
{
    struct buf url = {0};
    buf_add_string(&url, "postgresql:///rackrate?user=rackrate&host=");
    for (const char *at = socket_dir; *at != '\0'; at++)
        buf_printf(&url, "%%%02X", (unsigned)(unsigned char)*at);
    return buf_detach(&url, NULL);
}

/* A directory under /tmp that an earlier start made and that is still ours, or a new one; its name
 * is kept in the state directory. */
static char *short_socket_dir(const struct cluster_owner *owner, const char *state_dir)
{
    char *record = cluster_format("%s/socket-dir", state_dir);
    char *kept = cluster_read_file(record, 100);
    struct stat facts;
    if (kept != NULL && lstat(kept, &facts) == 0 && S_ISDIR(facts.st_mode) &&
        facts.st_uid == owner->uid && (facts.st_mode & 077) == 0) {
        free(record);
        return kept;
    }
    free(kept);
    char name[] = "/tmp/rackrate-XXXXXX";
    FILE *file = mkdtemp(name) == NULL ? NULL : fopen(record, "we");
    free(record);
    if (file == NULL)
        return NULL;
    fputs(name, file);
    fclose(file);
    return xstrdup(name);
}

char *cluster_socket_dir(const struct cluster_owner *owner, const char *state_dir)
{
    char *directory = cluster_format("%s/run", state_dir);
    bool good = true;
    if (!is_short_enough(directory)) {
        free(directory);
        directory = short_socket_dir(owner, state_dir);
        good = directory != NULL;
    } else if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
        good = false;
    }
    if (good && cluster_give(owner, directory))
        return directory;
    int saved = errno;
    free(directory);
    errno = saved;
    return NULL;
}
