#include "hash_balancer.hpp"
#include "least_active_balancer.hpp"
#include "p2c_balancer.hpp"
#include "random_balancer.hpp"
#include "round_robin_balancer.hpp"
#include "shortest_response_balancer.hpp"
#include "weir/module.hpp"

WEIR_MODULE(weir::loadBalancer<weir::balance::RandomBalancer>("random", {.weighted = true}),
            weir::loadBalancer<weir::balance::RoundRobinBalancer>("roundRobin", {.weighted = true}),
            weir::loadBalancer<weir::balance::HashBalancer>("hash", {.sticky = true}),
            weir::loadBalancer<weir::balance::LeastActiveBalancer>("leastActive"),
            weir::loadBalancer<weir::balance::P2cBalancer>("p2c"),
            weir::loadBalancer<weir::balance::ShortestResponseBalancer>("shortestResponse"))
