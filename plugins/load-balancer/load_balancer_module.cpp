#include "hash_balancer.hpp"
#include "random_balancer.hpp"
#include "round_robin_balancer.hpp"
#include "weir/module.hpp"

WEIR_MODULE(weir::loadBalancer<weir::balance::RandomBalancer>("random", {.weighted = true}),
            weir::loadBalancer<weir::balance::RoundRobinBalancer>("roundRobin", {.weighted = true}),
            weir::loadBalancer<weir::balance::HashBalancer>("hash", {.sticky = true}))
