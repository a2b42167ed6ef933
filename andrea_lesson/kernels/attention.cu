// Scaled dot-product attention on a GPU, as a ladder of four rungs.
//
//   rung 1  the lesson's own lines: one thread a score, one a row, one a number of the output
//   rung 2  the same three kernels, with tiles in shared memory and a warp for each row
//   rung 3  one kernel that never stores the T_q x T_k matrix ("online softmax")
//   rung 4  the gradients, from what rung 3 leaves behind
//
// Words of CUDA.  A *kernel* is a function that very many *threads* run at once.  They come in
// *blocks*; the threads of a block share a small, fast memory (__shared__) and can wait for each
// other (__syncthreads).  32 threads of a block form a *warp* and can hand each other numbers
// (__shfl_xor_sync).  Global memory holds the arrays: it is large and far away.
//
// Rows are queries i, columns are keys j.  Arrays are float32 and contiguous, the head comes first:
// Q (heads, T_q, d_k), K (heads, T_k, d_k), V (heads, T_k, d_v).  No size need be a multiple of
// anything.  No headers are included, so a driver and its compiler are all that is needed.
//
// The rules of scaled_dot_product.py hold here too: a row with no allowed key gives 0, and NaN or
// infinity reaches only the rows that can see it.

#define MINUS_INFINITY (__int_as_float(0xff800000))

// -- who may attend to whom -----------------------------------------------------------------------

// A mask is nothing, causal, or an array.  In an array, query i may attend to key j where
// cells[start[head] + i * down + j * right] is true; down or right is 0 where all rows or all
// columns share one number.
struct Mask {
    const bool* cells;  // of this head; null where there is no array
    long long down, right;
    bool causal;
    int ahead;  // the queries are the last T_q of T_k positions: query i stands at i + ahead
};

#define MASK_PARAMETERS \
    const bool *cells, const long long *start, long long down, long long right, int causal
#define MASK_OF(head) \
    Mask { cells ? cells + start[head] : cells, down, right, causal != 0, T_k - T_q }

__device__ bool sees(const Mask& mask, int i, int j) {
    if (mask.causal && j > i + mask.ahead) return false;
    return !mask.cells || mask.cells[i * mask.down + j * mask.right];
}

// =================================================================================================
// Rung 1.  One line of the lesson, one kernel.
//
// Every thread fetches all it needs from global memory: to make T x T scores, each row of Q is read
// T times and so is each row of K.  Here the time goes into waiting for memory.
// =================================================================================================

// scores = Q K^T * scale: one thread a score, as in ANDREA's own engine.
extern "C" __global__ void rung1_scores(float* scores, const float* Q, const float* K, int T_q,
                                        int T_k, int d_k, float scale, MASK_PARAMETERS) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const size_t head = blockIdx.z;
    if (i < T_q && j < T_k) {  // the last blocks reach beyond the matrix
        const float* q = Q + (head * T_q + i) * d_k;
        const float* k = K + (head * T_k + j) * d_k;
        float dot = 0.0f;
        for (int c = 0; c < d_k; ++c) dot += q[c] * k[c];
        const Mask mask = MASK_OF(head);
        scores[(head * T_q + i) * T_k + j] = sees(mask, i, j) ? dot * scale : MINUS_INFINITY;
    }
}

// weights = softmax(scores), in place: one thread a row.  A hidden key is not asked for its score,
// so that its weight is exactly 0, and an empty row meets no 0 / 0.
extern "C" __global__ void rung1_softmax(float* scores, long long rows, int T_q, int T_k,
                                         MASK_PARAMETERS) {
    const long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;  // row of all heads
    if (r < rows) {
        const Mask mask = MASK_OF(r / T_q);
        const int i = r % T_q;
        float* weights = scores + r * T_k;
        float highest = MINUS_INFINITY, total = 0.0f;
        for (int j = 0; j < T_k; ++j)
            if (sees(mask, i, j)) highest = fmaxf(highest, weights[j]);
        for (int j = 0; j < T_k; ++j)
            if (sees(mask, i, j)) total += weights[j] = expf(weights[j] - highest);
        for (int j = 0; j < T_k; ++j) weights[j] = sees(mask, i, j) ? weights[j] / total : 0.0f;
    }
}

