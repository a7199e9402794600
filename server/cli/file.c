/* Reading what a command is given. */
#include "server/cli/cli.h"

#include "server/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)512 << 20)

char *cli_read_file(const char *path, size_t *ret_length)
{
    struct stat status;
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        fprintf(stderr, "rackrate: %s: %s\n", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct buf content = {0};
    for (;;) {
        char *place = buf_reserve(&content, 1 << 20);
        ssize_t got = read(fd, place, 1 << 20);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || content.length > FILE_MAX_BYTES) {
            if (got < 0)
                fprintf(stderr, "rackrate: %s: %s\n", path, strerror(errno));
            else if (got > 0)
                fprintf(stderr, "rackrate: %s is larger than 512 MiB\n", path);
            close(fd);
            if (got != 0) {
                buf_free(&content);
                return NULL;
            }
            return buf_detach(&content, ret_length);
        }
        content.length += (size_t)got;
    }
}
