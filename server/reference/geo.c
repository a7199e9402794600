/* Great circles. */
#include "server/reference/place.h"

#include <math.h>

double geo_distance_km(double latitude_a, double longitude_a, double latitude_b, double longitude_b)
{
    const double radians = M_PI / 180.0;
    double phi_a = latitude_a * radians, phi_b = latitude_b * radians;
    double half_phi = sin((phi_b - phi_a) / 2),
           half_lambda = sin((longitude_b - longitude_a) * radians / 2);
    double haversine = half_phi * half_phi + cos(phi_a) * cos(phi_b) * half_lambda * half_lambda;
    /* Rounding may leave the unit interval by an ulp at antipodes. */
    haversine = haversine > 1 ? 1 : haversine;
    return 2 * EARTH_RADIUS_KM * asin(sqrt(haversine));
}