// output = weights V: one thread a number of the output.
extern "C" __global__ void rung1_weighted_sum(float* output, const float* weights, const float* V,
                                              int T_q, int T_k, int d_v, MASK_PARAMETERS) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const size_t head = blockIdx.z;
    if (i < T_q && c < d_v) {
        const Mask mask = MASK_OF(head);
        float sum = 0.0f;
        for (int j = 0; j < T_k; ++j)
            if (sees(mask, i, j))  // 0 times NaN is NaN: what is hidden stays out of the sum
                sum += weights[(head * T_q + i) * T_k + j] * V[(head * T_k + j) * d_v + c];
        output[(head * T_q + i) * d_v + c] = sum;
    }
}

// =================================================================================================
// Rung 2.  Share what is fetched.
//
// A block of 16 x 16 threads makes 16 x 16 results.  It fetches a tile of each factor once into
// shared memory, where every number is used 16 times: global memory has 16 times less to deliver.
// Two barriers a tile: nobody multiplies before all have stored, and nobody stores the next tile
// before all have multiplied.  Shared memory is divided into 32 banks, each of which delivers one
// number at a time; one column more than needed puts the numbers of a column into different banks.
// =================================================================================================

constexpr int TILE = 16;

extern "C" __global__ void rung2_scores(float* scores, const float* Q, const float* K, int T_q,
                                        int T_k, int d_k, float scale, MASK_PARAMETERS) {
    __shared__ float Q_tile[TILE][TILE + 1];
    __shared__ float K_tile[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * TILE + y;       // the query of this thread's score
    const int j = blockIdx.x * TILE + x;       // its key
    const int stored = blockIdx.x * TILE + y;  // the key that this thread helps to store
    const size_t head = blockIdx.z;
    float dot = 0.0f;
    for (int first = 0; first < d_k; first += TILE) {
        const int c = first + x;
        Q_tile[y][x] = i < T_q && c < d_k ? Q[(head * T_q + i) * d_k + c] : 0.0f;
        K_tile[y][x] = stored < T_k && c < d_k ? K[(head * T_k + stored) * d_k + c] : 0.0f;
        __syncthreads();
        for (int n = 0; n < TILE; ++n) dot += Q_tile[y][n] * K_tile[x][n];
        __syncthreads();
    }
    if (i < T_q && j < T_k) {
        const Mask mask = MASK_OF(head);
        scores[(head * T_q + i) * T_k + j] = sees(mask, i, j) ? dot * scale : MINUS_INFINITY;
    }
}

// The highest of the numbers of a warp, or their sum: five exchanges, with the thread 16 places
// away, then 8, 4, 2, 1.  After them every thread of the warp knows it.
__device__ float highest_of_warp(float value) {
    for (int away = 16; away > 0; away /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, away));
    return value;
}

__device__ float sum_of_warp(float value) {
    for (int away = 16; away > 0; away /= 2) value += __shfl_xor_sync(0xffffffff, value, away);
    return value;
}

// Softmax with a warp for each row: neighbouring threads read neighbouring numbers, which memory
// delivers in one go.
extern "C" __global__ void rung2_softmax(float* scores, long long rows, int T_q, int T_k,
                                         MASK_PARAMETERS) {
    const int lane = threadIdx.x % 32;
    const long long r = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r < rows) {  // the same for all threads of a warp
        const Mask mask = MASK_OF(r / T_q);
        const int i = r % T_q;
        float* weights = scores + r * T_k;
        float highest = MINUS_INFINITY, total = 0.0f;
        for (int j = lane; j < T_k; j += 32)
            if (sees(mask, i, j)) highest = fmaxf(highest, weights[j]);
        highest = highest_of_warp(highest);
        for (int j = lane; j < T_k; j += 32)
            if (sees(mask, i, j)) total += weights[j] = expf(weights[j] - highest);
        total = sum_of_warp(total);
        for (int j = lane; j < T_k; j += 32)
            weights[j] = sees(mask, i, j) ? weights[j] / total : 0.0f;
    }
}

