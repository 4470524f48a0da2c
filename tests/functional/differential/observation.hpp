#pragma once

#include "functional/differential/behaviour.hpp"
#include "functional/differential/corpus.hpp"
#include "functional/differential/scripted_origin.hpp"

namespace weir::functional {

// Times in which a proxy has to give up waiting for either side; each is to be configured with them.
inline constexpr int kPatienceSeconds = 2;

// Sends the input to the proxy at `port`, whose upstream is `origin`, on a new connection, with another request behind
// it, reads until the proxy closes, and leaves no connection behind. Throws when the proxy does not close, or serves no
// plain request afterwards.
Behaviour observe(int port, ScriptedOrigin& origin, const Input& input);

}  // namespace weir::functional
