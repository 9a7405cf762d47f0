"""Mistakes that people make in such kernels, each made here by changing one place of a right one.

A mutant that passes the rung's check means that the check is blind to that mistake. All mutants of a rung are in one
program, each in a namespace, and the environment says which is launched: so nvcc reads the headers once.
"""
import re

from rungs import RUNGS

# name, pattern that matches one place of kernel.cu, what takes its place, arguments that show it (and NAME=value)

# Made in every gemm in which the pattern has exactly one place.
EVERY_GEMM = [
    ('grid_of_n_by_m', r'tiles_to_cover\(n, TILE_N\), tiles_to_cover\(m, TILE_M\)',
     'tiles_to_cover(m, TILE_M), tiles_to_cover(n, TILE_N)', '-m 200 -n 1304 -k 72'),
    ('last_columns_left_out', r'tiles_to_cover\(n, TILE_N\)', '(n > TILE_N ? (n - 1) / TILE_N : 1)', '-m 200 -n 304 -k 72'),
    ('last_rows_left_out', r'tiles_to_cover\(m, TILE_M\)', '(m > TILE_M ? (m - 1) / TILE_M : 1)', '-m 300 -n 136 -k 72'),
    ('last_products_left_out', r'k0 < k; k0 \+= TILE_K', 'k0 < k - TILE_K; k0 += TILE_K', '-m 200 -n 136 -k 136'),
    ('a_for_b', r'b_gmem, (n0|col),', r'a_gmem, \1,', '-m 200 -n 136 -k 72'),
    ('one_nan', r'__float2half\((acc\S*)\);', r'__float2half(row == 99 && col == 77 ? nanf("") : \1);', '-m 200 -n 136 -k 72'),
    ('one_off_by_one', r'__float2half\((acc\S*)\);', r'__float2half(row == 99 && col == 77 ? \1 + 1 : \1);',
     '-m 200 -n 136 -k 72'),
    ('one_not_stored', r'(c_gmem\[.*= __float2half)', r'if (row != 99 || col != 77) \1', '-m 200 -n 136 -k 72'),
    ('one_not_stored_of_many', r'(c_gmem\[.*= __float2half)', r'if (row != 999 || col != 777) \1', '-m 1025 -n 1032 -k 152'),
    ('columns_of_c_reversed', r'c_gmem\[\(size_t\)row \* n \+ col\]', 'c_gmem[(size_t)row * n + n - 1 - col]',
     '-m 200 -n 136 -k 72'),
    ('no_barrier_before_use', r'__syncthreads\(\);  *.. the tile is complete ..', '', '-m 200 -n 136 -k 72'),
    ('row_bound_of_c_left_out', r'row < m && col < n', 'col < n', '-m 200 -n 136 -k 72'),
    ('column_bound_of_c_left_out', r'row < m && col < n', 'row < m', '-m 200 -n 136 -k 72'),
    ('tile_moved_by_one_row', r'b_gmem, n0, k0', 'b_gmem, n0 + 1, k0', '-m 200 -n 136 -k 72'),
    ('row_bound_left_out', r'row >= m \|\| col >= n', 'col >= n', '-m 200 -n 136 -k 72'),
    ('column_bound_left_out', r'row >= m \|\| col >= n', 'row >= m', '-m 200 -n 133 -k 72'),
    ('sum_not_from_zero', r'float acc = 0', 'float acc = 1', '-m 200 -n 136 -k 72'),

    # with copies by the TMA
    ('c_with_m_and_n_swapped', r'&c_map, c_gmem, m, n', '&c_map, c_gmem, n, m', '-m 200 -n 136 -k 72'),
    ('too_few_bytes_expected', r'sizeof smem->a\[stage\] \+ sizeof smem->b\[stage\]', 'sizeof smem->a[stage]', '-m 200 -n 136 -k 720'),
    ('too_many_bytes_expected', r'sizeof smem->a\[stage\] \+ size', '16 + sizeof smem->a[stage] + size', '-m 200 -n 136 -k 72'),
    ('no_wait_for_the_tile', r'wait_parity\(&smem(?:->|\.)full\[stage\], phase\);', '', '-m 200 -n 136 -k 720'),
    ('waits_for_the_other_parity', r'(full\[stage\], phase)\);', r'\1 ^ 1);', '-m 200 -n 136 -k 720'),
    ('never_waits_for_room', r'wait_parity\(&smem(?:->|\.)empty\[stage\], phase \^ 1\);', '', '-m 200 -n 136 -k 720'),
    ('producer_waits_for_phase_0', r'(empty\[stage\], phase) \^ 1\);', r'\1);', '-m 200 -n 136 -k 720'),
    ('box_moved_by_one_row', r'b_map, k0, n0,', 'b_map, k0, n0 + 1,', '-m 200 -n 136 -k 72'),
    ('neighbours_exchanged', r'__floats2half2_rn\(acc0, acc1\)', '__floats2half2_rn(acc1, acc0)', '-m 200 -n 136 -k 72'),
    ('one_thread_stores_nan', r'__floats2half2_rn\(acc0,', '__floats2half2_rn(threadIdx.x % 128 == 5 ? nanf("") : acc0,',
     '-m 200 -n 136 -k 72'),
    ('c_not_swizzled', r'chunk_128b\(row, col % BOX_N / CHUNK\)', '16 * (row * 8 + col % BOX_N / CHUNK)', '-m 200 -n 136 -k 72'),
    ('boxes_of_c_exchanged', r'n0 \+ box \* BOX_N', 'n0 + (box ^ 1) * BOX_N', '-m 200 -n 136 -k 72'),
]

