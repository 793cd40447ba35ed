/* What examples/frames.c needs on a Cortex-M without an operating system: a start, and read and write by semihosting,
   from and to the files that the emulator has open as descriptors 3 and 4.

       arm-none-eabi-gcc -mthumb -mcpu=cortex-m0 -O2 -fno-tree-loop-distribute-patterns -ffreestanding -nostdlib \
         -DENTRIES=256 -Wl,--defsym=RAM_SIZE=16K -T examples/cortex_m.ld -Igenerated/c \
         examples/frames.c examples/cortex_m.c generated/c/sonnx_clip_*.c -lgcc -o frames.elf
       sonnx-clip check --exec 'qemu-system-arm -M microbit -display none -monitor none -serial none
         -semihosting-config enable=on,target=native -kernel frames.elf' */

#include <stddef.h>
#include <stdint.h>

enum { OPEN = 1, WRITE = 5, READ = 6, EXIT = 24 };  /* of Arm's semihosting specification */
#define APPLICATION_EXIT 0x20026u
#define FOR_READING 1u  /* "rb" and "wb" of fopen */
#define FOR_WRITING 5u

extern uint32_t stack_top[];
int main(void);
void reset(void);
long read(int descriptor, void *bytes, size_t count);
long write(int descriptor, const void *bytes, size_t count);

static uint32_t handles[2];

static uint32_t ask(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static uint32_t opened(const char *name, uint32_t mode) {
  const uint32_t arguments[3] = {(uint32_t)(uintptr_t)name, mode, 9};
  return ask(OPEN, arguments);
}

/* Semihosting tells how many bytes were left. */
static long moved(uint32_t operation, uint32_t handle, const void *bytes, size_t count) {
  const uint32_t arguments[3] = {handle, (uint32_t)(uintptr_t)bytes, (uint32_t)count};
  const uint32_t left = ask(operation, arguments);
  return left > count ? -1 : (long)(count - left);
}

long read(int descriptor, void *bytes, size_t count) {
  return descriptor == 3 ? moved(READ, handles[0], bytes, count) : -1;
}

long write(int descriptor, const void *bytes, size_t count) {
  return descriptor == 4 ? moved(WRITE, handles[1], bytes, count) : -1;
}

void reset(void) {
#ifdef __ARM_FP
  *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;  /* CPACR: the floating-point unit is on */
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
  handles[0] = opened("/dev/fd/3", FOR_READING);
  handles[1] = opened("/dev/fd/4", FOR_WRITING);
  (void)main();
  for (;;) (void)ask(EXIT, (const void *)(uintptr_t)APPLICATION_EXIT);
}

static void fault(void) {
  for (;;) (void)ask(EXIT, (const void *)(uintptr_t)0x20023u);  /* a run-time error: status 1 */
}

__attribute__((section(".vectors"), used)) static const struct {
  uint32_t *stack;
  void (*handlers[15])(void);
} vectors = {stack_top, {reset, fault, fault, fault, fault, fault}};
