/* One write to one provider's inventory, from decoded upload to published snapshot: difference,
 * transaction, own change set applied at once. Runs on a worker with its connection. */
#ifndef RACKRATE_SYNC_WRITE_H
#define RACKRATE_SYNC_WRITE_H

#include "db/inventory.h"
#include "db/upload.h"
#include "server/inventory/inventory.h"
#include "server/sync/node.h"

/* Answers an Idempotency-Key guards. */
struct idempotency {
    const char *scope; /* whose keys: the principal */
    const char *key;
    uint8_t fingerprint[32]; /* of method, path and decoded body */
};

enum write_outcome {
    WRITE_DONE,     /* committed, or dry run: change_set and upload_id are set */
    WRITE_REPLAYED, /* answered before under this Idempotency-Key: replay_status and replay_body are
                       set */
    WRITE_KEY_REUSED,    /* same Idempotency-Key, other request: 422 */
    WRITE_KEY_BUSY,      /* the first one still runs: 409 */
    WRITE_NO_PROVIDER,   /* 404 */
    WRITE_NO_OFFER,      /* a patch or delete of what is not there: 404 */
    WRITE_PRECONDITION,  /* If-Match does not hold: 412 */
    WRITE_MANY_REMOVALS, /* over half of 1,000 or more would go, unconfirmed: 409; change_set is set
                          */
    WRITE_REJECTED,      /* the patched offer is not valid: upload.errors say why: 422 */
    WRITE_MALFORMED,     /* the patch is no JSON object: error says why: 400 */
    WRITE_BUSY,          /* others hold the provider for longer than this waits: 503 */
    WRITE_UNAVAILABLE,   /* no database: 503 */
    WRITE_FAILED,        /* our bug: 500 */
};

struct write_request {
    const char *provider_slug;
    enum change_mode mode;
    /* For CHANGE_REPLACE and CHANGE_UPSERT. Names that operators gave since it was decoded are
     * resolved again in it. */
    const struct upload *upload;
    const struct alias_sets *names; /* operators' names it was decoded with; NULL: none */
    /* For one offer: a patch (CHANGE_UPSERT without upload) or CHANGE_DELETE. */
    const char *external_id;
    const char *patch;
    size_t patch_length;
    const char *if_match; /* the If-Match header, or NULL */
    bool dry_run; /* everything is done and rolled back: the answer is exact, nothing changes */
    bool skip_publish; /* a command that ends anyway: leave the catalogue alone */
    bool confirm_removals;
    struct upload_record record;
    const struct idempotency *idempotency; /* NULL: none */
    /* Makes the body to answer with (and to keep for the Idempotency-Key) from the result, inside
     * the transaction. */
    void (*render)(void *closure, const struct write_request *request,
                   const struct change_set *change_set, const char *upload_id, int64_t version,
                   struct buf *out);
    void *render_closure;
};

struct write_result {
    struct change_set change_set;
    struct upload upload; /* of a patch */
    char upload_id[37];
    int64_t version; /* of the provider after it */
    int replay_status;
    const char *replay_body;
    struct decode_error error;
    struct buf body; /* rendered; the caller frees it */
};

/* `arena` holds everything in the result. */
enum write_outcome write_inventory(struct node *node, struct db_connection *connection,
                                   const struct write_request *request, struct arena *arena,
                                   struct write_result *ret_result);

/* Brings a provider's newest state into this node's catalogue after a committed write, however far
 * behind it is. */
void publish_provider(struct node *node, struct db_connection *connection,
                      const struct provider *provider, struct arena *arena);

/* Whether an If-Match header value holds for an offer's version (`"v12"`, lists, `*`). `exists` is
 * for `*`. */
bool if_match_holds(const char *header, int64_t version, bool exists);

#endif
