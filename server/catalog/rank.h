/* The order in which the catalogue numbers GPUs and places, so that what is asked for together lies
 * together: GPUs by family, places by continent, area and country. A family or an area is then one
 * run of ranks. Made once from the reference tables; any thread. */
#ifndef RACKRATE_CATALOG_RANK_H
#define RACKRATE_CATALOG_RANK_H

#include <stdint.h>

/* Rank of what lies nowhere known: above all others, and small, so that tables by rank stay so. */
#define RANK_NONE 4095

/* Rank of a GPU index, and back. Ranks are 0 … gpu_count()-1. */
uint16_t gpu_rank(uint16_t gpu_index);
uint16_t gpu_of_rank(uint16_t rank);

/* Rank of a place index (RANK_NONE of INDEX_NONE), and back. Ranks are 0 … place_count()-1. */
uint16_t place_rank(uint16_t place_index);
uint16_t place_of_rank(uint16_t rank);

/* One byte a rank, place_count() of them: 1 where that place is `outer` or lies in it. */
const uint8_t *places_inside(uint16_t outer_rank);

/* A hash of all that both tables say: what an answer depends on beside the data. */
uint64_t reference_hash(void);

#endif