# In the rungs that store through shared memory, one CTA-wide tile after the products.
TMA_STORE = [
    ('no_fence_before_the_store', r'fence_proxy_async_shared_cta\(\); ', '', '-m 200 -n 136 -k 72'),
    ('exits_before_the_store_has_read', r'cp_async_bulk_wait_group_read<0>\(\);', '', '-m 200 -n 136 -k 72'),
    ('b_not_swizzled', r'(&b_map.*)SWIZZLE_128B', r'\1SWIZZLE_NONE', '-m 200 -n 136 -k 72'),
]

# In the rungs where a producer warp loads and warpgroups multiply, each warp storing its own rows.
PIPELINE = [
    ('no_fence_before_the_store', r'fence_proxy_async_shared_cta\(\); ', '', '-m 200 -n 136 -k 72'),
    ('exits_before_the_store_has_read', r'cp_async_bulk_wait_group_read<0>\(\);( +/\* shared memory must stay)', r'\1',
     '-m 200 -n 136 -k 72'),
    ('stage_given_back_while_multiplied', r'wgmma_wait_group<0>\(\);', '', '-m 200 -n 136 -k 720'),
    ('stage_never_given_back', r'if \(laneid\(\) (== 0|< CLUSTER)\)\n *mbarrier_arrive', 'if (false) mbarrier_arrive',
     '-m 200 -n 136 -k 720'),
    ('one_warp_gives_registers_away', r'(setmaxnreg_dec<PRODUCER_REGISTERS>\(\);)', r'if (threadIdx.x / 32 == PRODUCER_WARP) \1',
     '-m 200 -n 136 -k 72'),
    ('rows_of_all_warps_at_the_top', r'threadIdx\.x / 32 \* WARP_M', '0', '-m 200 -n 136 -k 72'),
]

# In the rungs where two CTAs share the columns of B, and stay for tile after tile.
CLUSTER = [
    ('multicast_to_oneself', r'\(1 << CLUSTER\) - 1', '1 << cluster_ctarank()', '-m 200 -n 264 -k 72'),
    ('the_same_share_twice', r'n0 \+ share,', 'n0,', '-m 200 -n 264 -k 72'),
    ('both_shares_in_one_place', r'smem->b\[stage\] \+ share \* TILE_K', 'smem->b[stage]', '-m 200 -n 264 -k 72'),
    ('only_its_own_share_expected', r'\+ sizeof smem->b\[stage\]', '+ sizeof smem->b[stage] / CLUSTER', '-m 200 -n 264 -k 720'),
    ('empty_counts_its_own_consumers', r'CLUSTER \* CONSUMER_WARPS', 'CONSUMER_WARPS', '-m 200 -n 264 -k 720'),
    ('arrives_at_home_alone', r'mapa_shared_cluster\(&smem->empty\[stage\], laneid\(\)\)',
     'mapa_shared_cluster(&smem->empty[stage], cluster_ctarank())', '-m 200 -n 264 -k 720'),
    ('phase_starts_over_with_each_tile', r'(const struct tile tile = tile_of\(index, m, n\);)(\n *for)', r'\1 stage = 0, phase = 0;\2',
     '-m 4200 -n 2104 -k 72'),
    ('both_take_the_same_rows', r' \+ \(int\)cluster_ctarank\(\)', '', '-m 200 -n 136 -k 72'),
]

