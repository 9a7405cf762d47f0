/* The same with one host thread for the emulated chip, which then has to hold several kernels at once.
 *
 * env: EMU_JOBS=1
 */
#include "streams.cu"
