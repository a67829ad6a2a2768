/* aes.c: AES-256 in electronic code book mode. The reference follows FIPS 197 byte by byte and computes its
 * own S-box, so that it shares nothing with the kernel. */
#include "workloads/workload.h"

#include <string.h>

#define ROUNDS 14
#define KEY_BYTES 32
#define ROUND_KEY_BYTES (16 * (ROUNDS + 1))

/* In GF(2^8) with x^8 + x^4 + x^3 + x + 1. */
static uint8_t multiply(uint8_t a, uint8_t b)
{
    uint8_t product = 0;
    for (; b; b = (uint8_t)(b >> 1)) {
        if (b & 1)
            product ^= a;
        a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
    }
    return product;
}

/* The inverse of a (its 254th power), then the affine map. */
static void make_sbox(uint8_t sbox[256])
{
    for (uint32_t a = 0; a < 256; a++) {
        uint8_t inverse = 1;
        for (int i = 0; i < 254; i++)
            inverse = multiply(inverse, (uint8_t)a);
        const uint32_t doubled = inverse * 0x101u;
        sbox[a] = (uint8_t)(0x63 ^ inverse ^ doubled >> 4 ^ doubled >> 5 ^ doubled >> 6 ^ doubled >> 7);
    }
}

static void expand_key(const uint8_t sbox[256], const uint8_t key[KEY_BYTES], uint8_t out[ROUND_KEY_BYTES])
{
    memcpy(out, key, KEY_BYTES);
    uint8_t constant = 1;
    for (uint32_t i = KEY_BYTES; i < ROUND_KEY_BYTES; i += 4) {
        uint8_t word[4];
        memcpy(word, out + i - 4, 4);
        if (i % KEY_BYTES == 0) {
            const uint8_t first = word[0];
            word[0] = sbox[word[1]] ^ constant;
            word[1] = sbox[word[2]];
            word[2] = sbox[word[3]];
            word[3] = sbox[first];
            constant = multiply(constant, 2);
        } else if (i % KEY_BYTES == 16) {
            for (int b = 0; b < 4; b++)
                word[b] = sbox[word[b]];
        }
        for (uint32_t b = 0; b < 4; b++)
            out[i + b] = out[i + b - KEY_BYTES] ^ word[b];
    }
}

static void add_key(uint8_t state[16], const uint8_t *round_key)
{
    for (int i = 0; i < 16; i++)
        state[i] ^= round_key[i];
}

static void encrypt_block(const uint8_t sbox[256], const uint8_t *round_keys, uint8_t state[16])
{
    add_key(state, round_keys);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint8_t moved[16];
        for (int column = 0; column < 4; column++)
            for (int row = 0; row < 4; row++)
                moved[4 * column + row] = sbox[state[4 * ((column + row) % 4) + row]];
        for (int column = 0; column < 4; column++) {
            const uint8_t *in = moved + 4 * column;
            for (int row = 0; row < 4; row++)
                state[4 * column + row] =
                    round == ROUNDS ? in[row]
                                    : (uint8_t)(multiply(in[row], 2) ^ multiply(in[(row + 1) % 4], 3) ^
                                                in[(row + 2) % 4] ^ in[(row + 3) % 4]);
        }
        add_key(state, round_keys + 16 * round);
    }
}

static void run(wl_run *r)
{
    const uint32_t blocks = (wl_u32(r, "size") + 15) / 16;
    uint8_t *text = wl_random_u8(r, 16 * (size_t)blocks);
    uint8_t *cipher = wl_zeros(r, blocks, 16);
    const uint8_t *key = wl_random_u8(r, KEY_BYTES);
    if (wl_failed(r))
        return;
    uint8_t sbox[256], round_keys[ROUND_KEY_BYTES];
    make_sbox(sbox);
    expand_key(sbox, key, round_keys);

    wl_divide(r, (blocks + 63) / 64);
    const ls_gpu_address in = wl_divided(r, 16 * (size_t)blocks, 64 * 16, 0, 0),
                         out = wl_divided(r, 16 * (size_t)blocks, 64 * 16, 0, 0);
    wl_write(r, in, text, 16 * (size_t)blocks);
    const ls_gpu_address keys = wl_upload(r, round_keys, sizeof round_keys);
    wl_launch(r, "aes_encrypt", WL_1D(wl_round_up(blocks, 64)), WL_1D(64), WL_ARG(in), WL_ARG(out),
              WL_ARG(keys), WL_ARG(blocks));
    wl_download(r, cipher, out, 16 * (size_t)blocks);

    if (!wl_checking(r))
        return;
    for (size_t b = 0; b < blocks; b++)
        encrypt_block(sbox, round_keys, text + 16 * b);
    wl_expect_bytes(r, "cipher", cipher, text, 16 * (size_t)blocks);
}

static const wl_option options[] = {
    { "size", 65536, 1, 1u << 30, "bytes to encrypt; the last block is filled up" },
};
static const wl_workload aes = { .name = "aes",
                                 .summary = "AES-256 encryption, one block of 16 bytes per work-item",
                                 .source = "FIPS 197; the shape is Hetero-Mark's",
                                 WL_OPTIONS(options),
                                 .run = run,
                                 .divides = true };
WL_REGISTER(aes);
