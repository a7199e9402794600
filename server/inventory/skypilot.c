/* Catalogue CSV as schedulers read it: a row per instance type and place, prices per node. Google's
 * machines and accelerators are rows of their own and are joined in the same zone; what can't be
 * bought alone (an accelerator without its machine) is skipped with a word. */
#include "server/inventory/row.h"
#include "server/inventory/skypilot_names.h"
#include "server/inventory/skypilot_table.h"

#include "server/base/decimal.h"

#include <stdlib.h>
#include <string.h>

/* Of a price in micro-dollars as of a quantity in thousandths: more than any machine has. */
#define CELL_MAX PRICE_MAX_MICROUSD

/* A number cell, exactly, rounded half-even beyond `decimals`; UNKNOWN where empty or none. */
static int64_t read_cell(struct row *row, enum catalogue_column column, const char *cell,
                         unsigned decimals, bool *ret_rounded)
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
        row_error(row, catalogue_column_names[column], "not_a_number",
                  "%s must be a number, not %.40s.", catalogue_column_names[column], cell);
        return UNKNOWN;
    }
    if (value < 0 || value > CELL_MAX) {
        row_error(row, catalogue_column_names[column], "out_of_range",
                  "%s must be 0 or more, at most 10,000,000.", catalogue_column_names[column]);
        return UNKNOWN;
    }
    return value;
}

static int64_t read_quantity(struct row *row, enum catalogue_column column, const char *cell)
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
    int number = catalogue_whole(hyphen + 1);
    bool chips =
        strstr(name, "lite") != NULL || strstr(name, "v6e") != NULL || strstr(name, "v5e") != NULL;
    return chips ? number * 1000 : number * 500;
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
        if (quoted[i] > PRICE_MAX_MICROUSD)
            row_error(row, "Price", "out_of_range", "A node may cost 10,000,000 USD an hour.");
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
    decoding_add(decoding, row->number, offer);
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
    offer->region_raw = decoding_keep(decoding, source->cells[COLUMN_REGION]);
    offer->zone = decoding_keep(decoding, source->cells[COLUMN_ZONE]);
    if (source->cells[COLUMN_REGION] == NULL)
        row_error(row, "Region", "missing_field", "The row has no region.");
    static const enum catalogue_column texts[] = {COLUMN_TYPE, COLUMN_NAME, COLUMN_REGION,
                                                  COLUMN_ZONE};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = source->cells[texts[i]];
        size_t length = text == NULL ? 0 : strlen(text);
        if (length > OFFER_RAW_NAME_MAX_BYTES || !text_is_clean(text, length))
            row_error(row, catalogue_column_names[texts[i]], "out_of_range",
                      "%s may be 200 bytes without control characters.",
                      catalogue_column_names[texts[i]]);
    }
    const char *type = source->cells[COLUMN_TYPE] != NULL ? source->cells[COLUMN_TYPE]
                                                          : source->cells[COLUMN_NAME];
    const char *place = catalogue_place(source);
    offer->external_id = arena_printf(decoding->arena, "%s@%s", type, place == NULL ? "" : place);
    if (strlen(offer->external_id) > OFFER_EXTERNAL_ID_MAX_BYTES)
        row_error(row, "InstanceType", "out_of_range",
                  "Instance type and place together are longer than 200 bytes.");
    row->external_id = offer->external_id;
}

static void begin(struct row *row, struct decoding *decoding, const struct catalogue_row *source)
{
    row_begin(row, decoding, source->number, "");
    row->foreign = true;
    row->price_path = catalogue_column_names[COLUMN_PRICE];
    row->vram_path = catalogue_column_names[COLUMN_INFO];
}

/* Which GPU, and how much memory each has. `type` may refine the name; NULL where it does not. */
static void name_gpu(struct decoding *decoding, const struct catalogue_row *accelerator,
                     const char *type, struct offer *offer)
{
    struct gpu_info info;
    struct named_gpu named;
    gpu_info_read(accelerator->cells[COLUMN_INFO], &decoding->scratch, &info);
    skypilot_refine(decoding, accelerator->cells[COLUMN_NAME], &info, type, offer->gpu_count_milli,
                    &named);
    offer->gpu_raw = named.raw;
    offer->vram_gb_given_milli = named.vram_gb_milli;
    if (!named.fits)
        offer->flags |= OFFER_FLAG(VRAM_FITS_NO_VARIANT);
}

