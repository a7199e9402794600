/* Catalogue CSV as schedulers read it: a row per instance type and place, prices per node. Google's
 * machines and accelerators are rows of their own and are joined in the same zone; what can't be
 * bought alone (an accelerator without its machine) is skipped with a word. */
#include "server/inventory/csv_table.h"
#include "server/inventory/decoders.h"
#include "server/inventory/skypilot_names.h"

#include "server/base/decimal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column {
    COLUMN_TYPE,
    COLUMN_NAME,
    COLUMN_COUNT,
    COLUMN_VCPUS,
    COLUMN_MEMORY,
    COLUMN_STORAGE,
    COLUMN_INFO,
    COLUMN_PRICE,
    COLUMN_SPOT,
    COLUMN_REGION,
    COLUMN_ZONE,
    COLUMNS,
};
static const char *const column_names[COLUMNS] = {
    "InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs",
    "MemoryGiB",    "StorageGiB",      "GpuInfo",          "Price",
    "SpotPrice",    "Region",          "AvailabilityZone",
};

struct catalogue_row {
    const char *cells[COLUMNS]; /* NULL where empty */
    int64_t number;
};

struct catalogue {
    struct decoding *decoding;
    int map[CSV_COLUMNS_MAX]; /* enum column, or -1 */
    size_t width;
    struct catalogue_row *rows; /* with an accelerator, and machines that wait for one */
    size_t count, capacity;
    size_t *accelerators; /* indexes of rows without a type, sorted for the join */
    size_t accelerator_count;
    enum decode_status status;
};

/* Machine types of Google whose accelerator is fixed: prefix, accelerator, and how many of it (0:
 * the number in the type). */
static const struct {
    const char *prefix;
    const char *accelerator;
    int count;
} machines[] = {
    {"a2-highgpu-", "A100", 0},  {"a2-megagpu-", "A100", 0},      {"a2-ultragpu-", "A100-80GB", 0},
    {"a3-highgpu-", "H100", 0},  {"a3-megagpu-", "H100-MEGA", 0}, {"a3-ultragpu-", "H200", 0},
    {"a4-highgpu-", "B200", 0},  {"g2-standard-4", "L4", 1},      {"g2-standard-8", "L4", 1},
    {"g2-standard-12", "L4", 1}, {"g2-standard-16", "L4", 1},     {"g2-standard-24", "L4", 2},
    {"g2-standard-32", "L4", 1}, {"g2-standard-48", "L4", 4},     {"g2-standard-96", "L4", 8},
};

/* The accelerator a machine type carries; false where none is fixed. */
static bool machine_accelerator(const char *type, const char **ret_name, int *ret_count)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        size_t length = strlen(machines[i].prefix);
        if (strncmp(type, machines[i].prefix, length) != 0)
            continue;
        if (machines[i].count > 0 && type[length] != '\0')
            continue;
        *ret_name = machines[i].accelerator;
        *ret_count = machines[i].count > 0 ? machines[i].count : atoi(type + length);
        if (*ret_count > 0)
            return true;
    }
    return false;
}

static bool take_header(struct catalogue *catalogue, const struct csv_row *row)
{
    bool seen[COLUMNS] = {false};
    catalogue->width = row->count;
    for (size_t c = 0; c < row->count; c++) {
        catalogue->map[c] = -1;
        for (int k = 0; k < COLUMNS; k++) {
            if (strcmp(row->cells[c], column_names[k]) == 0) {
                catalogue->map[c] = k;
                seen[k] = true;
            }
        }
    }
    if (seen[COLUMN_TYPE] && seen[COLUMN_NAME] && seen[COLUMN_COUNT] && seen[COLUMN_PRICE] &&
        seen[COLUMN_REGION])
        return true;
    decoding_fail(catalogue->decoding, 1,
                  "This is no SkyPilot catalogue: the header needs InstanceType, AcceleratorName, "
                  "AcceleratorCount, "
                  "Price and Region.");
    return false;
}

