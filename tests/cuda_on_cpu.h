// Enough of CUDA for g++ to compile attention.cu, and for a CPU to run its kernels as a GPU might.
//
// Every thread of a block is a fiber with a stack of its own.  A fiber runs until it has to wait,
// at a barrier or for the other threads of its warp, and then the next one runs: in rising, falling
// or mixed order, as the test asks, a warp going as far as it can before the next begins.  So a
// forgotten barrier does not merely risk a wrong result, as on a GPU, where threads mostly run side
// by side: it gives one every time.
//
// Seen and reported:
//   * threads that wait at different barriers, or for a thread that has already ended;
//   * reads and writes beyond an array (unreadable pages lie behind it), writes before it, writes
//     to an array that the kernel declares const;
//   * an index beyond a tile in shared memory (the compiler's -fsanitize=bounds, made a trap).
// Shared memory starts out as NaN in every block, and numbers too small to be normal count as 0, as
// they do on a card: CuPy compiles with -ftz=true.
//
// The tests add the list of kernels (KERNELS) at the end of the source.

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

using std::isfinite;
using std::max;
using std::min;

#define __device__ inline
#define __global__
#define __shared__ static __attribute__((section("shared_memory")))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(threads)

struct alignas(16) float4 {
    float x, y, z, w;
};
struct dim3 {
    unsigned x, y, z;
};
static dim3 gridDim, blockDim, blockIdx, threadIdx;

