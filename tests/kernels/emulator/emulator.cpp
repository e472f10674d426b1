#include "tests/kernels/emulator/emulator.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <ucontext.h>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulator {
namespace {

enum class State { ready, at_exchange, at_barrier, done };

// A thread of the block, with its own stack. Stacks are created by makecontext and switched by
// longjmp: swapcontext makes a system call about signals every time, which takes longer than
// everything else here.
struct Fiber {
  std::jmp_buf here;
  State state = State::done;
  int line = 0;             // where it waits
  std::uint64_t value = 0;  // its value for that meeting
};

struct Warp {
  std::uint64_t exchanged[warp_lanes];
};

constexpr std::size_t stack_bytes = 65536;

Fiber fibers[most_threads];
Warp warps[most_threads / warp_lanes];
std::jmp_buf scheduler;
const std::function<void()>* kernel = nullptr;
unsigned current = 0, threads = 0;  // of the block
unsigned set_count = 0;             // the result of the last barrier
bool backwards = false;

[[noreturn]] void fail(const char* what, unsigned thread) {
  std::fprintf(stderr, "emulator: %s, line %d, block (%u, %u), thread %u\n", what,
               fibers[thread].line, blockIdx.x, blockIdx.y, thread);
  std::abort();
}

void change(std::jmp_buf& from, std::jmp_buf& to) {
  if (_setjmp(from) == 0)
    _longjmp(to, 1);
}

void resume(unsigned thread, std::jmp_buf& from) {
  current = thread;
  threadIdx.x = thread;
  change(from, fibers[thread].here);
}

// Stops the running thread until it is ready again: its neighbour runs next, or the scheduler.
void stop(State state, int line) {
  Fiber& fiber = fibers[current];
  fiber.state = state;
  fiber.line = line;
  const unsigned next = backwards ? current - 1 : current + 1;
  if (next / warp_lanes == current / warp_lanes && fibers[next].state == State::ready)
    resume(next, fiber.here);
  else
    change(fiber.here, scheduler);
}

// A fiber runs one thread after the other, block by block.
void run_threads() {
  for (;;) {
    stop(State::done, 0);
    (*kernel)();
  }
}

void make_fibers() {
  static std::unique_ptr<char[]> stacks;
  if (stacks)
    return;
  stacks.reset(new char[most_threads * stack_bytes]);
  for (current = 0; current < most_threads; ++current) {
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stacks.get() + current * stack_bytes;
    context.uc_stack.ss_size = stack_bytes;
    makecontext(&context, run_threads, 0);
    if (_setjmp(scheduler) == 0)
      setcontext(&context);  // runs up to the first stop
  }
}

// Runs until every lane waits at a barrier or has finished.
void run_warp(unsigned warp) {
  const unsigned first = warp * warp_lanes, end = std::min(first + warp_lanes, threads);
  for (;;) {
    for (unsigned k = first; k < end; ++k) {
      const unsigned thread = backwards ? end - 1 - (k - first) : k;
      if (fibers[thread].state == State::ready)
        resume(thread, scheduler);
    }
    if (std::none_of(fibers + first, fibers + end,
                     [](const Fiber& fiber) { return fiber.state == State::at_exchange; }))
      return;
    for (unsigned thread = first; thread < first + warp_lanes; ++thread) {
      if (thread >= end || fibers[thread].state != State::at_exchange)
        fail("a lane is missing where its warp meets another lane", std::min(thread, end - 1));
      if (fibers[thread].line != fibers[first].line)
        fail("lanes of a warp meet at different lines", thread);
      warps[warp].exchanged[thread - first] = fibers[thread].value;
      fibers[thread].state = State::ready;
    }
  }
}

void run_block() {
  for (unsigned thread = 0; thread < threads; ++thread)
    fibers[thread].state = State::ready;
  const unsigned count = (threads + warp_lanes - 1) / warp_lanes;
  for (;;) {
    backwards = !backwards;  // code that relies on an order then fails
    for (unsigned k = 0; k < count; ++k)
      run_warp(backwards ? count - 1 - k : k);
    if (std::all_of(fibers, fibers + threads,
                    [](const Fiber& fiber) { return fiber.state == State::done; }))
      return;
    set_count = 0;
    for (unsigned thread = 0; thread < threads; ++thread) {
      if (fibers[thread].state == State::done)
        fail("a thread has left before a barrier", thread);
      if (fibers[thread].line != fibers[0].line)
        fail("threads of a block wait at different barriers", thread);
      set_count += fibers[thread].value != 0 ? 1u : 0u;
      fibers[thread].state = State::ready;
    }
  }
}

}  // namespace

const std::uint64_t* exchange(std::uint64_t value, int line) {
  fibers[current].value = value;
  stop(State::at_exchange, line);
  return warps[current / warp_lanes].exchanged;
}

unsigned barrier(bool value, int line) {
  fibers[current].value = value ? 1 : 0;
  stop(State::at_barrier, line);
  return set_count;
}

bool run(const dim3& grid, const dim3& block, const std::function<void()>& thread) {
  const bool possible = grid.x >= 1 && grid.x < 1u << 31 && grid.y >= 1 && grid.y < 1u << 16 &&
                        grid.z == 1 && block.x >= 1 && block.x <= most_threads && block.y == 1 &&
                        block.z == 1;
  if (!possible)
    return false;
  make_fibers();
  kernel = &thread;
  gridDim = grid;
  blockDim = block;
  threads = block.x;
  static bool last_first = false;
  last_first = !last_first;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y;
  for (std::uint64_t k = 0; k < blocks; ++k) {
    const std::uint64_t at = last_first ? blocks - 1 - k : k;
    blockIdx.x = static_cast<unsigned>(at % grid.x);
    blockIdx.y = static_cast<unsigned>(at / grid.x);
    run_block();
  }
  return true;
}

}  // namespace emulator