static bool take_row(void *closure, const struct csv_row *row)
{
    struct catalogue *catalogue = closure;
    struct decoding *decoding = catalogue->decoding;
    if (row->number == 1) {
        catalogue->status = take_header(catalogue, row) ? DECODE_OK : DECODE_MALFORMED;
        return catalogue->status == DECODE_OK;
    }
    if (row->count == 1 && row->lengths[0] == 0)
        return true;
    if (!decoding_count_row(decoding, 0)) {
        catalogue->status = DECODE_TOO_LARGE;
        return false;
    }
    /* One field more than the header is Azure's unquoted `V1,V2` in its last column. */
    if (row->count < catalogue->width || row->count > catalogue->width + 1) {
        decoding_fail(decoding, row->number, "Row %lld has %zu fields, the header has %zu.",
                      (long long)row->number, row->count, catalogue->width);
        catalogue->status = DECODE_MALFORMED;
        return false;
    }
    const char *cells[COLUMNS] = {NULL};
    for (size_t c = 0; c < catalogue->width; c++) {
        if (catalogue->map[c] >= 0 && row->lengths[c] > 0)
            cells[catalogue->map[c]] = row->cells[c];
    }
    const char *name;
    int count;
    bool accelerated = cells[COLUMN_NAME] != NULL && cells[COLUMN_COUNT] != NULL;
    bool machine = !accelerated && cells[COLUMN_TYPE] != NULL &&
                   machine_accelerator(cells[COLUMN_TYPE], &name, &count);
    if (!accelerated && !machine) {
        decoding->upload->skipped++; /* a machine without a GPU is no offer */
        return true;
    }
    if (catalogue->count == catalogue->capacity) {
        catalogue->capacity = catalogue->capacity == 0 ? 256 : catalogue->capacity * 2;
        catalogue->rows = xrealloc(catalogue->rows, catalogue->capacity * sizeof(*catalogue->rows));
    }
    struct catalogue_row *kept = &catalogue->rows[catalogue->count++];
    kept->number = row->number;
    for (int k = 0; k < COLUMNS; k++)
        kept->cells[k] = arena_strdup(decoding->arena, cells[k]);
    return true;
}

/* A number cell, exactly, rounded half-even beyond `decimals`; UNKNOWN where empty or none. */
static int64_t read_cell(struct row *row, enum column column, const char *cell, unsigned decimals,
                         bool *ret_rounded)
{
    int64_t value;
    *ret_rounded = false;
    if (cell == NULL)
        return UNKNOWN;
    switch (decimal_parse_json(cell, strlen(cell), decimals, true, &value)) {
    case DECIMAL_OK:
        break;
    case DECIMAL_ROUNDED:
        *ret_rounded = true;
        break;
    case DECIMAL_MALFORMED:
    case DECIMAL_TOO_PRECISE:
    case DECIMAL_OUT_OF_RANGE:
        row_error(row, column_names[column], "not_a_number", "%s must be a number, not %.40s.",
                  column_names[column], cell);
        return UNKNOWN;
    }
    if (value < 0) {
        row_error(row, column_names[column], "out_of_range", "%s must not be negative.",
                  column_names[column]);
        return UNKNOWN;
    }
    return value;
}

static int64_t read_quantity(struct row *row, enum column column, const char *cell)
{
    bool rounded;
    int64_t value = read_cell(row, column, cell, 3, &rounded);
    return value == 0 ? UNKNOWN : value;
}

/* Chips of a TPU slice: the number in tpu-v5p-128 counts TensorCores, two a chip, up to v5p;
 * v5litepod and v6e count chips. */
static int32_t tpu_chips_milli(const char *name)
{
    const char *hyphen = strrchr(name, '-');
    if (strncmp(name, "tpu-", 4) != 0 || hyphen == NULL ||
        strspn(hyphen + 1, "0123456789") != strlen(hyphen + 1) || hyphen[1] == '\0')
        return UNKNOWN;
    int number = atoi(hyphen + 1);
    bool chips =
        strstr(name, "lite") != NULL || strstr(name, "v6e") != NULL || strstr(name, "v5e") != NULL;
    return chips ? number * 1000 : number * 500;
}

static const char *place_of(const struct catalogue_row *source)
{
    return source->cells[COLUMN_ZONE] != NULL ? source->cells[COLUMN_ZONE]
                                              : source->cells[COLUMN_REGION];
}

struct amounts {
    int64_t on_demand_microusd, spot_microusd; /* UNKNOWN where none */
    bool rounded;
};