inline float __int_as_float(unsigned bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

namespace on_cpu {

constexpr int MOST_THREADS = 1024, WARP = 32;
constexpr size_t STACK = 64 * 1024;

enum State { READY, AT_BARRIER, IN_WARP, ENDED };
enum Order { RISING, FALLING, MIXED };

struct Fiber {
    State state;
    int line;           // of the source, where it waits
    int vote;           // what it brought to __syncthreads_or
    unsigned exchanges;
    uint64_t given[2];  // to the other threads of its warp; two, as some may still read the last
    jmp_buf here;
    ucontext_t start;
    dim3 index;
};

static Fiber fibers[MOST_THREADS];
static Fiber* running;
static int threads, prepared;
static int any_vote;
static jmp_buf scheduler;
static sigjmp_buf launcher;
static char message[256];
static long barriers;  // passed by a block, counted over all launches
static void (*kernel)(void**);
static void** arguments;

// A longjmp between fibers is much quicker than swapcontext, which asks the system for its signals.
static void wait(State state, int line) {
    running->state = state;
    running->line = line;
    if (!_setjmp(running->here)) _longjmp(scheduler, 1);
}

static void fiber() {
    for (;;) {
        kernel(arguments);
        wait(ENDED, 0);
    }
}

static void prepare(int count) {
    static char* stacks = (char*)mmap(nullptr, MOST_THREADS * STACK, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (; prepared < count; ++prepared) {
        static ucontext_t back;
        Fiber& one = fibers[prepared];
        getcontext(&one.start);
        one.start.uc_stack.ss_sp = stacks + prepared * STACK;
        one.start.uc_stack.ss_size = STACK;
        one.start.uc_link = &back;
        makecontext(&one.start, fiber, 0);
        one.state = ENDED;
        one.line = -1;  // not begun
    }
}

static void resume(Fiber& one) {
    running = &one;
    threadIdx = one.index;
    if (_setjmp(scheduler)) return;
    if (one.line == -1) {
        one.line = 0;
        setcontext(&one.start);
    }
    _longjmp(one.here, 1);
}

// Lets threads first ... last - 1 go on if all of them wait here and at the same line.
static bool release(State state, int first, int last) {
    for (int t = first; t < last; ++t)
        if (fibers[t].state != state || fibers[t].line != fibers[first].line) return false;
    any_vote = 0;
    for (int t = first; t < last; ++t) {
        any_vote |= fibers[t].vote;
        fibers[t].state = READY;
    }
    return true;
}

static bool run_block(int order) {
    for (int t = 0; t < threads; ++t) {
        fibers[t].state = READY;
        fibers[t].exchanges = 0;
    }
    const int warps = (threads + WARP - 1) / WARP;
    for (;;) {
        // One warp goes as far as it can before the next begins: threads that share a tile must
        // not rely on each other's pace.
        for (int n = 0; n < warps; ++n) {
            const int first = WARP * (order == RISING ? n : warps - 1 - n);
            const int last = min(first + WARP, threads);
            do {
                for (int m = 0; m < last - first; ++m) {
                    int t = order == RISING ? first + m : last - 1 - m;
                    if (order == MIXED) t = m % 2 ? first + m / 2 : last - 1 - m / 2;
                    if (fibers[t].state == READY) resume(fibers[t]);
                }
            } while (release(IN_WARP, first, last));
        }
        bool ended = true;
        for (int t = 0; t < threads; ++t) ended = ended && fibers[t].state == ENDED;
        if (ended) return true;
        if (release(AT_BARRIER, 0, threads)) {
            ++barriers;
            continue;
        }
        const char* names[] = {"is ready", "waits at the barrier", "waits for its warp",
                               "has ended"};
        for (int t = 1; t < threads; ++t)
            if (fibers[t].state != fibers[0].state || fibers[t].line != fibers[0].line) {
                snprintf(message, sizeof message,
                         "divergence: thread 0 %s (line %d), thread %d %s (line %d)",
                         names[fibers[0].state], fibers[0].line, t, names[fibers[t].state],
                         fibers[t].line);
                return false;
            }
        snprintf(message, sizeof message, "threads %s for ever (line %d)", names[fibers[0].state],
                 fibers[0].line);
        return false;
    }
}

static void stop(int signal, siginfo_t*, void*) {
    const bool trap = signal == SIGILL || signal == SIGTRAP;
    snprintf(message, sizeof message, "%s in thread %d of block (%u, %u, %u)",
             trap ? "index beyond a tile" : "access beyond an array",
             (int)(running - fibers), blockIdx.x, blockIdx.y, blockIdx.z);
    siglongjmp(launcher, 1);
}

template <class T>
T from_lane(T value, int lane, int line) {
    Fiber& me = *running;
    const int turn = me.exchanges++ % 2;
    memcpy(&me.given[turn], &value, sizeof value);
    wait(IN_WARP, line);
    memcpy(&value, &fibers[lane].given[turn], sizeof value);
    return value;
}

inline int lane() { return int(running - fibers); }

inline int wait_for_block(int line, int vote = 0) {
    running->vote = vote;
    wait(AT_BARRIER, line);
    return any_vote;
}

// -- kernels by name, and their arguments as CUDA takes them: an array of pointers ----------------

template <class T>
constexpr char letter() {  // of a C type, for the tests; small for what may only be read
    using Plain = std::remove_const_t<std::remove_pointer_t<T>>;
    constexpr bool pointer = std::is_pointer_v<T>;
    constexpr bool only_read = std::is_const_v<std::remove_pointer_t<T>>;
    if (std::is_same_v<Plain, float>) return !pointer ? '1' : only_read ? 'f' : 'F';
    if (std::is_same_v<Plain, bool>) return !pointer ? '2' : only_read ? 'b' : 'B';
    if (std::is_same_v<Plain, long long>) return !pointer ? '3' : only_read ? 'l' : 'L';
    if (std::is_same_v<Plain, int>) return !pointer ? '4' : only_read ? 'i' : 'I';
    return '?';
}

template <auto function>
struct Call;
template <class... A, void (*function)(A...)>
struct Call<function> {
    static constexpr char types[] = {letter<A>()..., 0};
    template <size_t... n>
    static void unpack(void** given, std::index_sequence<n...>) {
        function(*(A*)given[n]...);
    }
    static void call(void** given) { unpack(given, std::index_sequence_for<A...>()); }
};

struct Kernel {
    const char *name, *types;
    void (*call)(void**);
};

}  // namespace on_cpu

#define KERNEL(name) {#name, on_cpu::Call<name>::types, on_cpu::Call<name>::call},

#define __syncthreads() on_cpu::wait_for_block(__LINE__)
#define __syncthreads_or(vote) on_cpu::wait_for_block(__LINE__, (vote) != 0)
#define __shfl_xor_sync(mask, value, away) \
    on_cpu::from_lane(value, on_cpu::lane() ^ (away), __LINE__)
#define __shfl_down_sync(mask, value, away) \
    on_cpu::from_lane(value, min(on_cpu::lane() + (away), on_cpu::lane() | 31), __LINE__)

template <class T>
T atomicAdd(T* place, T value) {  // fibers take turns, so nothing can come between
    const T before = *place;
    *place += value;
    return before;
}

extern on_cpu::Kernel kernels[];  // at the end of the source; the last one has no name
extern "C" {

extern char __start_shared_memory[] __attribute__((weak, visibility("hidden")));
extern char __stop_shared_memory[] __attribute__((weak, visibility("hidden")));

int broken = 0;  // which barrier or bound is left out; 0 for none (see kernels_on_cpu.py)

long barriers_passed() { return on_cpu::barriers; }

const char* types_of(const char* name) {
    for (on_cpu::Kernel* one = kernels; one->name; ++one)
        if (!strcmp(one->name, name)) return one->types;
    return nullptr;
}

// Runs a kernel; returns what went wrong, or nothing.
const char* launch(const char* name, const unsigned* grid, const unsigned* block, void** arguments,
                   int order) {
    using namespace on_cpu;
    kernel = nullptr;
    for (Kernel* one = kernels; one->name; ++one)
        if (!strcmp(one->name, name)) kernel = one->call;
    if (!kernel) return "no such kernel";
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    const unsigned long count = (unsigned long)block[0] * block[1] * block[2];
    if (!count || count > MOST_THREADS) return "a block has 1 to 1024 threads";
    if (!grid[0] || !grid[1] || !grid[2] || grid[1] > 65535 || grid[2] > 65535)
        return "a grid has 1 to 65535 blocks along its second and third axis";
    threads = (int)count;
    on_cpu::arguments = arguments;
#ifdef __SSE__
    const unsigned rounding = _mm_getcsr();
    _mm_setcsr(rounding | 0x8040);  // flush results to zero, take arguments for zero
#endif
    prepare(threads);
    for (int t = 0; t < threads; ++t)
        fibers[t].index = {t % block[0], t / block[0] % block[1], t / (block[0] * block[1])};

    static char stack[64 * 1024];
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP};
    stack_t ours = {}, theirs;
    ours.ss_sp = stack;
    ours.ss_size = sizeof stack;
    sigaltstack(&ours, &theirs);
    struct sigaction action = {}, before[4];
    action.sa_sigaction = stop;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int n = 0; n < 4; ++n) sigaction(signals[n], &action, &before[n]);

    volatile bool fine = true;
    if (sigsetjmp(launcher, 1)) {
        fine = false;
    } else {
        for (unsigned z = 0; fine && z < grid[2]; ++z)
            for (unsigned y = 0; fine && y < grid[1]; ++y)
                for (unsigned x = 0; fine && x < grid[0]; ++x) {
                    blockIdx = {x, y, z};
                    if (__start_shared_memory)
                        memset(__start_shared_memory, 0xff,
                               __stop_shared_memory - __start_shared_memory);
                    fine = run_block(order);
                }
    }
#ifdef __SSE__
    _mm_setcsr(rounding);
#endif
    if (!fine) prepared = 0;  // fibers stand where they stopped; begin anew
    for (int n = 0; n < 4; ++n) sigaction(signals[n], &before[n], nullptr);
    sigaltstack(&theirs, nullptr);
    return fine ? nullptr : message;
}

// Memory that ends where unreadable pages begin.  All its bits are 1, so its floats are NaN.
constexpr size_t FENCE = 1 << 20;

static size_t pages(size_t bytes) { return (bytes + 4096) / 4096 * 4096; }

char* fenced(size_t bytes) {
    const size_t inside = pages(bytes);
    char* all = (char*)mmap(nullptr, inside + 2 * FENCE, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(all + FENCE, inside, PROT_READ | PROT_WRITE);
    memset(all + FENCE, 0xff, inside);
    return all + FENCE + inside - bytes;
}

void protect(char* array, size_t bytes, int writable) {
    char* start = array + bytes - pages(bytes);
    mprotect(start, pages(bytes), writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

// Whether what lies before the array, up to the start of its page, is as it was.
int untouched(char* array, size_t bytes) {
    for (char* byte = array + bytes - pages(bytes); byte < array; ++byte)
        if (*byte != '\xff') return 0;
    return 1;
}

void release_fenced(char* array, size_t bytes) {
    munmap(array + bytes - pages(bytes) - FENCE, pages(bytes) + 2 * FENCE);
}

}  // extern "C"
