// Memory in pages of 2 MB instead of 4 KB.
#pragma once

namespace syncline {

// From now on this process asks for huge pages, where it has jemalloc and the kernel gives them.
// Arrays over a hundred thousand workers then take half the time. Not for simulations with actors:
// the stack of each takes only a few small pages.
void use_huge_pages();

}  // namespace syncline
