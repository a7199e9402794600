/* The answer to a write: counts, and what was wrong with rows. */
#ifndef RACKRATE_API_UPLOAD_ANSWER_H
#define RACKRATE_API_UPLOAD_ANSWER_H

#include "server/http/http.h"
#include "server/sync/write.h"

#define INLINE_ISSUES_MAX  1000
#define INLINE_CHANGES_MAX 1000

struct answer_closure {
    const struct upload *upload; /* NULL for a patch or a delete */
    bool dry_run;
};

/* write_request.render: {"upload_id","dry_run","created",…,"warnings":[…],"errors":[…]}, and
 * "changes" when dry. */
void render_upload_answer(void *closure, const struct write_request *request,
                          const struct change_set *change_set, const char *upload_id,
                          int64_t version, struct buf *out);

/* 422 with the rejected rows, at most INLINE_ISSUES_MAX; upload_id NULL where none was recorded. */
void reply_rejected(struct request *request, struct reply *reply, const struct upload *upload,
                    const char *upload_id);

/* [{"row","external_id","pointer","code","message"}, …] of at most `max` issues. */
void write_issues(struct buf *out, const struct row_issues *issues, size_t max);

/* `json`, `ndjson`, …: the format's name for the upload's record; an unknown one is looked up in
 * the bytes. */
const char *upload_format_name(enum upload_format format, const char *body, size_t length);

/* The reply for any outcome of a write. */
void reply_write_outcome(struct request *request, struct reply *reply, enum write_outcome outcome,
                         const struct write_result *result);

#endif