extern "C" __global__ void rung2_weighted_sum(float* output, const float* weights, const float* V,
                                              int T_q, int T_k, int d_v, MASK_PARAMETERS) {
    __shared__ float weights_tile[TILE][TILE + 1];
    __shared__ float V_tile[TILE][TILE + 1];
    __shared__ bool seen[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * TILE + y;
    const int c = blockIdx.x * TILE + x;
    const size_t head = blockIdx.z;
    const Mask mask = MASK_OF(head);
    float sum = 0.0f;
    for (int first = 0; first < T_k; first += TILE) {
        const int j = first + x;       // the key of the weight that this thread stores
        const int stored = first + y;  // the key of the value that it stores
        seen[y][x] = i < T_q && j < T_k && sees(mask, i, j);
        weights_tile[y][x] = seen[y][x] ? weights[(head * T_q + i) * T_k + j] : 0.0f;
        V_tile[y][x] = stored < T_k && c < d_v ? V[(head * T_k + stored) * d_v + c] : 0.0f;
        __syncthreads();
        for (int n = 0; n < TILE; ++n)
            if (seen[y][n]) sum += weights_tile[y][n] * V_tile[n][x];
        __syncthreads();
    }
    if (i < T_q && c < d_v) output[(head * T_q + i) * d_v + c] = sum;
}

// =================================================================================================
// Building blocks of rungs 3 and 4.
//
// A block of 128 threads works on tiles of some ROWS by some COLUMNS.  Its threads stand in
// 16 lines of 8.  Each thread makes not one number of a tile but several: rows line, line + 16, ...
// by columns lane, lane + 8, ...  What it reads from shared memory, four numbers at a time, it then
// uses several times from its registers, which are nearer still.  Which thread makes which number:
//
//              column 0    1  ...   7     8    9  ...  15    16 ...
//   row  0            0    1  ...   7     0    1  ...   7     0 ...
//   row  1            8    9  ...  15     8    9  ...  15     8 ...
//    ...
//   row 15          120  121  ... 127   120  121  ... 127   120 ...
//   row 16            0    1  ...   7     0    1  ...   7     0 ...
//
// WIDTH is the larger of d_k and d_v, rounded up to 32, 64 or 128; the columns beyond hold 0.  The
// wrapper compiles this file once for each width it meets, so that the compiler knows it and keeps
// sums in registers.  Four numbers more in each row of a tile (PAD) keep rows in different banks.
// =================================================================================================

#ifndef WIDTH
#define WIDTH 64
#endif

constexpr int LANES = 8, LINES = 16, THREADS = LANES * LINES;
constexpr int PAD = 4, PADDED = WIDTH + PAD;
constexpr int MINE = WIDTH / LANES;  // columns of a row of the output that one thread makes

#define LANE (threadIdx.x % LANES)
#define LINE (threadIdx.x / LANES)

// Four numbers that stand side by side, in one go.
__device__ float4 four(const float& first) { return *(const float4*)&first; }

// Fetch rows first, first + 1, ... of a (T, d) array; 0 beyond its end.  Returns whether this
// thread has met NaN or infinity.
template <int ROWS>
__device__ bool load(float (&tile)[ROWS][PADDED], const float* array, int first, int T, int d) {
    bool spoilt = false;
    for (int n = threadIdx.x; n < ROWS * WIDTH; n += THREADS) {
        const int row = first + n / WIDTH, c = n % WIDTH;
        const float number = row < T && c < d ? array[(size_t)row * d + c] : 0.0f;
        tile[n / WIDTH][c] = number;
        spoilt = spoilt || !isfinite(number);
    }
    return spoilt;
}

// dots[r][k] = row (line + 16 r) of A times row (lane + 8 k) of B, four columns at a time.
template <int ROWS, int COLUMNS>
__device__ void dot_products(float (&dots)[ROWS / LINES][COLUMNS / LANES],
                             const float (&A)[ROWS][PADDED], const float (&B)[COLUMNS][PADDED]) {
#pragma unroll
    for (int r = 0; r < ROWS / LINES; ++r)
#pragma unroll
        for (int k = 0; k < COLUMNS / LANES; ++k) dots[r][k] = 0.0f;
#pragma unroll 4
    for (int c = 0; c < WIDTH; c += 4) {
#pragma unroll
        for (int r = 0; r < ROWS / LINES; ++r) {
            const float4 a = four(A[LINE + LINES * r][c]);
#pragma unroll
            for (int k = 0; k < COLUMNS / LANES; ++k) {
                const float4 b = four(B[LANE + LANES * k][c]);
                dots[r][k] += a.x * b.x;
                dots[r][k] += a.y * b.y;
                dots[r][k] += a.z * b.z;
                dots[r][k] += a.w * b.w;
            }
        }
    }
}

// sum += weight * row, for the columns of this thread: 4 lane ... 4 lane + 3, and so on every 32.
__device__ void add_row(float (&sum)[MINE], float weight, const float (&row)[PADDED]) {
#pragma unroll
    for (int n = 0; n < MINE; n += 4) {
        const float4 b = four(row[4 * (LANE + LANES * (n / 4))]);
        sum[n] += weight * b.x;
        sum[n + 1] += weight * b.y;
        sum[n + 2] += weight * b.z;
        sum[n + 3] += weight * b.w;
    }
}

// sums[r] += all rows of B, each times its weight for row (line + 16 r).  Weights of hidden pairs
// are 0, which is enough where B is finite.  Where it is spoilt (0 times NaN is NaN), each pair is
// asked whether it may be seen.
template <int R, int ROWS, int COLUMNS, class Visible>
__device__ void add_weighted_rows(float (&sums)[R][MINE],
                                  const float (&weights)[ROWS][COLUMNS + PAD],
                                  const float (&B)[COLUMNS][PADDED], bool spoilt, Visible visible) {
    if (spoilt) {
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll 1
            for (int j = 0; j < COLUMNS; ++j)
                if (visible(LINE + LINES * r, j))
                    add_row(sums[r], weights[LINE + LINES * r][j], B[j]);
        return;
    }
#pragma unroll 2
    for (int j = 0; j < COLUMNS; j += 4)
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const float4 weight = four(weights[LINE + LINES * r][j]);
            add_row(sums[r], weight.x, B[j]);
            add_row(sums[r], weight.y, B[j + 1]);
            add_row(sums[r], weight.z, B[j + 2]);
            add_row(sums[r], weight.w, B[j + 3]);
        }
}

