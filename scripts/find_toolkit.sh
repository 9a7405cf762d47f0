#!/bin/sh
# Prints "ROOT VERSION LIBDIR" of the CUDA toolkit to use: nvcc on PATH, $CUDA_HOME, /usr/local/cuda.
# If none of them is CUDA 12.8 or later: .toolkit, which fetch_toolkit.sh makes. TOOLKIT=fetch looks nowhere else.

fetched_version=13.0

usable() {      # ROOT: has nvcc >= 12.8, and a libcudart.so to link with
    version=$("$1/bin/nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    major=${version%%.*} minor=${version#*.}
    [ -n "$version" ] && [ $((major * 100 + minor)) -ge 1208 ] || return 1
    for lib in "$1"/lib64 "$1/targets/$(uname -m)-linux/lib" "$1"/lib; do
        if [ -e "$lib/libcudart.so" ]; then
            echo "$1 $version $lib"
            return 0
        fi
    done
    return 1
}

if [ "$TOOLKIT" != fetch ]; then
    on_path=$(command -v nvcc) && on_path=$(dirname "$(dirname "$(readlink -f "$on_path")")")
    for root in "$on_path" "$CUDA_HOME" /usr/local/cuda; do
        [ -n "$root" ] && usable "$root" && exit 0
    done
fi
usable "$PWD/.toolkit" || echo "$PWD/.toolkit $fetched_version $PWD/.toolkit/lib"