/* A row with type and accelerator, or a TPU slice (whose price includes its host). */
static void take_accelerated(struct decoding *decoding, const struct catalogue_row *source)
{
    struct row row;
    struct offer offer = offer_unknown();
    begin(&row, decoding, source);
    read_common(&row, decoding, source, &offer);
    int64_t count = read_quantity(&row, COLUMN_COUNT, source->cells[COLUMN_COUNT]);
    int32_t chips = tpu_chips_milli(source->cells[COLUMN_NAME]);
    if (chips != UNKNOWN)
        count = chips;
    if (!row_failed(&row) && (count <= 0 || count > OFFER_GPU_COUNT_MAX_MILLI))
        row_error(&row, "AcceleratorCount", "out_of_range",
                  "AcceleratorCount must be over 0 and at most 100,000.");
    if (row_failed(&row)) {
        decoding->upload->rejected++;
        return;
    }
    offer.gpu_count_milli = (int32_t)count;
    name_gpu(decoding, source, source->cells[COLUMN_TYPE], &offer);
    struct amounts amounts = read_amounts(&row, source);
    finish(decoding, &row, &offer, &amounts);
}

/* A machine of Google and its accelerator in the same zone: prices added. */
static void take_machine(struct catalogue *catalogue, const struct catalogue_row *machine)
{
    struct decoding *decoding = catalogue->decoding;
    const char *name = NULL;
    int count = 0;
    struct row row;
    struct offer offer = offer_unknown();
    begin(&row, decoding, machine);
    catalogue_machine(machine->cells[COLUMN_TYPE], &name, &count);
    const struct catalogue_row *accelerator =
        catalogue_place(machine) == NULL
            ? NULL
            : catalogue_accelerator(catalogue, name, count, catalogue_place(machine));
    if (accelerator == NULL) {
        decoding->upload->skipped++;
        row_warning(&row, "InstanceType", "machine_without_accelerator",
                    "%s needs %d x %s, which has no row in this zone: no price can be told.",
                    machine->cells[COLUMN_TYPE], count, name);
        return;
    }
    read_common(&row, decoding, machine, &offer);
    offer.gpu_count_milli = count * 1000;
    name_gpu(decoding, accelerator, NULL, &offer);
    struct amounts host = read_amounts(&row, machine), card = read_amounts(&row, accelerator);
    struct amounts sum = {.on_demand_microusd = UNKNOWN, .spot_microusd = UNKNOWN};
    if (host.on_demand_microusd != UNKNOWN && card.on_demand_microusd != UNKNOWN)
        sum.on_demand_microusd = host.on_demand_microusd + card.on_demand_microusd;
    if (host.spot_microusd != UNKNOWN && card.spot_microusd != UNKNOWN)
        sum.spot_microusd = host.spot_microusd + card.spot_microusd;
    sum.rounded = host.rounded || card.rounded;
    finish(decoding, &row, &offer, &sum);
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
        struct row part;
        begin(&part, decoding, row);
        row_warning(&part, "AcceleratorName", "accelerator_without_machine",
                    "%.60s has no price of its own here: it is added to a machine's.",
                    row->cells[COLUMN_NAME]);
        decoding->upload->skipped++;
    }
}

enum decode_status decode_skypilot(struct decoding *decoding)
{
    struct catalogue *catalogue = xmalloc(sizeof(*catalogue));
    enum decode_status status = catalogue_read(catalogue, decoding);
    if (status == DECODE_OK) {
        decoding_reserve(decoding, catalogue->count);
        for (size_t i = 0; i < catalogue->count; i++) {
            arena_reset(&decoding->scratch);
            take_kept(catalogue, &catalogue->rows[i]);
        }
    }
    catalogue_free(catalogue);
    free(catalogue);
    return status;
}
