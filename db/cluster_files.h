/* Inside db/: where things lie in a state directory, who owns them, and which PostgreSQL programs
 * there are. */
#ifndef RACKRATE_DB_CLUSTER_FILES_H
#define RACKRATE_DB_CLUSTER_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whose processes the cluster runs as. */
struct cluster_owner {
    uid_t uid;
    gid_t gid;
    bool change; /* this process is root and has to become that user */
};

/* The owner of existing data, else postgres for root, else this user. False and *ret_error where
 * root finds no such user. */
bool cluster_owner_find(const char *data_dir, struct cluster_owner *ret_owner, char **ret_error);
/* Becomes the owner, for good; in a child. */
bool cluster_owner_become(const struct cluster_owner *owner);
/* The first directory on the way to `path` that the owner can't pass through, malloc'd, or NULL. */
char *cluster_blocked_at(const struct cluster_owner *owner, const char *path);

/* The directory of initdb and postgres: of major version `major`, or the newest where that is 0.
 * Malloc'd, or NULL. */
char *cluster_programs_find(int major, int *ret_major);

/* Makes a file or directory the owner's. */
bool cluster_give(const struct cluster_owner *owner, const char *path);

/* The directory of the socket, made if missing; malloc'd, NULL and errno where it can't be. */
char *cluster_socket_dir(const struct cluster_owner *owner, const char *state_dir);
/* The libpq URL of the database `rackrate` there, malloc'd. */
char *cluster_socket_url(const char *socket_dir);

/* A directory with all its parents; true also where it is there. */
bool cluster_make_directory(const char *path, mode_t mode);
bool cluster_remove_tree(const char *path);
/* printf, malloc'd. */
char *cluster_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The whole of a small file, or the last `max` bytes of a large one, malloc'd with a NUL; NULL
 * where it can't be read. */
char *cluster_read_file(const char *path, size_t max);

/* postmaster.pid: its lines that matter. */
struct postmaster_file {
    pid_t pid;
    char socket_dir[PATH_MAX];
    bool ready;
};
bool postmaster_file_read(const char *data_dir, struct postmaster_file *ret_file);
/* Whether such a process runs and works in that data directory. */
bool postmaster_is_alive(const char *data_dir, pid_t pid);

#endif
