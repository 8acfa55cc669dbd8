// Fibers of the emulation: one stack runs until it hands the processor to another.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace opgen_simt {

constexpr size_t stack_bytes = 128 * 1024;

using Entry = void (*)();

#if defined(__x86_64__)
struct Context {
  void* stack_pointer = nullptr;
};

// Saves the callee-saved registers on the running stack and continues on the other one.
extern "C" void opgen_simt_switch(void** from, void* to);
__asm__(
    ".pushsection .text\n"
    ".weak opgen_simt_switch\n"
    ".type opgen_simt_switch,@function\n"
    "opgen_simt_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size opgen_simt_switch,.-opgen_simt_switch\n"
    ".popsection\n");

inline void switch_context(Context& from, Context& to) { opgen_simt_switch(&from.stack_pointer, to.stack_pointer); }

inline void start_context(Context& context, char* stack, Entry entry) {
  auto top = reinterpret_cast<uintptr_t>(stack + stack_bytes) & ~uintptr_t{15};
  auto* slots = reinterpret_cast<void**>(top);
  *--slots = nullptr;  // the return address of `entry`, never used; keeps the stack aligned as after a call
  *--slots = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--slots = nullptr;
  context.stack_pointer = slots;
}
#else
struct Context {
  ucontext_t state;
};

inline void switch_context(Context& from, Context& to) { swapcontext(&from.state, &to.state); }

inline void start_context(Context& context, char* stack, Entry entry) {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = stack;
  context.state.uc_stack.ss_size = stack_bytes;
  context.state.uc_link = nullptr;
  makecontext(&context.state, entry, 0);
}
#endif

}  // namespace opgen_simt