// Write this thread's part of rows first, first + 1, ... of a (T, d) array.
template <int R>
__device__ void store(float* array, const float (&sums)[R][MINE], int first, int T, int d) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
        const int row = first + LINE + LINES * r;
#pragma unroll
        for (int n = 0; n < MINE; ++n) {
            const int c = 4 * (LANE + LANES * (n / 4)) + n % 4;
            if (row < T && c < d) array[(size_t)row * d + c] = sums[r][n];
        }
    }
}

// Over the 8 threads of a line, which are neighbours in one warp.
__device__ float highest_of_line(float value) {
#pragma unroll
    for (int away = LANES / 2; away > 0; away /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, away));
    return value;
}

__device__ float sum_of_line(float value) {
#pragma unroll
    for (int away = LANES / 2; away > 0; away /= 2)
        value += __shfl_xor_sync(0xffffffff, value, away);
    return value;
}

// =================================================================================================
// Rung 3.  Never store the scores.
//
// A block takes a tile of queries and walks over the tiles of keys.  Per query it keeps what
// softmax needs to know of the keys met so far:
//
//   running_max   the highest score           (m in the paper)
//   running_sum   sum of exp(score - m)       (l in the paper)
//   sums          sum of exp(score - m) V     (the output, before the division by l)
//
// When a tile brings a higher score, earlier sums are too large by exp(new m - old m) and are
// shrunk once.  Tiles that the causal mask hides altogether are never visited, which saves nearly
// half.  For the way back one number a row is left behind: log_sum_exp = m + log(l), from which
// any weight is exp(score - log_sum_exp).
//
// Sources: Milakov and Gimelshein 2018; Dao et al. 2022 (FlashAttention), algorithm 1.
// =================================================================================================

