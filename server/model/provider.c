/* Names of provider kinds, and what a slug may look like. */
#include "server/model/provider.h"

#include <string.h>

static const char *const kind_names[PROVIDER_KIND_COUNT] = {
    [PROVIDER_HYPERSCALER] = "hyperscaler", [PROVIDER_GPU_CLOUD] = "gpu_cloud",
    [PROVIDER_MARKETPLACE] = "marketplace", [PROVIDER_COLOCATION] = "colocation",
    [PROVIDER_RESELLER] = "reseller",
};

const char *provider_kind_name(enum provider_kind kind)
{
    return kind_names[kind];
}

bool provider_kind_parse(const char *text, enum provider_kind *ret_kind)
{
    for (size_t i = 0; i < PROVIDER_KIND_COUNT; i++) {
        if (strcmp(text, kind_names[i]) == 0) {
            *ret_kind = (enum provider_kind)i;
            return true;
        }
    }
    return false;
}

bool provider_slug_is_valid(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > PROVIDER_SLUG_MAX || text[0] == '-' || text[length - 1] == '-')
        return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}
