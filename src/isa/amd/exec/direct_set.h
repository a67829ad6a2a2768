/* direct_set.h: the vector operations with functions of their own in direct lists (valu_direct.h): those that compilers
 * emit in loops. All others run through their bodies there. A row of the .def files takes part if its operation is
 * defined here. */
#ifndef ISA_AMD_EXEC_DIRECT_SET_H
#define ISA_AMD_EXEC_DIRECT_SET_H

/* DIRECT_WHEN(op, ...) is the rest if the operation is in the set, else nothing. */
#define DIRECT_WHEN(op, ...) DIRECT_CAT_(DIRECT_WHEN_, DIRECT_IS_(DIRECT_SET_##op))(__VA_ARGS__)
/* The same if it has to be stamped: no file has written it by hand. DIRECT_BY_HAND is the opposite. */
#define DIRECT_STAMP(op, ...)                                                                                 \
    DIRECT_WHEN(op, DIRECT_CAT_(DIRECT_UNLESS_, DIRECT_IS_(DIRECT_HAND_##op))(__VA_ARGS__))
#define DIRECT_BY_HAND(op, ...) DIRECT_CAT_(DIRECT_WHEN_, DIRECT_IS_(DIRECT_HAND_##op))(__VA_ARGS__)
#define DIRECT_UNLESS_0(...) __VA_ARGS__
#define DIRECT_UNLESS_1(...)
#define DIRECT_WHEN_1(...) __VA_ARGS__
#define DIRECT_WHEN_0(...)
#define DIRECT_CAT_(a, b) DIRECT_CAT2_(a, b)
#define DIRECT_CAT2_(a, b) a##b
#define DIRECT_IS_(x) DIRECT_IS2_(x)
#define DIRECT_IS2_(x) DIRECT_IS3_(DIRECT_ARG_##x)
#define DIRECT_IS3_(x) DIRECT_SECOND_(x 1, 0, 0)
#define DIRECT_ARG_1 0,
#define DIRECT_SECOND_(a, b, ...) b

/* valu_direct_wide.h */
#if defined(__AVX512DQ__)
#define DIRECT_HAND_V_CNDMASK_B32 1
#define DIRECT_HAND_V_LSHLREV_B64 1
#define DIRECT_HAND_V_PERM_B32 1
#define DIRECT_HAND_V_ADD_U32 1
#define DIRECT_HAND_V_ADD_CO_U32 1
#define DIRECT_HAND_V_ADDC_U32 1
#define DIRECT_HAND_V_ADD_CO_CI_U32 1
#define DIRECT_HAND_V_RSQ_F32 1
#endif

#define DIRECT_SET_V_MOV_B32 1
#define DIRECT_SET_V_NOT_B32 1
#define DIRECT_SET_V_AND_B32 1
#define DIRECT_SET_V_OR_B32 1
#define DIRECT_SET_V_XOR_B32 1
#define DIRECT_SET_V_AND_OR_B32 1
#define DIRECT_SET_V_OR3_B32 1
#define DIRECT_SET_V_XOR3_B32 1
#define DIRECT_SET_V_CNDMASK_B32 1
#define DIRECT_SET_V_BFE_U32 1
#define DIRECT_SET_V_BFE_I32 1
#define DIRECT_SET_V_BFI_B32 1
#define DIRECT_SET_V_ALIGNBIT_B32 1
#define DIRECT_SET_V_LSHLREV_B32 1
#define DIRECT_SET_V_LSHRREV_B32 1
#define DIRECT_SET_V_ASHRREV_I32 1
#define DIRECT_SET_V_LSHLREV_B64 1
#define DIRECT_SET_V_LSHL_ADD_U32 1
#define DIRECT_SET_V_ADD_LSHL_U32 1
#define DIRECT_SET_V_LSHL_OR_B32 1
#define DIRECT_SET_V_ADD_NC_U32 1
#define DIRECT_SET_V_SUB_NC_U32 1
#define DIRECT_SET_V_SUBREV_NC_U32 1
#define DIRECT_SET_V_ADD3_U32 1
#define DIRECT_SET_V_ADD_U32 1
#define DIRECT_SET_V_SUB_U32 1
#define DIRECT_SET_V_SUBREV_U32 1
#define DIRECT_SET_V_ADD_CO_U32 1
#define DIRECT_SET_V_SUB_CO_U32 1
#define DIRECT_SET_V_ADDC_U32 1
#define DIRECT_SET_V_ADD_CO_CI_U32 1
#define DIRECT_SET_V_SUB_CO_CI_U32 1
#define DIRECT_SET_V_MUL_LO_U32 1
#define DIRECT_SET_V_MUL_HI_U32 1
#define DIRECT_SET_V_MUL_U32_U24 1
#define DIRECT_SET_V_MAD_U32_U24 1
#define DIRECT_SET_V_MAD_U64_U32 1
#define DIRECT_SET_V_MIN_I32 1
#define DIRECT_SET_V_MAX_I32 1
#define DIRECT_SET_V_MIN_U32 1
#define DIRECT_SET_V_MAX_U32 1

#define DIRECT_SET_V_ADD_F32 1
#define DIRECT_SET_V_SUB_F32 1
#define DIRECT_SET_V_SUBREV_F32 1
#define DIRECT_SET_V_MUL_F32 1
#define DIRECT_SET_V_MAD_F32 1
#define DIRECT_SET_V_MAC_F32 1
#define DIRECT_SET_V_MADAK_F32 1
#define DIRECT_SET_V_MADMK_F32 1
#define DIRECT_SET_V_FMA_F32 1
#define DIRECT_SET_V_FMAC_F32 1
#define DIRECT_SET_V_FMAAK_F32 1
#define DIRECT_SET_V_FMAMK_F32 1
#define DIRECT_SET_V_MIN_F32 1
#define DIRECT_SET_V_MAX_F32 1
#define DIRECT_SET_V_FLOOR_F32 1
#define DIRECT_SET_V_RNDNE_F32 1
#define DIRECT_SET_V_FRACT_F32 1
#define DIRECT_SET_V_RCP_F32 1
#define DIRECT_SET_V_RSQ_F32 1
#define DIRECT_SET_V_SQRT_F32 1
#define DIRECT_SET_V_CVT_F32_I32 1
#define DIRECT_SET_V_CVT_F32_U32 1
#define DIRECT_SET_V_CVT_I32_F32 1
#define DIRECT_SET_V_CVT_U32_F32 1
#define DIRECT_SET_V_CVT_F32_UBYTE0 1

#define DIRECT_SET_V_CMP_LT_F32 1
#define DIRECT_SET_V_CMP_EQ_F32 1
#define DIRECT_SET_V_CMP_LE_F32 1
#define DIRECT_SET_V_CMP_GT_F32 1
#define DIRECT_SET_V_CMP_GE_F32 1
#define DIRECT_SET_V_CMP_NGT_F32 1
#define DIRECT_SET_V_CMP_NLT_F32 1
#define DIRECT_SET_V_CMP_NEQ_F32 1
#define DIRECT_SET_V_CMP_CLASS_F32 1
#define DIRECT_SET_V_CMP_LT_I32 1
#define DIRECT_SET_V_CMP_LE_I32 1
#define DIRECT_SET_V_CMP_GT_I32 1
#define DIRECT_SET_V_CMP_GE_I32 1
#define DIRECT_SET_V_CMP_LT_U32 1
#define DIRECT_SET_V_CMP_EQ_U32 1
#define DIRECT_SET_V_CMP_LE_U32 1
#define DIRECT_SET_V_CMP_GT_U32 1
#define DIRECT_SET_V_CMP_NE_U32 1
#define DIRECT_SET_V_CMP_GE_U32 1

#endif