// Wide rows leave room for fewer of them: all tiles must fit into 48 KB of shared memory, which is
// what every card grants without being asked.
constexpr int QUERIES = WIDTH <= 64 ? 64 : 32, KEYS = 32;

extern "C" __global__ void __launch_bounds__(THREADS)
    rung3_forward(float* output, float* log_sum_exp, const float* Q, const float* K,
                  const float* V, int T_q, int T_k, int d_k, int d_v, float scale,
                  MASK_PARAMETERS) {
    constexpr int R = QUERIES / LINES, N = KEYS / LANES;
    __shared__ __align__(16) float Q_tile[QUERIES][PADDED];
    __shared__ __align__(16) float KV_tile[KEYS][PADDED];  // keys first, then their values
    __shared__ __align__(16) float weights[QUERIES][KEYS + PAD];
    const size_t head = blockIdx.x;
    const Mask mask = MASK_OF(head);
    // Under a causal mask the last queries see most keys: their blocks start first.
    const int first_query = (gridDim.y - 1 - blockIdx.y) * QUERIES;
    int keys_end = T_k;
    if (causal) keys_end = min(keys_end, first_query + QUERIES + mask.ahead);

    load(Q_tile, Q + head * T_q * d_k, first_query, T_q, d_k);
    float running_max[R], running_sum[R] = {}, sums[R][MINE] = {};
    bool seen[R] = {};
#pragma unroll
    for (int r = 0; r < R; ++r) running_max[r] = MINUS_INFINITY;

    for (int first_key = 0; first_key < keys_end; first_key += KEYS) {
        // May the query in this row of the tile attend to the key in this column?
        const auto visible = [&](int row, int column) {
            const int i = first_query + row, j = first_key + column;
            return i < T_q && j < T_k && sees(mask, i, j);
        };
        load(KV_tile, K + head * T_k * d_k, first_key, T_k, d_k);
        __syncthreads();  // Q_tile and the keys are there
        float scores[R][N];
        dot_products(scores, Q_tile, KV_tile);

#pragma unroll
        for (int r = 0; r < R; ++r) {
            float highest = MINUS_INFINITY;
#pragma unroll
            for (int k = 0; k < N; ++k) {
                const bool shown = visible(LINE + LINES * r, LANE + LANES * k);
                scores[r][k] = shown ? scores[r][k] * scale : MINUS_INFINITY;
                highest = fmaxf(highest, scores[r][k]);
                seen[r] = seen[r] || shown;
            }
            highest = fmaxf(running_max[r], highest_of_line(highest));
            // -inf minus -inf is NaN, so a row that has met nothing yet is shifted by 0.
            const float shift = highest == MINUS_INFINITY ? 0.0f : highest;
            const float shrink = expf(running_max[r] - shift);
            running_max[r] = highest;
            running_sum[r] *= shrink;
#pragma unroll
            for (int n = 0; n < MINE; ++n) sums[r][n] *= shrink;
#pragma unroll
            for (int k = 0; k < N; ++k) {
                const float weight = expf(scores[r][k] - shift);  // 0 where the key is hidden
                running_sum[r] += weight;  // only this thread's keys; the line is summed at the end
                weights[LINE + LINES * r][LANE + LANES * k] = weight;
            }
        }
        __syncthreads();  // all are done with the keys
        bool spoilt = load(KV_tile, V + head * T_k * d_v, first_key, T_k, d_v);
        spoilt = __syncthreads_or(spoilt);  // weights and values are there; are all finite?
        add_weighted_rows(sums, weights, KV_tile, spoilt, visible);
        __syncthreads();  // all are done with weights and values
    }

#pragma unroll
    for (int r = 0; r < R; ++r) {
        const float total = sum_of_line(running_sum[r]);
        const bool empty = sum_of_line(seen[r]) == 0.0f;
#pragma unroll
        for (int n = 0; n < MINE; ++n) sums[r][n] = empty ? 0.0f : sums[r][n] / total;
        const int i = first_query + LINE + LINES * r;
        if (LANE == 0 && i < T_q) log_sum_exp[head * T_q + i] = running_max[r] + logf(total);
    }
    store(output + head * T_q * d_v, sums, first_query, T_q, d_v);
}

