/* Members of a row's JSON object by name, type and range. What is wrong becomes an error of the row
 * at `base`/`name`; `null` means left out. Private to the room. */
#ifndef RACKRATE_INVENTORY_JSON_FIELDS_H
#define RACKRATE_INVENTORY_JSON_FIELDS_H

#include "server/inventory/json_reader.h"
#include "server/inventory/row.h"

struct number_rule {
    unsigned decimals;
    int64_t minimum, maximum; /* scaled by 10^decimals */
    const char *range;        /* for people */
};

/* The member unless it is missing or null. */
const struct json_value *field_present(const struct json_value *object, const char *name);

/* `base`/`name` in the scratch arena. */
const char *field_path(struct row *row, const char *base, const char *name);

/* A number, exactly, scaled; UNKNOWN when missing or refused. */
void field_number(struct row *row, const struct json_value *object, const char *base,
                  const char *name, const struct number_rule *rule, int64_t *ret);
void field_int32(struct row *row, const struct json_value *object, const char *base,
                 const char *name, const struct number_rule *rule, int32_t *ret);

/* A text of 1 to max_bytes without control characters, kept; NULL when missing or refused. */
const char *field_text(struct row *row, const struct json_value *object, const char *base,
                       const char *name, size_t max_bytes);

/* A web address of the offer, kept. */
const char *field_url(struct row *row, const struct json_value *object, const char *name);

/* An object member of the offer, or NULL when missing or of another type (an error). */
const struct json_value *field_object(struct row *row, const struct json_value *object,
                                      const char *name);

/* An error for each member that is none of the known, naming the nearest. */
void field_check_members(struct row *row, const struct json_value *object, const char *base,
                         const char *const *known, size_t count);
#define CHECK_MEMBERS(row, object, base, ...)                                                      \
    do {                                                                                           \
        static const char *const known_[] = {__VA_ARGS__};                                         \
        field_check_members(row, object, base, known_, sizeof(known_) / sizeof(known_[0]));        \
    } while (0)

#endif
