/* strict.S: kernels with one defect each that only strict checks find, and kernels that look like it but are fine.
 * Arguments: p, 64 bytes that the host wrote, and q, 64 bytes that it did not. v0 is the work-item, s[0:1] the
 * arguments, s2 the work-group. Names that begin with good_ have no defect. */

#if defined(TARGET_gfx803)
#define STORE(address, data) flat_store_dword address, data
#define LOAD(to, address) flat_load_dword to, address
#define LOAD2(to, address) flat_load_dwordx2 to, address
#define LOAD_BYTE(to, address) flat_load_ubyte to, address
#define ATOMIC_ADD(address, data) flat_atomic_add address, data
#define ADD(to, a, b) v_add_u32 to, vcc, a, b
#define WAVE32
#define LDS_ON s_mov_b32 m0, -1
#define EXEC exec
#define VCC vcc
#define PAIR(n, m) s[n:m]
#define SAVEEXEC s_and_saveexec_b64
#define MOV_MASK s_mov_b64
#else
#define STORE(address, data) global_store_dword address, data, off
#define LOAD(to, address) global_load_dword to, address, off
#define LOAD2(to, address) global_load_dwordx2 to, address, off
#define LOAD_BYTE(to, address) global_load_ubyte to, address, off
#define ATOMIC_ADD(address, data) global_atomic_add address, data, off
#define ADD(to, a, b) v_add_nc_u32 to, a, b
#define WAVE32 .amdhsa_wavefront_size32 1
#define LDS_ON s_nop 0
#define EXEC exec_lo
#define VCC vcc_lo
#define PAIR(n, m) s##n
#define SAVEEXEC s_and_saveexec_b32
#define MOV_MASK s_mov_b32
#endif

/* p in v[2:3], q in v[4:5]. */
.macro pointers
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v2, s4
    v_mov_b32 v3, s5
    v_mov_b32 v4, s6
    v_mov_b32 v5, s7
.endm

/* Only lane 0 of the first wave goes on. */
.macro one_lane
    v_readfirstlane_b32 s8, v0
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 0f
    MOV_MASK EXEC, 1
.endm

.macro begin name
    .text
    .globl \name
    .p2align 8
    .type \name,@function
    \name:
.endm

.macro end name
0:
    s_endpgm
    .rodata
    .p2align 6
    .amdhsa_kernel \name
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_next_free_vgpr 16
        .amdhsa_next_free_sgpr 32
        .amdhsa_group_segment_fixed_size 64
        .amdhsa_kernarg_size 16
        WAVE32
    .end_amdhsa_kernel
.endm

begin past_the_end
    pointers
    one_lane
    v_mov_b32 v6, 64
    ADD(v2, v2, v6)
    LOAD(v7, v[2:3])
end past_the_end

begin across_the_end
    pointers
    one_lane
    v_mov_b32 v6, 60
    ADD(v2, v2, v6)
    LOAD2(v[8:9], v[2:3])
end across_the_end

begin before_the_start
    pointers
    one_lane
    v_mov_b32 v6, -1
    ADD(v2, v2, v6)
    LOAD_BYTE(v7, v[2:3])
end before_the_start

begin good_last_byte
    pointers
    one_lane
    v_mov_b32 v6, 63
    ADD(v2, v2, v6)
    LOAD_BYTE(v7, v[2:3])
end good_last_byte

begin lds_past_the_end
    LDS_ON
    one_lane
    v_mov_b32 v6, 64
    v_mov_b32 v7, 0
    ds_write_b8 v6, v7
end lds_past_the_end

begin stored_vgpr
    pointers
    one_lane
    STORE(v[2:3], v7)
end stored_vgpr

begin address_vgpr
    pointers
    one_lane
    v_mov_b32 v8, v10
    LOAD(v7, v[8:9])
end address_vgpr

begin branch_sgpr
    s_add_u32 s12, s13, 1
    s_cmp_eq_u32 s12, 0
    s_cbranch_scc1 0f
    s_nop 0
