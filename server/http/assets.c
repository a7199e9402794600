/* Files of static/ only: migrations travel in the same table but are nobody's business. */
#include "server/http/assets.h"

#include "server/base/asset.h"
#include "server/base/crypto.h"
#include "server/http/gzip.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT_SECURITY_POLICY                                                                    \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src "     \
    "'self'; "                                                                                     \
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "            \
    "require-trusted-types-for 'script'"

struct page_file {
    const struct asset *asset;
    const char *content_type;
    char etag[32];
    unsigned char *gzip;
    size_t gzip_length;
};

static struct page_file *files;
static size_t file_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *content_type_of(const char *path)
{
    static const struct {
        const char *ending;
        const char *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".md", "text/markdown; charset=utf-8"},
        {".txt", "text/plain; charset=utf-8"},
        {"LICENSE", "text/plain; charset=utf-8"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
    };
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t ending = strlen(types[i].ending);
        if (length >= ending && strcmp(path + length - ending, types[i].ending) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

static void make_table(void)
{
    size_t count = 0;
    while (asset_table[count].path != NULL)
        count++;
    files = xcalloc(count, sizeof(*files));
    for (size_t i = 0; i < count; i++) {
        const struct asset *asset = &asset_table[i];
        if (strncmp(asset->path, "static/", 7) != 0)
            continue;
        struct page_file *file = &files[file_count++];
        unsigned char hash[16];
        file->asset = asset;
        file->content_type = content_type_of(asset->path);
        crypt_hash(asset->start, asset_size(asset), hash, sizeof(hash));
        file->etag[0] = '"';
        crypt_base64url(hash, sizeof(hash), file->etag + 1);
        strcat(file->etag, "\"");
        if (asset_size(asset) >= GZIP_SMALLEST_BYTES)
            file->gzip = gzip_bytes(asset->start, asset_size(asset), 9, &file->gzip_length);
    }
}

void assets_init(void)
{
    pthread_once(&once, make_table);
}

static const struct page_file *find_file(const char *path)
{
    for (size_t i = 0; i < file_count; i++) {
        if (strcmp(files[i].asset->path + 6, path) == 0)
            return &files[i];
    }
    return NULL;
}

void asset_get(struct request *request, struct reply *reply)
{
    const char *path = request->path;
    if (strcmp(path, "/") == 0)
        path = "/index.html";
    else if (strcmp(path, "/docs") == 0)
        path = "/docs/index.html";
    else if (strcmp(path, "/docs/method") == 0)
        path = "/docs/method.html";
    const struct page_file *file = find_file(path);
    if (file == NULL) {
        reply_problem(request, reply, 404, "not-found",
                      "Nothing is at this address; /docs lists what there is.", NULL, 0);
        return;
    }
    if (strncmp(path, "/vendor/", 8) == 0)
        reply->cache_control = "public, max-age=31536000, immutable";
    reply->content_type = file->content_type;
    reply->etag = file->etag;
    if (strncmp(file->content_type, "text/html", 9) == 0) {
        reply_add_header(reply, "Content-Security-Policy", CONTENT_SECURITY_POLICY);
        reply_add_header(reply, "Referrer-Policy", "no-referrer");
        reply_add_header(reply, "X-Frame-Options", "DENY");
        reply_add_header(reply, "Cross-Origin-Opener-Policy", "same-origin");
    }
    if (reply_not_modified(request, reply, file->etag))
        return;
    reply->status = 200;
    reply->fixed = file->asset->start;
    reply->fixed_length = asset_size(file->asset);
    reply->fixed_gzip = file->gzip;
    reply->fixed_gzip_length = file->gzip_length;
}
