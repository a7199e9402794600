# From the neutral shape of one price observation a line (provider, external_id, gpu_name_raw, gpu_count, region_raw, zone_raw,
# on_demand_usd_per_hour, spot_usd_per_hour; or term_months, offering_class, payment_option, effective_usd_per_hour) to Rackrate NDJSON.
#
#   jq -c -n -f deploy/convert/neutral.jq FILE…  > offers.ndjson && rackrate import rackrate offers.ndjson
#
# Prices are per node. Lines of the same provider, id, place and machine are one offer; of two amounts for the same price the lower
# stands; a line without an id is known by its GPUs. Lines without any price are left out, 0 means there is none, amounts are rounded to millionths. gpu_memory_gib is left out: sources mean one
# GPU or all of them by it. The payment option stands in `plan`, as the sources give no percentage for partial payment.

def slug: ascii_downcase | gsub("[^a-z0-9]+"; "-") | gsub("^-|-$"; "") | .[0:63];
def money: if type == "number" and . > 0 then (. * 1000000 | round) / 1000000 else null end;
def option: {"noUpfront": "no upfront", "partialUpfront": "partial upfront", "allUpfront": "all upfront"}[.] // .;
def upfront: {"noUpfront": 0, "allUpfront": 100}[.];
def place: (.zone_raw // .region_raw // "");

def prices:
  if .term_months then
    [{billing: "reserved", term_months, plan: "\(.offering_class), \(.payment_option | option)",
      price_per_node_hour: (.effective_usd_per_hour | money), upfront_percent: (.payment_option | upfront)}]
  else
    [{billing: "on_demand", price_per_node_hour: (.on_demand_usd_per_hour | money)},
     {billing: "spot", price_per_node_hour: (.spot_usd_per_hour | money)}]
  end
  | map(select(.price_per_node_hour));

def machine: "\(.gpu_count)x \(.gpu_name_raw)" + (if .vcpus then " \(.vcpus) vCPU" else "" end) + (if .memory_gib then " \(.memory_gib) GiB" else "" end);

[inputs | select(.gpu_count > 0 and .gpu_name_raw) | . + {prices: prices} | select(.prices != [])
 | . + {slug: (.provider | slug), id: (.external_id // "\(.gpu_count)x \(.gpu_name_raw)"), machine: machine}]
# The same id and place with another GPU, count or node is another machine.
| group_by([.slug, .id, place, .machine])
| map(.[0] + {prices: (map(.prices[]) | group_by([.billing, .term_months, .upfront_percent, .plan]) | map(min_by(.price_per_node_hour)))})
| group_by([.slug, .id, place])
| .[]
| (length > 1) as $many
| .[]
| {provider: .slug,
   external_id: ((if $many then "\(.id), \(.machine)" else .id end) + (if place != "" then "@\(place)" else "" end) | .[0:200]),
   gpu: .gpu_name_raw, gpu_count: ((.gpu_count * 1000 | round) / 1000),
   node: {vcpus: (if (.vcpus // 0) > 0 then .vcpus else null end), memory_gib: (if (.memory_gib // 0) > 0 then ((.memory_gib * 1000 | round) / 1000) else null end)},
   region: (if .region_raw == "" then null else .region_raw end), zone: (if .zone_raw == "" then null else .zone_raw end),
   prices: .prices}