static struct amounts read_amounts(struct row *row, const struct catalogue_row *source)
{
    bool rounded, spot_rounded;
    struct amounts amounts = {
        .on_demand_microusd =
            read_cell(row, COLUMN_PRICE, source->cells[COLUMN_PRICE], 6, &rounded),
        .spot_microusd = read_cell(row, COLUMN_SPOT, source->cells[COLUMN_SPOT], 6, &spot_rounded),
    };
    amounts.rounded = rounded || spot_rounded;
    if (amounts.on_demand_microusd == 0)
        amounts.on_demand_microusd = UNKNOWN;
    if (amounts.spot_microusd == 0)
        amounts.spot_microusd = UNKNOWN; /* 0.00 means there is none */
    return amounts;
}

static void finish(struct decoding *decoding, struct row *row, struct offer *offer,
                   const struct amounts *amounts)
{
    struct price *prices = arena_calloc(decoding->arena, 2, sizeof(*prices));
    size_t count = 0;
    const int64_t quoted[] = {amounts->on_demand_microusd, amounts->spot_microusd};
    for (size_t i = 0; i < 2; i++) {
        if (quoted[i] == UNKNOWN)
            continue;
        prices[count++] = (struct price){
            .billing = i == 0 ? BILLING_ON_DEMAND : BILLING_SPOT,
            .quoted_per = PRICE_PER_NODE,
            .quoted_microusd = quoted[i],
            .min_gpus = UNKNOWN,
            .max_gpus = UNKNOWN,
            .upfront_percent_milli = UNKNOWN,
        };
    }
    if (count == 0 && !row_failed(row))
        row_error(row, "Price", "missing_field", "The row has no price.");
    row_finish_offer(row, offer, prices, count);
    if (row_failed(row)) {
        decoding->upload->rejected++;
        return;
    }
    if (amounts->rounded) {
        offer->flags |= OFFER_FLAG(PRICE_ROUNDED);
        row_warning(row, "Price", "price_rounded",
                    "The price has more than six decimals and was rounded half to even.");
    }
    decoding_add(decoding, row, offer);
}

/* What machine and accelerator rows share. */
static void read_common(struct row *row, struct decoding *decoding,
                        const struct catalogue_row *source, struct offer *offer)
{
    offer->vcpus_milli = read_quantity(row, COLUMN_VCPUS, source->cells[COLUMN_VCPUS]);
    offer->memory_gib_milli = read_quantity(row, COLUMN_MEMORY, source->cells[COLUMN_MEMORY]);
    int64_t storage_gib = read_quantity(row, COLUMN_STORAGE, source->cells[COLUMN_STORAGE]);
    bool overflow;
    if (storage_gib != UNKNOWN) /* GiB in the catalogue, GB here */
        offer->storage_gb_milli =
            decimal_muldiv_half_even(storage_gib, 1073741824, 1000000000, &overflow);
    offer->region_raw = source->cells[COLUMN_REGION];
    offer->zone = source->cells[COLUMN_ZONE];
    if (source->cells[COLUMN_REGION] == NULL)
        row_error(row, "Region", "missing_field", "The row has no region.");
    const char *texts[] = {source->cells[COLUMN_TYPE], source->cells[COLUMN_NAME],
                           source->cells[COLUMN_REGION], source->cells[COLUMN_ZONE]};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (const char *c = texts[i]; c != NULL && *c != '\0'; c++) {
            if ((unsigned char)*c < 0x20 || *c == 0x7f) {
                row_error(row, "", "out_of_range", "The row holds a control character.");
                break;
            }
        }
    }
    const char *type = source->cells[COLUMN_TYPE] != NULL ? source->cells[COLUMN_TYPE]
                                                          : source->cells[COLUMN_NAME];
    const char *place = place_of(source);
    offer->external_id = arena_printf(decoding->arena, "%s@%s", type, place == NULL ? "" : place);
    if (strlen(offer->external_id) > OFFER_EXTERNAL_ID_MAX_BYTES)
        row_error(row, "InstanceType", "out_of_range",
                  "Instance type and place together are longer than 200 bytes.");
    row->external_id = offer->external_id;
}