// =================================================================================================
// Rung 4.  The way back, as in backward.py, tile by tile:
//
//   weights = exp(scores * scale - log_sum_exp)        made anew, not stored
//   dweights = dO V^T
//   dscores = scale * weights * (dweights - row_mean)
//   dV = weights^T dO,   dK = dscores^T Q,   dQ = dscores K
//
// dK and dV sum over queries, dQ sums over keys.  One kernel for both would have blocks add to the
// same numbers in an order that changes from run to run; two kernels make the scores twice, and
// give the same bits every time.
//
// Source: Dao et al. 2022 (FlashAttention), algorithm 4.
// =================================================================================================

// The mean of dweights over a row, weighted by the weights, is dO times output (appendix B.2
// there): one warp a row.
extern "C" __global__ void rung4_row_mean(float* row_mean, const float* dO, const float* output,
                                          long long rows, int d_v) {
    const int lane = threadIdx.x % 32;
    const long long r = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r < rows) {
        float sum = 0.0f;
        for (int c = lane; c < d_v; c += 32) sum += dO[r * d_v + c] * output[r * d_v + c];
        sum = sum_of_warp(sum);
        if (lane == 0) row_mean[r] = sum;
    }
}

#define BACKWARD_PARAMETERS \
    const float *Q, const float *K, const float *V, const float *dO, const float *log_sum_exp, \
        const float *row_mean, int T_q, int T_k, int d_k, int d_v, float scale, MASK_PARAMETERS

constexpr int SIDE = WIDTH <= 64 ? 32 : 16;

// A block takes SIDE keys and walks over the queries.  Its tiles lie on their side: a row for each
// key, a column for each query.
extern "C" __global__ void __launch_bounds__(THREADS)
    rung4_dK_dV(float* dK, float* dV, BACKWARD_PARAMETERS) {
    constexpr int R = SIDE / LINES, N = SIDE / LANES;
    __shared__ __align__(16) float K_tile[SIDE][PADDED];
    __shared__ __align__(16) float V_tile[SIDE][PADDED];
    __shared__ __align__(16) float Q_tile[SIDE][PADDED];
    __shared__ __align__(16) float dO_tile[SIDE][PADDED];
    __shared__ __align__(16) float weights[SIDE][SIDE + PAD];
    __shared__ __align__(16) float dscores[SIDE][SIDE + PAD];
    const size_t head = blockIdx.x;
    const Mask mask = MASK_OF(head);
    const int first_key = blockIdx.y * SIDE;  // causal: the first keys, seen by most, start first
    int first_query = 0;
    if (causal) first_query = max(first_query, (first_key - mask.ahead) / SIDE * SIDE);

    load(K_tile, K + head * T_k * d_k, first_key, T_k, d_k);
    load(V_tile, V + head * T_k * d_v, first_key, T_k, d_v);
    float sums_dK[R][MINE] = {}, sums_dV[R][MINE] = {};

    for (; first_query < T_q; first_query += SIDE) {
        const auto visible = [&](int row, int column) {
            const int i = first_query + column, j = first_key + row;
            return i < T_q && j < T_k && sees(mask, i, j);
        };
        bool spoilt = load(Q_tile, Q + head * T_q * d_k, first_query, T_q, d_k);
        spoilt = load(dO_tile, dO + head * T_q * d_v, first_query, T_q, d_v) || spoilt;
        spoilt = __syncthreads_or(spoilt);  // all four tiles are there
        float scores[R][N], dweights[R][N];
        dot_products(scores, K_tile, Q_tile);
        dot_products(dweights, V_tile, dO_tile);
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int k = 0; k < N; ++k) {
                const int key = LINE + LINES * r, query = LANE + LANES * k;
                float weight = 0.0f, dscore = 0.0f;
                if (visible(key, query)) {
                    const size_t i = head * T_q + first_query + query;
                    weight = expf(scores[r][k] * scale - log_sum_exp[i]);
                    dscore = weight * (dweights[r][k] - row_mean[i]) * scale;
                }
                weights[key][query] = weight;
                dscores[key][query] = dscore;
            }
        __syncthreads();  // weights and dscores are there
        add_weighted_rows(sums_dV, weights, dO_tile, spoilt, visible);
        add_weighted_rows(sums_dK, dscores, Q_tile, spoilt, visible);
        __syncthreads();  // all are done with what the next queries will overwrite
    }
    store(dK + head * T_k * d_k, sums_dK, first_key, T_k, d_k);
    store(dV + head * T_k * d_v, sums_dV, first_key, T_k, d_v);
}

