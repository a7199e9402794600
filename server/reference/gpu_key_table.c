/* What products are called beyond their slugs. Keys that follow from slugs by rule (4090, 4080s,
 * a4000) are made in gpu_keys.c. */
#include "server/reference/gpu_keys.h"

#include "server/model/offer.h"

/* Bare names that several products bear, and sizes beside the nominal one. */
const struct gpu_conditional_key gpu_conditional_keys[] = {
    /* Bare names that several products bear. Turing's Quadro cards lost the word Quadro in many
     * price lists, Ada's and Blackwell's their last word. The size decides, or the architecture. */
    {"rtx4000", 8000, ERA_TURING, "quadro-rtx-4000"},
    {"rtx4000", 20000, ERA_ADA, "rtx-4000-ada"},
    {"rtx4000", 24000, ERA_BLACKWELL, "rtx-pro-4000"},
    {"rtx4500", 24000, ERA_ADA, "rtx-4500-ada"},
    {"rtx4500", 32000, ERA_BLACKWELL, "rtx-pro-4500"},
    {"rtx5000", 16000, ERA_TURING, "quadro-rtx-5000"},
    {"rtx5000", 32000, ERA_ADA, "rtx-5000-ada"},
    {"rtx5000", 48000, ERA_BLACKWELL, "rtx-pro-5000"},
    {"rtx5000", 72000, ERA_BLACKWELL, "rtx-pro-5000"},
    {"rtx6000", 24000, ERA_TURING, "quadro-rtx-6000"},
    {"rtx6000", 48000, ERA_ADA, "rtx-6000-ada"},
    {"rtx6000", 96000, ERA_BLACKWELL, "rtx-pro-6000"},
    /* Sizes that belong to the product though they aren't its nominal one: what is fitted against
     * what software may use, announced against shipped, a superchip's other memory. */
    {"b200", 192000, ERA_UNSAID, "b200"},
    {"b300", 288000, ERA_UNSAID, "b300"},
    {"gb200", 192000, ERA_UNSAID, "gb200"},
    {"mi325x", 288000, ERA_UNSAID, "mi325x"},
    {"gh200", 480000, ERA_UNSAID, "gh200-96gb"},
    {"h20", 141000, ERA_UNSAID, "h20-3e"},
};
const size_t gpu_conditional_key_count =
    sizeof(gpu_conditional_keys) / sizeof(gpu_conditional_keys[0]);

const struct gpu_key gpu_key_table[] = {
    /* NVIDIA data centre */
    {"h100mega", "h100"},
    {"gh200grace", "gh200"},
    {"gb200grace", "gb200"},
    {"gb300grace", "gb300"},
    {"b300ultra", "b300"},
    {"b300ac", "b300"}, /* cooled by air, by liquid */
    {"b300lc", "b300"},
    {"h203e", "h20-3e"},

    /* NVIDIA workstation */
    {"quadrortxa2000", "rtx-a2000"},
    {"quadrortxa4000", "rtx-a4000"},
    {"quadrortxa5000", "rtx-a5000"},
    {"quadrortxa6000", "rtx-a6000"},
    {"rtx8000", "quadro-rtx-8000"},
    {"rtx5880", "rtx-5880-ada"},
    {"rtxada2000", "rtx-2000-ada"},
    {"rtxada4000", "rtx-4000-ada"},
    {"rtxada4500", "rtx-4500-ada"},
    {"rtxada5000", "rtx-5000-ada"},
    {"rtxada6000", "rtx-6000-ada"},
    {"ada6000", "rtx-6000-ada"},
    {"rtx4000adasff", "rtx-4000-sff-ada"},
    {"rtxpro6000ws", "rtx-pro-6000-workstation"},
    {"rtxpro6000wk", "rtx-pro-6000-workstation"},
    {"rtxpro6000se", "rtx-pro-6000-server"},
    {"rtxpro6000s", "rtx-pro-6000-server"},
    {"rtxpro6000maxqworkstation", "rtx-pro-6000-maxq"},
    {"rtxpro6000workstationmaxq", "rtx-pro-6000-maxq"},

    /* AMD */
    {"prov520", "v520"},
    {"prov620", "v620"},
    {"prov710", "v710"},
    {"prow7900", "w7900"},
    {"7900xtx", "rx-7900-xtx"},
    {"u30media", "u30"},

    /* Intel: HL is Habana's order number */
    {"gaudi1", "gaudi"},
    {"hl205", "gaudi"},
    {"gaudihl205", "gaudi"},
    {"hl225", "gaudi-2"},
    {"gaudihl225", "gaudi-2"},
    {"gaudi2hl225", "gaudi-2"},
    {"hl325", "gaudi-3"},
    {"gaudi3hl325", "gaudi-3"},

    /* Google */
    {"tpuv5lite", "tpu-v5e"},
    {"tpuv5litepod", "tpu-v5e"},
    {"v5litepod", "tpu-v5e"},
    {"v5e", "tpu-v5e"},
    {"v5p", "tpu-v5p"},
    {"v6e", "tpu-v6e"},
    {"trillium", "tpu-v6e"},
    {"tputrillium", "tpu-v6e"},
    {"tpuv6etrillium", "tpu-v6e"},
    {"ironwood", "tpu-v7"},
    {"tpuironwood", "tpu-v7"},
    {"tpuv7ironwood", "tpu-v7"},
    {"tpu7x", "tpu-v7"},
    {"tpuv7x", "tpu-v7"},

    /* AWS */
    {"trainium1", "trainium"},
    {"trn1", "trainium"},
    {"trn2", "trainium-2"},
    {"trn3", "trainium-3"},
    {"inferentia1", "inferentia"},
    {"inf1", "inferentia"},
    {"inf2", "inferentia-2"},
};
const size_t gpu_key_table_count = sizeof(gpu_key_table) / sizeof(gpu_key_table[0]);
