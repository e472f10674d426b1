# Installs packages and builds; sourced by run.sh and test.sh.

# Package names of Debian and Ubuntu. jemalloc and ccache only save time; pages need Chart.js.
packages=(g++ cmake ninja-build pkg-config ccache libsimgrid-dev libboost-dev
  libboost-program-options-dev nlohmann-json3-dev libexpat1-dev zlib1g-dev libeigen3-dev libfmt-dev
  libthrust-dev libgtest-dev libjemalloc-dev libjs-chart.js)

install_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "installing: ${missing[*]}"
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -qq -y \
    --no-install-recommends "${missing[@]}" >/dev/null
}

# Builds a target: syncline or all.
build() {
  if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    install_packages
  else
    echo "not Debian or Ubuntu: assuming these are installed: ${packages[*]}"
  fi
  # Ninja configures again by itself when a CMake file or a folder of sources has changed.
  [ -f build/release/build.ninja ] || cmake --preset release
  cmake --build --preset release --target "$1"
}