// A block takes SIDE queries and walks over the keys, as in rung 3.
extern "C" __global__ void __launch_bounds__(THREADS) rung4_dQ(float* dQ, BACKWARD_PARAMETERS) {
    constexpr int R = SIDE / LINES, N = SIDE / LANES;
    __shared__ __align__(16) float Q_tile[SIDE][PADDED];
    __shared__ __align__(16) float dO_tile[SIDE][PADDED];
    __shared__ __align__(16) float K_tile[SIDE][PADDED];
    __shared__ __align__(16) float V_tile[SIDE][PADDED];
    __shared__ __align__(16) float dscores[SIDE][SIDE + PAD];
    const size_t head = blockIdx.x;
    const Mask mask = MASK_OF(head);
    const int first_query = (gridDim.y - 1 - blockIdx.y) * SIDE;
    int keys_end = T_k;
    if (causal) keys_end = min(keys_end, first_query + SIDE + mask.ahead);

    load(Q_tile, Q + head * T_q * d_k, first_query, T_q, d_k);
    load(dO_tile, dO + head * T_q * d_v, first_query, T_q, d_v);
    float sums[R][MINE] = {};

    for (int first_key = 0; first_key < keys_end; first_key += SIDE) {
        // May the query in this row of the tile attend to the key in this column?
        const auto visible = [&](int row, int column) {
            const int i = first_query + row, j = first_key + column;
            return i < T_q && j < T_k && sees(mask, i, j);
        };
        bool spoilt = load(K_tile, K + head * T_k * d_k, first_key, T_k, d_k);
        load(V_tile, V + head * T_k * d_v, first_key, T_k, d_v);
        spoilt = __syncthreads_or(spoilt);  // all four tiles are there
        float scores[R][N], dweights[R][N];
        dot_products(scores, Q_tile, K_tile);
        dot_products(dweights, dO_tile, V_tile);
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int k = 0; k < N; ++k) {
                const int query = LINE + LINES * r, key = LANE + LANES * k;
                float dscore = 0.0f;
                if (visible(query, key)) {
                    const size_t i = head * T_q + first_query + query;
                    const float weight = expf(scores[r][k] * scale - log_sum_exp[i]);
                    dscore = weight * (dweights[r][k] - row_mean[i]) * scale;
                }
                dscores[query][key] = dscore;
            }
        __syncthreads();  // dscores are there
        add_weighted_rows(sums, dscores, K_tile, spoilt, visible);
        __syncthreads();  // all are done with what the next keys will overwrite
    }
    store(dQ + head * T_q * d_k, sums, first_query, T_q, d_k);
}