/* A row with type and accelerator, or a TPU slice (whose price includes its host). */
static void take_accelerated(struct decoding *decoding, const struct catalogue_row *source)
{
    struct row row;
    struct offer offer = offer_unknown();
    struct gpu_info info;
    row_begin(&row, decoding->arena, decoding->upload, decoding->options, source->number, "");
    row.foreign = true;
    read_common(&row, decoding, source, &offer);
    int64_t count = read_quantity(&row, COLUMN_COUNT, source->cells[COLUMN_COUNT]);
    int32_t chips = tpu_chips_milli(source->cells[COLUMN_NAME]);
    if (count == UNKNOWN && !row_failed(&row))
        row_error(&row, "AcceleratorCount", "out_of_range", "AcceleratorCount must be over 0.");
    if (count > OFFER_GPU_COUNT_MAX_MILLI)
        row_error(&row, "AcceleratorCount", "out_of_range", "AcceleratorCount may be 100,000.");
    offer.gpu_count_milli = chips != UNKNOWN ? chips : (int32_t)count;
    gpu_info_read(source->cells[COLUMN_INFO], decoding->arena, &info);
    offer.gpu_raw = skypilot_refine_name(source->cells[COLUMN_NAME], &info,
                                         source->cells[COLUMN_TYPE], decoding->arena);
    bool fits;
    offer.vram_gb_given_milli =
        skypilot_vram_gb_milli(offer.gpu_raw, &info, offer.gpu_count_milli, &fits);
    if (!fits)
        offer.flags |= OFFER_FLAG(VRAM_FITS_NO_VARIANT);
    struct amounts amounts = read_amounts(&row, source);
    finish(decoding, &row, &offer, &amounts);
}

/* qsort takes no closure; each thread sorts one catalogue at a time. */
static __thread const struct catalogue_row *sorted_rows;