# Made in one rung; its own go before the common ones of the same name.
MISTAKES = {
    'a0_vector_add': [
        ('one_component_left_out', r'x\.w \+ y\.w', 'x.w', '-n 1000'),
        ('whole_chunk_past_the_end', r'first \+ CHUNK <= n', 'first < n', '-n 1001'),
        ('last_element_left_out', r'i < n; i\+\+', 'i < n - 1; i++', '-n 1001'),
        ('last_block_left_out', r'tiles_to_cover\(n, BLOCK\)', 'n / BLOCK', '-n 5000'),
    ],
    'a2_smem': [
        ('row_too_many_stored', r'(c_gmem\[.*= __float2half.*)', r'{ \1 if (row == m - 1) c_gmem[(size_t)m * n + col] = half(0); }',
         '-m 200 -n 136 -k 72'),
        ('row_bound_of_a_left_out', r'row0 \+ row < rows && k0', 'k0', '-m 200 -n 136 -k 72'),
        ('k_bound_left_out', r' && k0 \+ col < k', '', '-m 200 -n 136 -k 70'),
    ],
    'b2_wmma': [
        ('a_for_b', r'b_gmem, n0, stage', 'a_gmem, n0, stage', '-m 200 -n 136 -k 72'),
        ('tile_moved_by_one_row', r'b_gmem, n0, stage', 'b_gmem, n0 + 1, stage', '-m 200 -n 136 -k 72'),
        ('one_nan', r'acc\[i\]\[j\]\[e\], acc', 'row == 99 && col == 76 ? nanf("") : acc[i][j][e], acc', '-m 200 -n 136 -k 72'),
        ('one_off_by_one', r'acc\[i\]\[j\]\[e\], acc', 'acc[i][j][e] + (row == 99 && col == 76), acc', '-m 200 -n 136 -k 72'),
        ('one_pair_not_stored', r'row < m && col < n', 'row < m && col < n && (row != 99 || col != 76)', '-m 200 -n 136 -k 72'),
        ('one_pair_not_stored_of_many', r'row < m && col < n', 'row < m && col < n && (row != 999 || col != 776)',
         '-m 1025 -n 1030 -k 150'),
        ('columns_of_c_reversed', r'row \* n \+ col,', 'row * n + n - 2 - col,', '-m 200 -n 136 -k 72'),
        ('row_bound_of_c_left_out', r'row < m && col < n', 'col < n', '-m 200 -n 136 -k 72'),
        ('column_bound_of_c_left_out', r'row < m && col < n', 'row < m', '-m 200 -n 136 -k 72'),
        ('pair_bound_of_c_left_out', r'if \(col \+ 1 < n\)', '', '-m 200 -n 135 -k 72'),
        ('row_too_many_stored', r'(store_pair\(c_gmem.*;)', r'{ \1 if (row == m - 1) c_gmem[(size_t)m * n + col] = half(0); }',
         '-m 200 -n 136 -k 72'),
        ('no_wait_for_the_copies', r'cp_async_wait_group<STAGES - 2>\(\);', '', '-m 200 -n 136 -k 720'),
        ('copies_not_committed', r'cp_async_commit_group\(\);\n    }\n\n    acc', '}\n\n    acc', '-m 200 -n 136 -k 720'),
        ('stage_overwritten_while_read', r'free_stage = STAGES - 1', 'free_stage = 1', '-m 200 -n 136 -k 720'),
        ('sums_not_zeroed', r'accumulators acc = {};', 'accumulators acc;', '-m 200 -n 136 -k 72'),
        ('wide_load_where_not_aligned', r'k % CHUNK != 0', 'k % 2 != 0', '-m 200 -n 136 -k 70'),
        ('rows_of_fragment_swapped', r'c_row\(lane, e\)', 'c_row(lane, e ^ 2)', '-m 200 -n 136 -k 72'),
        ('fragments_of_b_swapped', r'a\[i\], b\[j\],', 'a[i], b[j ^ 1],', '-m 200 -n 136 -k 72'),
    ],
    'b5_tma': TMA_STORE + [
        ('no_barrier_before_the_store', r'(engine to see \*/\n) *__syncthreads\(\);', r'\1', '-m 200 -n 136 -k 72'),
        ('refilled_while_read', r'__syncthreads\(\);( +/\* nobody reads the tile)', r'\1', '-m 200 -n 136 -k 720'),
        ('c_over_operands_still_read', r'__syncthreads\(\);( +/\* nobody reads operands)', r'\1', '-m 200 -n 136 -k 200'),
        ('phase_not_flipped', r'phase \^= stage == 0;', '', '-m 200 -n 136 -k 720'),
        ('rows_and_columns_of_a_box_exchanged', r'a_map, k0, m0,', 'a_map, m0, k0,', '-m 200 -n 136 -k 72'),
    ],
    'b7_warpspec': TMA_STORE + [
        ('no_barrier_before_the_store', r'(engine to see \*/\n) *sync_consumers\(\);', r'\1', '-m 200 -n 136 -k 72'),
        ('c_over_operands_still_read', r'sync_consumers\(\);( +/\* nobody reads operands)', r'\1', '-m 200 -n 136 -k 200'),
        ('empty_counts_threads', r'empty\[stage\], CONSUMER_WARPS', 'empty[stage], CONSUMER_WARPS * 32', '-m 200 -n 136 -k 720'),
        ('every_lane_gives_the_stage_back', r'if \(threadIdx\.x % 32 == 0\)', '', '-m 200 -n 136 -k 720'),
        ('stage_never_given_back', r'mbarrier_arrive\(&smem->empty\[stage\]\);', ';', '-m 200 -n 136 -k 720'),
        ('stage_given_back_before_it_is_read', r'(mma_tile\(acc, .*\n)([^}]*?arrive\(&smem->empty\[stage\]\);\n)', r'\2\1',
         '-m 200 -n 136 -k 720'),
        ('all_lanes_load', r'if \(elect_sync\(0xffffffff\)\)', '', '-m 200 -n 136 -k 72'),
        ('consumers_wait_for_the_producer', r'bar_sync\(1, CONSUMER_WARPS \* 32\)', 'bar_sync(1, THREADS)', '-m 200 -n 136 -k 72'),
    ],
    'c1_wgmma': TMA_STORE + [
        ('no_barrier_before_the_store', r'(engine to see \*/\n) *__syncthreads\(\);', r'\1', '-m 200 -n 136 -k 72'),
        ('refilled_while_multiplied', r'wgmma_wait_group<1>\(\);', '', '-m 200 -n 136 -k 720'),
        ('refilled_while_the_other_multiplies', r'__syncthreads\(\);( +/\* … in both)', r'\1', '-m 200 -n 136 -k 720'),
        ('sums_read_too_early', r'wgmma_wait_group<0>\(\);', '', '-m 200 -n 136 -k 72'),
        ('no_fence_before_the_products', r'wgmma_fence\(\);', '', '-m 200 -n 136 -k 72'),
        ('products_not_committed', r'wgmma_commit_group\(\);', '', '-m 200 -n 136 -k 720'),
        ('step_along_k_in_bytes', r'kk \* sizeof\(half\) / 16', 'kk * sizeof(half)', '-m 200 -n 136 -k 72'),
        ('step_along_k_left_out', r'a_desc \+ along_k', 'a_desc', '-m 200 -n 136 -k 72'),
        ('the_same_rows_twice', r'a_tile \+ warpgroup_row\(\) \* TILE_K', 'a_tile', '-m 200 -n 136 -k 72'),
        ('added_to_what_was_there', r'kk == 0 \? scale_d : 1', '1', '-m 200 -n 136 -k 72'),
        ('last_16_products_only', r'scale_d : 1\)', 'scale_d : 0)', '-m 200 -n 136 -k 72'),
        ('rows_of_d_exchanged', r'wgmma_d_row\(thread, i\)', 'wgmma_d_row(thread, i ^ 2)', '-m 200 -n 136 -k 72'),
    ],
    'c2_pipeline': PIPELINE + [
        ('products_not_committed', r'wgmma_commit_group\(\);', '', '-m 200 -n 136 -k 720'),
        ('no_fence_before_the_products', r'wgmma_fence\(\);', '', '-m 200 -n 136 -k 72'),
        ('every_lane_gives_the_stage_back', r'laneid\(\) == 0\)\n( *mbarrier_arrive)', r'true)\n\1', '-m 200 -n 136 -k 720'),
        ('empty_counts_threads', r'CONSUMER_WARPS\);', 'CONSUMER_WARPS * 32);', '-m 200 -n 136 -k 720'),
        ('barriers_used_before_they_are_made', r'__syncthreads\(\);( +/\* from here on)', r'\1', '-m 200 -n 136 -k 72'),
        ('all_lanes_load', r' && elect_sync\(0xffffffff\)', '', '-m 200 -n 136 -k 72'),
        ('all_warps_of_the_group_load', r'threadIdx\.x / 32 == PRODUCER_WARP && ', '', '-m 200 -n 136 -k 72'),
        ('producer_keeps_its_registers', r'setmaxnreg_dec<PRODUCER_REGISTERS>\(\);', '', '-m 200 -n 136 -k 72'),
        ('more_registers_than_there_are', r'CONSUMER_REGISTERS = 232', 'CONSUMER_REGISTERS = 240', '-m 200 -n 136 -k 72'),
        ('step_along_k_in_bytes', r'kk \* sizeof\(half\) / 16', 'kk * sizeof(half)', '-m 200 -n 136 -k 72'),
        ('the_same_rows_twice', r'a_tile \+ warpgroup_row\(\) \* TILE_K', 'a_tile', '-m 200 -n 136 -k 72'),
        ('added_to_what_was_there', r'kk == 0 \? scale_d : 1', '1', '-m 200 -n 136 -k 72'),
        ('chunks_of_c_not_swizzled', r'chunk_128b\(ldmatrix_a_row\(laneid\(\)\), chunk\)', '16 * (ldmatrix_a_row(laneid()) * 8 + chunk)',
         '-m 200 -n 136 -k 72'),
        ('buffer_overwritten_before_it_was_read', r'cp_async_bulk_wait_group_read<0>\(\);( +/\* what was in)', r'\1', '-m 200 -n 264 -k 72'),
        ('boxes_of_c_exchanged', r'put_box\(c\[i\]', 'put_box(c[i ^ 1]', '-m 200 -n 136 -k 72'),
        ('first_group_of_tiles_only', r'blockIdx\.z \* gridDim\.x \+ ', '', '-m 2100 -n 136 -k 72'),
        ('last_rows_left_out', r'tiles_to_cover\(tiles_m, groups\)', 'tiles_m / groups', '-m 2100 -n 136 -k 72'),
    ],
    'c3_cluster': PIPELINE + CLUSTER + [
        ('multicast_to_the_first', r'\(1 << CLUSTER\) - 1', '1', '-m 200 -n 264 -k 72'),
        ('arrives_at_the_first_alone', r'laneid\(\) < CLUSTER', 'laneid() < 1', '-m 200 -n 264 -k 720'),
        ('barriers_shown_to_one_cta', r'barrier_cluster_arrive_relaxed_aligned\(\);\n.*( +/\* from here on)', r'__syncthreads();\1',
         '-m 200 -n 264 -k 720'),
        ('whole_columns_where_a_share_belongs', r'n, k, SHARE_N, TILE_K', 'n, k, TILE_N, TILE_K', '-m 200 -n 264 -k 72'),
        ('producer_and_consumers_in_different_tiles', r'(void mma_tiles(?:.*\n)*?.*)blockIdx\.x / CLUSTER;',
         r'\1(blockIdx.x + 2) / CLUSTER;', '-m 4200 -n 2104 -k 72'),
        ('low_band_as_high_as_the_others', r'min\(GROUP_M, rows - band \* GROUP_M\)', 'GROUP_M', '-m 600 -n 520 -k 72'),
        ('rows_and_columns_of_tiles_exchanged', r'cluster_ctarank\(\)\) \* TILE_M, (.*) \* TILE_N }',
         r'cluster_ctarank()) * TILE_N, \1 * TILE_M }', '-m 600 -n 520 -k 72'),
        ('last_rows_left_out', r'(cluster_tiles\(int m, int n\)\n{\n *return )tiles_to_cover\(m, CLUSTER \* TILE_M\)',
         r'\1(m > CLUSTER * TILE_M ? m / (CLUSTER * TILE_M) : 1)', '-m 600 -n 136 -k 72'),
        ('last_columns_left_out', r'(return .*)tiles_to_cover\(n, TILE_N\);', r'\1(n > TILE_N ? n / TILE_N : 1);', '-m 200 -n 304 -k 72'),
    ],
    'c4_persistent': PIPELINE + CLUSTER + [
        ('buffer_overwritten_before_it_was_read', r'cp_async_bulk_wait_group_read<BUFFERS - 1>\(\);', '', '-m 200 -n 264 -k 72'),
        ('waits_for_too_few_stores', r'group_read<BUFFERS - 1>', 'group_read<BUFFERS>', '-m 200 -n 264 -k 72'),
        ('rest_of_the_boxes_not_stored', r'store_boxes\(.*\);( +/\* what a short k)', r'\1', '-m 4200 -n 2104 -k 72'),
        ('rounded_before_the_rest_is_stored', r'(store_boxes\(.*what a short k.*\n *)(round_tile\(c, acc\);)', r'\2 \1', '-m 4200 -n 2104 -k 72'),
        ('last_tile_not_stored', r'store_boxes\(.*\);(\n *cp_async_bulk_wait_group_read<0>)', r'\1', '-m 200 -n 136 -k 72'),
        ('last_tile_stored_where_the_one_before_lies', r'tile_of\(done, m, n\), stored', 'tile, stored', '-m 4200 -n 2104 -k 264'),
        ('stored_where_the_next_tile_lies', r'tile = tile_of\(done, m, n\)', 'tile = tile_of(index, m, n)', '-m 4200 -n 2104 -k 264'),
        ('one_box_stored_again_and_again', r'stored\+\+;', '', '-m 4200 -n 2104 -k 264'),
        ('sums_not_set_aside', r'round_tile\(c, acc\);', '', '-m 200 -n 136 -k 72'),
        ('backwards_from_behind_the_end', r'\(tiles_to_cover\(k, TILE_K\) - 1\) \* TILE_K', 'tiles_to_cover(k, TILE_K) * TILE_K',
         '-m 4200 -n 2104 -k 72'),
    ],
    'side/a0_reduce': [
        ('one_component_left_out', r'\(x\.z \+ x\.w\)', 'x.z', '-n 1000'),
        ('whole_chunk_past_the_end', r'i \+ CHUNK <= n', 'i < n', '-n 1001'),
        ('cut_short_chunk_left_out', r'i < n; i\+\+', 'false; i++', '-n 1001'),
        ('every_second_turn_left_out', r'i \+= gridDim\.x \* BLOCK', 'i += gridDim.x * BLOCK * 2', '-n 4000000'),
        ('half_of_each_warp', r'distance = 16', 'distance = 8', '-n 1000'),
        ('one_warp_left_out', r'lane < WARPS', 'lane < WARPS - 1', '-n 100000'),
        ('no_barrier_of_the_cta', r'__syncthreads\(\);', '', '-n 100000'),
        ('no_barrier_of_the_cluster', r'cluster_sync\(\);  *.. every', '/*', '-n 100000'),
        ('one_cta_eight_times', r'&smem\.cta, lane', '&smem.cta, 0', '-n 100000'),
        ('each_cta_adds_the_cluster', r'cluster_ctarank\(\) == 0 && ', '', '-n 100000'),
        ('sum_not_from_zero', r'cudaMemsetAsync\(.*\);', '', '-n 1000'),
    ],
    'side/a1_clc': [
        ('one_turn_only', r'while \(next_tile\(.*\)\);', 'while (next_tile(&smem, &tile, &phase) && false);', '-m 1021 -n 517 -k 7'),
        ('one_tile_twice', r'\*tile = ctaid\[0\]', '*tile = ctaid[0] & ~1', '-m 1021 -n 517 -k 7'),
        ('edge_ends_the_thread', r'if \(row < m && col < n\) {', 'if (row >= m || col >= n) return; {', '-m 1021 -n 517 -k 7'),
        ('reads_before_it_is_answered', r'wait_parity\(.*\);', '', '-m 1021 -n 517 -k 7'),
        ('asks_before_all_have_read', r'__syncthreads\(\);  *.. … by all', '/*', '-m 1021 -n 517 -k 7'),
        ('all_ask', r'if \(threadIdx\.x == 0\)\n            ask', 'ask', '-m 200 -n 136 -k 72'),
        ('column_bound_of_c_left_out', r'row < m && col < n', 'row < m', '-m 200 -n 133 -k 72'),
        ('asks_once', r'if \(threadIdx\.x == 0\)\n            ask', 'if (threadIdx.x == 0 && tile == blockIdx.x) ask', '-m 1021 -n 517 -k 7'),
    ],
    'side/a1_grouped': [
        ('first_group_only', r'\+\+group == groups', '++group == 1', '-m 200 -n 136 -k 72'),
        ('last_group_left_out', r'\+\+group == groups', '++group == groups - 1', '-m 200 -n 136 -k 72'),
        ('groups_as_large_as_the_first', r'first_tile \+= tiles_in\(problem_gmem\[group\]\)',
         'first_tile += tiles_in(problem_gmem[0])', '-m 200 -n 136 -k 72'),
        ('one_tile_too_many', r'tile - first_tile >= ', 'tile - first_tile > ', '-m 200 -n 136 -k 72'),
        ('k_of_the_first_group', r'p\.k; k0', 'problem_gmem[0].k; k0', '-m 200 -n 136 -k 72'),
        ('row_not_counted_from_the_group', r'\(tile - first_tile\) / tiles_n', 'tile / tiles_n', '-m 200 -n 136 -k 72'),
        ('edge_ends_the_thread', r'continue;', 'return;', '-m 1021 -n 517 -k 37'),
        ('row_bound_left_out', r'row >= p\.m \|\| ', '', '-m 200 -n 136 -k 72'),
        ('column_bound_left_out', r' \|\| col >= p\.n', '', '-m 200 -n 133 -k 72'),
    ],
    'side/a1_persistent': [
        ('one_turn_only', r'tile \+= gridDim\.x', 'tile += tiles', '-m 1021 -n 517 -k 37'),
        ('edge_ends_the_thread', r'continue;', 'return;', '-m 1021 -n 517 -k 37'),
        ('every_second_tile', r'tile \+= gridDim\.x', 'tile += gridDim.x + 1', '-m 1021 -n 517 -k 37'),
        ('rows_and_columns_of_tiles_swapped', r'tile / tiles_n \* TILE_M', 'tile % tiles_n * TILE_M', '-m 200 -n 136 -k 72'),
        ('last_column_of_tiles_left_out', r'tiles_n = tiles_to_cover\(n, TILE_N\)', 'tiles_n = n / TILE_N', '-m 200 -n 133 -k 72'),
    ],
    'side/a2_ring': [
        ('full_before_all_have_written', r'full\[stage\], PRODUCERS', 'full[stage], 1', '-m 200 -n 136 -k 72'),
        ('empty_before_all_have_read', r'empty\[stage\], CONSUMERS', 'empty[stage], 1', '-m 200 -n 136 -k 720'),
        ('tile_not_reported', r'mbarrier_arrive\(&smem\.full.*', '', '-m 200 -n 136 -k 72'),
        ('room_not_reported', r'mbarrier_arrive\(&smem\.empty.*', '', '-m 200 -n 136 -k 720'),
        ('always_the_first_stage', r'mma_tile\(acc, smem, stage\)', 'mma_tile(acc, smem, 0)', '-m 200 -n 136 -k 720'),
        ('row_bound_of_a_left_out', r'row0 \+ row < rows && k0', 'k0', '-m 200 -n 136 -k 72'),
        ('k_bound_left_out', r' && k0 \+ col < k', '', '-m 200 -n 136 -k 70'),
    ],
    'side/b6_epilogue': [
        ('scale_left_out', r'scale_tile\(acc, scale_gmem, n0, n\);', '', '-m 200 -n 136 -k 72'),
        ('scale_of_another_column', r'col < n \? scale_gmem\[col\]', 'col < n ? scale_gmem[(col + 8) % n]', '-m 200 -n 136 -k 72'),
        ('scale_of_the_neighbour', r'c_col\(lane, e\);\n            const', 'c_col(lane, e ^ 1);\n            const', '-m 200 -n 136 -k 72'),
        ('column_counted_from_the_tile', r'col = n0 \+ warp_col\(\)', 'col = warp_col()', '-m 200 -n 264 -k 72'),
        ('upper_rows_only', r'acc\[i\]\[j\]\[e \+ 2\] \*= scale;', '', '-m 200 -n 136 -k 72'),
        ('scale_past_the_end', r'col < n \? scale_gmem\[col\] : 0', 'scale_gmem[col]', '-m 200 -n 136 -k 72'),
        ('scaled_twice', r'acc\[i\]\[j\]\[e\] \*= scale', 'acc[i][j][e] *= scale * scale', '-m 200 -n 136 -k 72'),
    ],
    'side/d1_ld': [
        ('lower_lanes_twice', r'row \+ tmem_ld_lane', 'row0 + tmem_ld_lane', '-m 200 -n 136 -k 72'),
        ('halves_not_apart', r' \+ right, chunk', ', chunk', '-m 200 -n 136 -k 72'),
        ('one_shape_for_another', r'tmem_ld_col\(shape, lane, i\)', 'tmem_ld_col(TMEM_16X256B, lane, i)', '-m 200 -n 136 -k 72'),
        ('lanes_of_another_shape', r'tmem_ld_lane\(shape, lane, i\)', 'tmem_ld_lane(TMEM_32X32B, lane, i)', '-m 200 -n 136 -k 72'),
        ('no_wait_for_the_products', r'wait_parity\(&smem->acc_ready, 0\);', '', '-m 200 -n 136 -k 720'),
        ('half_of_the_boxes', r'col0 < TILE_N', 'col0 < TILE_N / 2', '-m 200 -n 264 -k 72'),
    ],
    'side/d5_mxfp8': [
        ('factors_of_the_first_block', r'instruction\(kk / MMA_K\)', 'instruction(0)', '-m 200 -n 136 -k 72'),
        ('factors_of_the_first_tile', r'k0 / TILE_K \* \(F', 'k0 / TILE_K * 0 * (F', '-m 200 -n 136 -k 200'),
        ('factors_not_shifted', r' \+ tmem_scale_col\(tile\.n0 % FACTOR_ROWS\);', ';', '-m 200 -n 264 -k 72'),
        ('one_group_too_few', r'i < 1 \+ B_FACTORS; i\+\+', 'i < B_FACTORS; i++', '-m 200 -n 264 -k 72'),
        ('factors_of_a_for_b', r'a_factors_tmem, b_factors_tmem, kk', 'a_factors_tmem, a_factors_tmem, kk', '-m 200 -n 136 -k 72'),
        ('lines_of_factors_not_in_order', r'0, 128, TCGEN05_SWIZZLE_NONE', '0, 16, TCGEN05_SWIZZLE_NONE', '-m 200 -n 136 -k 72'),
        ('factors_not_expected', r' \+\n *sizeof smem->factors\[stage\]', '', '-m 200 -n 136 -k 720'),
        ('row_of_a_too_wide', r'gmem, rows, k, row_bytes', 'gmem, rows, tiles_to_cover(k, 16) * 16, row_bytes', '-m 200 -n 136 -k 72'),
        ('box_moved_by_one_row', r'b_row, full', 'b_row + 1, full', '-m 200 -n 136 -k 72'),
        ('never_waits_for_room', r'wait_parity\(&smem->empty\[stage\], phase \^ 1\);', '', '-m 200 -n 136 -k 2000'),
        ('same_buffer_twice', r'BUFFERS = 3', 'BUFFERS = 2', '-m 520 -n 19200 -k 72'),
    ],
    'side/e0_pdl': [
        ('one_component_left_out', r'x\.w \+ y\.w', 'x.w', '-n 1000'),
        ('whole_chunk_past_the_end', r'first \+ CHUNK <= n', 'first < n', '-n 1001'),
        ('last_element_left_out', r'i < n; i\+\+', 'i < n - 1; i++', '-n 1001'),
        ('last_block_left_out', r'tiles_to_cover\(n, BLOCK\)', 'n / BLOCK', '-n 5000'),
        ('second_kernel_takes_the_input', r'\(const float \*\)sum_gmem', 'x_gmem', '-n 1000'),
    ],
    'side/z0_swizzle': [
        ('never_swizzled', r'!swizzled       \? CU', 'true ? CU', '-n 1000'),
        ('another_swizzle', r'row_bytes == 32 \? CU_TENSOR_MAP_SWIZZLE_32B', 'row_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_64B', '-n 1000'),
        ('not_on_a_whole_period', r'shared_global\(box,', 'shared_global(box + (row_bytes < 128) * 64,', '-n 1000'),
        ('no_wait', r'wait_parity\(&full, 0\);', '', '-n 1000'),
        ('always_the_first_box', r'blockIdx\.x \* ROWS, &full', '0, &full', '-n 1000'),
        ('too_many_bytes_expected', r'expect_tx\(&full, ROWS \* row_bytes\)', 'expect_tx(&full, ROWS * WIDEST)', '-n 1000'),
    ],
    'side/z1_tv': [
        ('registers_exchanged', r'= d\[r\];', '= d[r ^ 1];', 'EMU_DEVICE=a100'),
        ('blocks_of_a_exchanged', r'k = mma_m16n8k16_a_col\(lane, 2 \* i\)', 'k = mma_m16n8k16_a_col(lane, 2 * i) ^ 8', 'EMU_DEVICE=a100'),
        ('halves_of_a_pair_exchanged', r'pair\(b_value\(n, k\), b_value\(n, k \+ 1\)\)', 'pair(b_value(n, k + 1), b_value(n, k))', 'EMU_DEVICE=a100'),
        ('never_swizzled', r'swizzle_32b\(i \* sizeof\(half\)\)', 'i * sizeof(half)', 'EMU_DEVICE=h200'),
        ('no_wait_for_wgmma', r'wgmma_wait_group<0>\(\);', '', 'EMU_DEVICE=h200'),
        ('wgmma_on_what_was_there', r'(f16_f16\(d, a_desc, b_desc), 0\)', r'\1, 1)', 'EMU_DEVICE=h200'),
        ('row_of_a_is_its_column', r'i / K, i % K\)', 'i % K, i / K)', 'EMU_DEVICE=h200'),
        ('no_wait_for_the_product', r'wait_parity\(&acc_ready, 0\);', '', 'EMU_DEVICE=b200'),
        ('quarter_of_another_warp', r'tmem_address\(warp \* 32, 0\)', '0', 'EMU_DEVICE=b200'),
        ('b_for_a', r'f16<1>\(acc_tmem, a_desc, b_desc', 'f16<1>(acc_tmem, b_desc, b_desc', 'EMU_DEVICE=b200'),
        ('never_given_back', r'tcgen05_dealloc<1>.*', ';', 'EMU_DEVICE=b200'),
    ],
    'side/z2_tmem': [
        ('quarter_of_another_warp', r'tmem_address\(warp \* 32, 0\)', '0', '-n 10000'),
        ('no_wait_for_the_store', r'tcgen05_wait_st\(\);', '', '-n 10000'),
        ('no_wait_for_the_load', r'tcgen05_wait_ld\(\);', '', '-n 10000'),
        ('lower_half_twice', r'half \* HALF, 0\)', '0, 0)', '-n 10000'),
        ('rows_exchanged', r'tmem_ld_lane\(TMEM_16X256B, threadIdx\.x % 32, i\)', 'tmem_ld_lane(TMEM_16X256B, threadIdx.x % 32, i ^ 2)', '-n 10000'),
        ('another_shape', r'tmem_ld_col\(TMEM_16X256B', 'tmem_ld_col(TMEM_16X128B', '-n 10000'),
        ('given_back_too_early', r'__syncthreads\(\);  *.. all have read ..', '', '-n 1000000'),
        ('never_given_back', r'tcgen05_dealloc<1>.*', ';', '-n 1000'),
    ],
}


