#!/usr/bin/env bash
# Runs the steps of the Dockerfile without Docker: each stage in a copy of a fresh Debian root.
# Needs root and 3 GB of disk:
#
#   debootstrap --variant=minbase bookworm ROOT
#   tests/package/dockerfile-in-chroot.sh ROOT WORK
#
# WORK, a new folder, gets a root per stage. The last one is the image; its program is run.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 ROOT WORK" >&2; exit 2; }
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
base=$1 work=$2
[ -x "$base/usr/bin/apt-get" ] || { echo "$base: not a Debian root" >&2; exit 2; }
mkdir "$work"

declare -A root_of  # root of each stage, by name
stage=0 root='' folder=/ user=root entrypoint=''

leave() { [ -z "$root" ] || { mountpoint -q "$root/proc" && umount "$root/proc"; } || true; }
trap leave EXIT

run() {
  chroot --userspec="$user" "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive sh -ec "cd '$folder'; $1"
}

step() {
  local word=${1%% *} rest=${1#* }
  echo "+ $1"
  case $word in
    FROM)
      leave
      stage=$((stage + 1))
      root=$work/stage-$stage folder=/ user=root
      cp -a "$base" "$root"
      cp /etc/resolv.conf "$root/etc/"
      echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/speedup"  # as in Docker's Debian
      mount -t proc proc "$root/proc"
      [[ $rest != *" AS "* ]] || root_of[${rest##* }]=$root
      ;;
    WORKDIR) folder=$rest && mkdir -p "$root$folder" ;;
    RUN) run "$rest" ;;
    USER) user=$rest ;;
    COPY)
      local words=($rest)
      mkdir -p "$root${words[-1]}"
      if [[ ${words[0]} == --from=* ]]; then
        cp -a "${root_of[${words[0]#--from=}]}"${words[1]} "$root${words[2]}"
      elif [ "${words[0]}" = . ]; then  # except files named in .dockerignore
        tar -C "$source_folder" --exclude-from="$source_folder/.dockerignore" -c . |
          tar -C "$root${words[1]}" -x
      else
        echo "unsupported COPY: $rest" >&2
        exit 2
      fi
      ;;
    ENTRYPOINT) entrypoint=$(tr -d '[]",' <<<"$rest") ;;
    CMD) run "$entrypoint $(tr -d '[]",' <<<"$rest")" >/dev/null ;;
    *) echo "unsupported step: $1" >&2 && exit 2 ;;
  esac
}

# Joins lines that end with \; skips comments and empty lines.
line=''
while IFS= read -r text <&3 || [ -n "$text" ]; do
  case $text in '' | '#'*) continue ;; esac
  line+=$text
  if [[ $line == *\\ ]]; then
    line=${line%\\}
    continue
  fi
  step "$line"
  line=''
done 3<"$source_folder/Dockerfile"

[ "$(run 'id -u')" != 0 ] || { echo "the image runs as root" >&2; exit 2; }
run "$entrypoint list models" >/dev/null
run "$entrypoint run --platform two-hosts --model resnet20 --throughput 920 --out results"
echo "every step of the Dockerfile ran; the image is $root"