static int compare_accelerators(const void *a, const void *b)
{
    const struct catalogue_row *left = &sorted_rows[*(const size_t *)a],
                               *right = &sorted_rows[*(const size_t *)b];
    int order = strcmp(left->cells[COLUMN_NAME], right->cells[COLUMN_NAME]);
    if (order == 0)
        order = strcmp(place_of(left), place_of(right));
    if (order == 0)
        order = atoi(left->cells[COLUMN_COUNT]) - atoi(right->cells[COLUMN_COUNT]);
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

/* The accelerator row of (name, count) in a place, or NULL. */
static const struct catalogue_row *find_accelerator(const struct catalogue *catalogue,
                                                    const char *name, int count, const char *place)
{
    for (size_t low = 0, high = catalogue->accelerator_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        const struct catalogue_row *row = &catalogue->rows[catalogue->accelerators[middle]];
        int order = strcmp(row->cells[COLUMN_NAME], name);
        if (order == 0)
            order = strcmp(place_of(row), place);
        if (order == 0)
            order = atoi(row->cells[COLUMN_COUNT]) - count;
        if (order == 0)
            return row;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* A machine of Google and its accelerator in the same zone: prices added. */
static void take_machine(struct catalogue *catalogue, const struct catalogue_row *machine)
{
    struct decoding *decoding = catalogue->decoding;
    const char *name = NULL;
    int count = 0;
    struct row row;
    struct offer offer = offer_unknown();
    struct gpu_info info;
    row_begin(&row, decoding->arena, decoding->upload, decoding->options, machine->number, "");
    row.foreign = true;
    machine_accelerator(machine->cells[COLUMN_TYPE], &name, &count);
    const struct catalogue_row *accelerator =
        place_of(machine) == NULL ? NULL
                                  : find_accelerator(catalogue, name, count, place_of(machine));
    if (accelerator == NULL) {
        decoding->upload->skipped++;
        row_warning(&row, "InstanceType", "machine_without_accelerator",
                    "%s needs %d x %s, which has no row in this zone: no price can be told.",
                    machine->cells[COLUMN_TYPE], count, name);
        return;
    }
    read_common(&row, decoding, machine, &offer);
    offer.gpu_count_milli = count * 1000;
    gpu_info_read(accelerator->cells[COLUMN_INFO], decoding->arena, &info);
    offer.gpu_raw = accelerator->cells[COLUMN_NAME];
    bool fits;
    offer.vram_gb_given_milli =
        skypilot_vram_gb_milli(offer.gpu_raw, &info, offer.gpu_count_milli, &fits);
    if (!fits)
        offer.flags |= OFFER_FLAG(VRAM_FITS_NO_VARIANT);
    struct amounts host = read_amounts(&row, machine), card = read_amounts(&row, accelerator);
    struct amounts sum = {.on_demand_microusd = UNKNOWN, .spot_microusd = UNKNOWN};
    if (host.on_demand_microusd != UNKNOWN && card.on_demand_microusd != UNKNOWN)
        sum.on_demand_microusd = host.on_demand_microusd + card.on_demand_microusd;
    if (host.spot_microusd != UNKNOWN && card.spot_microusd != UNKNOWN)
        sum.spot_microusd = host.spot_microusd + card.spot_microusd;
    sum.rounded = host.rounded || card.rounded;
    finish(decoding, &row, &offer, &sum);
}

static bool same_row(const struct catalogue_row *a, const struct catalogue_row *b)
{
    for (int k = 0; k < COLUMNS; k++) {
        const char *x = a->cells[k], *y = b->cells[k];
        if ((x == NULL) != (y == NULL) || (x != NULL && strcmp(x, y) != 0))
            return false;
    }
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct catalogue_row *left = a, *right = b;
    for (int k = 0; k < COLUMNS; k++) {
        const char *x = left->cells[k] == NULL ? "" : left->cells[k],
                   *y = right->cells[k] == NULL ? "" : right->cells[k];
        int order = strcmp(x, y);
        if (order != 0)
            return order;
    }
    return (left->number > right->number) - (left->number < right->number);
}

/* Exact repetitions are skipped, each with a word. */
static void drop_repetitions(struct catalogue *catalogue)
{
    size_t kept = 0;
    if (catalogue->count > 1)
        qsort(catalogue->rows, catalogue->count, sizeof(*catalogue->rows), compare_rows);
    for (size_t i = 0; i < catalogue->count; i++) {
        if (kept > 0 && same_row(&catalogue->rows[kept - 1], &catalogue->rows[i])) {
            struct row row;
            row_begin(&row, catalogue->decoding->arena, catalogue->decoding->upload,
                      catalogue->decoding->options, catalogue->rows[i].number, "");
            row_warning(&row, "", "exact_duplicate", "Row %lld says exactly the same.",
                        (long long)catalogue->rows[kept - 1].number);
            catalogue->decoding->upload->skipped++;
            continue;
        }
        catalogue->rows[kept++] = catalogue->rows[i];
    }
    catalogue->count = kept;
}

static void index_accelerators(struct catalogue *catalogue)
{
    catalogue->accelerators = xcalloc(catalogue->count, sizeof(*catalogue->accelerators));
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct catalogue_row *row = &catalogue->rows[i];
        if (row->cells[COLUMN_TYPE] == NULL && row->cells[COLUMN_NAME] != NULL &&
            place_of(row) != NULL)
            catalogue->accelerators[catalogue->accelerator_count++] = i;
    }
    sorted_rows = catalogue->rows;
    qsort(catalogue->accelerators, catalogue->accelerator_count, sizeof(*catalogue->accelerators),
          compare_accelerators);
}

static void take_kept(struct catalogue *catalogue, const struct catalogue_row *row)
{
    struct decoding *decoding = catalogue->decoding;
    bool accelerated = row->cells[COLUMN_NAME] != NULL;
    if (!accelerated) {
        take_machine(catalogue, row);
    } else if (row->cells[COLUMN_TYPE] != NULL ||
               tpu_chips_milli(row->cells[COLUMN_NAME]) != UNKNOWN) {
        take_accelerated(decoding, row);
    } else {
        /* Bought only with a machine: those with a fixed machine are priced there, the others with
         * any machine of the buyer's choice. */
        decoding->upload->skipped++;
    }
}

enum decode_status decode_skypilot(struct decoding *decoding)
{
    struct catalogue catalogue = {.decoding = decoding};
    int64_t line;
    const char *problem =
        csv_table_read(decoding->bytes, decoding->length, take_row, &catalogue, &line);
    if (problem != NULL) {
        decoding_fail(decoding, line, "Row %lld: %s", (long long)line, problem);
        catalogue.status = DECODE_MALFORMED;
    } else if (catalogue.width == 0 && catalogue.status == DECODE_OK) {
        decoding_fail(decoding, 1, "The file is empty; a catalogue starts with a header.");
        catalogue.status = DECODE_MALFORMED;
    }
    if (catalogue.status == DECODE_OK) {
        drop_repetitions(&catalogue);
        index_accelerators(&catalogue);
        for (size_t i = 0; i < catalogue.count; i++)
            take_kept(&catalogue, &catalogue.rows[i]);
    }
    free(catalogue.accelerators);
    free(catalogue.rows);
    return catalogue.status;
}