def mistakes_in(rung, source):
    """Those of its own, and those of every gemm that have exactly one place in it."""
    own = MISTAKES.get(rung.path, [])
    names = {name for name, *_ in own}
    common = EVERY_GEMM if 'm' in rung.dims else []
    return own + [m for m in common if m[0] not in names and len(re.findall(m[1], source)) == 1]


def mutants(rung):
    """[(name, text of the wrong kernel.cu or None when the place has changed, arguments, environment)]"""
    source, result = open(rung.path + '/kernel.cu').read(), []
    for name, pattern, replacement, words in mistakes_in(rung, source):
        text, places = re.subn(pattern, replacement, source)
        env = dict(re.findall(r'(\w+)=(\S+)', words))
        result.append((name, text if places == 1 else None, [word for word in words.split() if '=' not in word], env))
    return result


def arguments_in(namespace, parameters):
    """The names of the parameters, to be handed on; a pointer to a struct of kernel.cu means the one in the namespace."""
    result = []
    for parameter in parameters.split(','):
        words, name = re.match(r'\s*(.*?)(\w+)$', parameter, re.S).groups()
        result.append('(%s)%s' % (re.sub(r'struct ', 'struct %s::' % namespace, words).strip(), name) if 'struct' in words else name)
    return ', '.join(result)


