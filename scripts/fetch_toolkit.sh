#!/bin/sh
# Makes .toolkit/ (bin include lib nvvm) from NVIDIA's own Python wheels: nvcc, its headers, libcudart.
# Usage: fetch_toolkit.sh VERSION [cublas]      Needs python3 with venv; no root, no driver.
# All is prepared in .toolkit.part and renamed at the end, so a download that was cut leaves nothing behind
# that looks complete.
set -e
version=$1
part=.toolkit.part

fail() { echo "toolkit: $1" >&2; rm -rf $part; exit 1; }
trap 'rm -rf $part; exit 1' INT TERM HUP

[ -x .toolkit/bin/nvcc ] && exit 0
[ "$2" = cublas ] && size=600 || size=110
echo "toolkit: no CUDA 12.8 or later here; downloading nvcc $version into .toolkit/ (about $size MB, once) ..."

wheels=""
for name in nvidia-cuda-nvcc nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl nvidia-nvvm; do
    wheels="$wheels $name==$version.*"
done
[ "$2" = cublas ] && wheels="$wheels nvidia-cublas<13.2"     # that of CUDA 13.0

rm -rf $part .toolkit
mkdir $part
python3 -m venv $part/venv >$part/log 2>&1 || { tail -3 $part/log >&2; fail "python3 -m venv failed (Debian: apt install python3-venv)"; }
# shellcheck disable=SC2086   # one word per wheel
$part/venv/bin/pip install --quiet --disable-pip-version-check --no-compile --target $part/wheels $wheels >$part/log 2>&1 ||
    { tail -3 $part/log >&2; fail "the download failed"; }

root=$part/wheels/nvidia/cu${version%%.*}
[ -x "$root/bin/nvcc" ] || fail "the wheels hold no nvcc for this machine"
for library in "$root"/lib/lib*.so.*; do        # wheels have no development links: libcudart.so -> libcudart.so.13
    ln -sf "$(basename "$library")" "${library%%.so.*}.so"
done
mv "$root" $part/done
mv $part/done .toolkit
rm -rf $part
echo "toolkit: .toolkit/ is ready"