end branch_sgpr

begin branch_vcc
    v_cmp_eq_u32 VCC, 0, v9
    s_cbranch_vccz 0f
    s_nop 0
end branch_vcc

begin exec_vgpr
    v_cmp_eq_u32 VCC, 0, v9
    SAVEEXEC PAIR(12, 13), VCC
    s_nop 0
end exec_vgpr

begin partial_exec
    pointers
    MOV_MASK EXEC, 0xf
    v_mov_b32 v7, 1
    MOV_MASK EXEC, 0x1f
    v_lshlrev_b32 v8, 2, v0
    ADD(v2, v2, v8)
    STORE(v[2:3], v7)
end partial_exec

begin good_moves
    pointers
    one_lane
    v_mov_b32 v8, v9
    v_and_b32 v8, 0xff00, v8
    v_lshrrev_b32 v8, 16, v8
    v_and_b32 v8, 0xf0, v8
    STORE(v[2:3], v8)
end good_moves

begin lds_undefined
    pointers
    LDS_ON
    one_lane
    v_mov_b32 v6, 16
    ds_read_b32 v7, v6
    s_waitcnt lgkmcnt(0)
    STORE(v[2:3], v7)
end lds_undefined

begin memory_undefined
    pointers
    one_lane
    LOAD(v7, v[4:5])
    s_waitcnt vmcnt(0)
    v_mul_f32 v7, v7, v7
    STORE(v[2:3], v7)
end memory_undefined

begin atomic_undefined
    pointers
    one_lane
    v_mov_b32 v7, 1
    ATOMIC_ADD(v[4:5], v7)
end atomic_undefined

begin lane_undefined
    v_readlane_b32 s12, v0, s14
end lane_undefined

/* Each wave writes its first work-item's number to the same word. */
begin lds_race
    LDS_ON
    v_readfirstlane_b32 s8, v0
    v_mov_b32 v6, 0
    v_mov_b32 v7, s8
    ds_write_b32 v6, v7
end lds_race

begin good_lds_same_value
    LDS_ON
    v_mov_b32 v6, 0
    v_mov_b32 v7, 5
    ds_write_b32 v6, v7
end good_lds_same_value

/* The first wave writes, all read: with and without a barrier between. */
.macro write_read
    LDS_ON
    v_readfirstlane_b32 s8, v0
    v_mov_b32 v6, 0
    v_mov_b32 v7, 9
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 1f
    ds_write_b32 v6, v7
    s_waitcnt lgkmcnt(0)
1:
.endm

begin lds_no_barrier
    write_read
    ds_read_b32 v8, v6
end lds_no_barrier

begin good_lds_barrier
    write_read
    s_barrier
    ds_read_b32 v8, v6
    s_waitcnt lgkmcnt(0)
end good_lds_barrier

begin wave_race
    pointers
    v_readfirstlane_b32 s8, v0
    v_mov_b32 v7, s8
    STORE(v[2:3], v7)
end wave_race

begin group_race
    pointers
    v_cmp_eq_u32 VCC, 0, v0
    SAVEEXEC PAIR(12, 13), VCC
    v_mov_b32 v7, s2
    ADD(v7, 1, v7)
    s_barrier
    STORE(v[2:3], v7)
end group_race

begin good_atomics
    pointers
    v_mov_b32 v7, 1
    ATOMIC_ADD(v[2:3], v7)
end good_atomics

begin good_own_words
    pointers
    v_and_b32 v6, 15, v0
    v_cmp_gt_u32 VCC, 16, v0
    SAVEEXEC PAIR(12, 13), VCC
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 0f
    v_lshlrev_b32 v6, 2, v6
    ADD(v4, v4, v6)
    STORE(v[4:5], v0)
    s_waitcnt vmcnt(0)
    LOAD(v7, v[4:5])
    s_waitcnt vmcnt(0)
    STORE(v[4:5], v7)
end good_own_words
