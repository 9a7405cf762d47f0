/* z_utils.h: all of the device headers at once, for experiments and for people who copy one line. A rung
 * includes the ones it uses, so that its first lines say which hardware it needs. */
#ifndef Z_UTILS_H
#define Z_UTILS_H

#include "z_cluster.h"
#include "z_layout.h"
#include "z_mbarrier.h"
#include "z_ptx.h"
#include "z_tma.h"
#include "z_tmem.h"
#include "z_wgmma.h"

#endif