def in_one_file(texts):
    """kernel.cu as it would be if it were all of these, MISTAKE=number in the environment choosing among them."""
    includes = sorted({line for text in texts for line in re.findall(r'^#include .*', text, re.M)})
    pieces = ['#include <stdlib.h>'] + includes
    for number, text in enumerate(texts):
        inner = re.sub(r'^#include .*', '', text, flags=re.M).replace('extern "C" ', '')
        pieces.append('namespace mistake_%d {\n%s\n}' % (number, inner))
    for head, name, parameters in re.findall(r'extern "C" (cudaError_t (launch_\w+)\(([^)]*)\))', texts[0]):
        cases = ['    case %d: return mistake_%d::%s(%s);' % (i, i, name, arguments_in('mistake_%d' % i, parameters))
                 for i in range(len(texts))]
        pieces.append('extern "C" %s\n{\n    switch (atoi(getenv("MISTAKE"))) {\n%s\n    }\n    return cudaErrorUnknown;\n}'
                      % (head, '\n'.join(cases)))
    return '\n'.join(pieces) + '\n'


def too_few():
    """A rung whose check is hardly ever put to the test."""
    return ['%s has %d known-wrong kernels, not %d' % (rung.path, count, needed) for rung in RUNGS
            for count, needed in [(len(mistakes_in(rung, open(rung.path + '/kernel.cu').read())),
                                   6 if 'm' in rung.dims else 4)] if count < needed]
