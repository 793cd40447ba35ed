#!/usr/bin/env bash
# Sets up what a make target needs, and prints a line for each change.
#
#   tools/setup.sh python    .venv with the packages of requirements.lock and this project
#   tools/setup.sh provers   Why3, Z3 and cvc5
#   tools/setup.sh coq       Coq and Flocq, for `make coq`
#   tools/setup.sh browser   Chromium, for the tests of the evidence page
#   tools/setup.sh frama-c   Frama-C
#   tools/setup.sh c-evidence  cppcheck and GCC with gcov, for `make c-evidence`
#   tools/setup.sh c         a C compiler: that of CC, else any on PATH, else Debian's gcc
#   tools/setup.sh cross     compilers and emulators of other machines, for the C kernels
#   tools/setup.sh bench     .venv-bench: as .venv, and torch for the benchmarks, if available
#   tools/setup.sh import    .venv-import: as .venv, and the tools that import the formats of the evidence
#   tools/setup.sh runtimes  .venv-runtimes: as .venv, and the runtimes that have an adapter
#   tools/setup.sh python provers c    several of them side by side
#
# Exit status: 0 complete, 2 something is missing and cannot be installed here.
# PYTHON=/path/to/python chooses the interpreter. SETUP_SYSTEM=no never installs Debian packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=.venv
# The versions with which everything was proved: those of Debian 12 and 13. Others are allowed.
declare -A tried=([why3]="1.5.1 1.8.0" [z3]="4.8.12 4.13.3" [cvc5]="1.0.3 1.1.2" [frama-c]="25.0")

say() { printf 'setup: %s\n' "$*"; }

fail() {
    printf 'setup: error: %s\n' "$@" >&2
    exit 2
}

# --- Debian's packages ---------------------------------------------------------------------

# Sets as_root to the prefix that runs a command as root; fails if that is not allowed.
find_root() {
    [[ ${SETUP_SYSTEM:-yes} != no ]] && command -v apt-get >/dev/null || return 1
    as_root=()
    [[ $(id -u) == 0 ]] && return
    as_root=(sudo -n)
    command -v sudo >/dev/null && sudo -n true 2>/dev/null
}

apt_get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >>"$log" 2>&1 </dev/null; }

# install_debian WHY PACKAGE...: installs the packages, or fails with the command to run.
install_debian() {
    local why=$1 log
    shift
    find_root || fail "$why, and this account cannot install it. Install, then repeat: $*" \
        "on Debian or Ubuntu: sudo apt-get install --no-install-recommends $*"
    exec 8<tools/setup.sh # only one may call apt at a time
    if command -v flock >/dev/null; then flock 8; fi
    say "$why: installing Debian's $*"
    log=$(mktemp)
    # An unreachable source may not matter for these packages: the installation decides.
    apt_get update || true
    if ! apt_get -y -o DPkg::Lock::Timeout=300 --no-install-recommends install "$@"; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        fail "apt-get could not install $* (its last lines are above). Install, then repeat: $*"
    fi
    rm -f "$log"
    exec 8<&-
    hash -r
}

# need COMMAND[=PACKAGE,...]...: commands, and their Debian packages if these have other names.
need() {
    local one command missing=() packages=()
    for one in "$@"; do
        command -v "${one%%=*}" >/dev/null && continue
        missing+=("${one%%=*}")
        one=${one#*=}
        packages+=(${one//,/ })
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    install_debian "${missing[*]} not found" "${packages[@]}"
    for command in "${missing[@]}"; do
        command -v "$command" >/dev/null ||
            fail "apt-get installed ${packages[*]}, but no command $command is on PATH ($PATH)"
    done
}

# check_version TOOL OPTION: fails if the tool does not run, and reports an untried version.
check_version() {
    local found
    found=$("$1" "$2" 2>/dev/null | grep -Eo '[0-9]+\.[0-9]+(\.[0-9]+)?' | head -n 1) || true
    [[ -n $found ]] || fail "$(command -v "$1") does not run: '$1 $2' prints no version. Reinstall $1"
    [[ " ${tried[$1]} " == *" $found "* ]] ||
        say "$1 $found: untried version; the evidence records it" >&2
}

# --- One function for each tool ---------------------------------------------------------------

setup_why3() { need why3 && check_version why3 --version; }
setup_z3() { need z3 && check_version z3 --version; }
setup_cvc5() { need cvc5 && check_version cvc5 --version; }

setup_provers() {
    need why3 z3 cvc5 # by one call of apt
    setup_why3
    setup_z3
    setup_cvc5
}

setup_browser() { need chromium; }

setup_c() {
    local name
    [[ -z ${CC:-} ]] || return 0 # whoever calls a bad one reports it
    for name in cc gcc clang; do
        ! command -v "$name" >/dev/null || return 0
    done
    need gcc=gcc,libc6-dev
}

# Without cppcheck the rest is measured: `make c-evidence` reports what is missing, with status 2.
setup_c_evidence() {
    (need gcc=gcc,libc6-dev gcov=gcc) || true
    (need cppcheck) || true
}

setup_cross() {
    local version
    # The sanitizers of clang are in a package of its version.
    version=$(apt-cache show clang 2>/dev/null | sed -n 's/^Depends:.*clang-\([0-9]*\).*/\1/p' | head -n 1) || true
    need gcc=gcc,libc6-dev clang="clang${version:+,libclang-rt-$version-dev}" \
        aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu,libc6-dev-arm64-cross \
        arm-linux-gnueabihf-gcc=gcc-arm-linux-gnueabihf,libc6-dev-armhf-cross \
        riscv64-linux-gnu-gcc=gcc-riscv64-linux-gnu,libc6-dev-riscv64-cross \
        s390x-linux-gnu-gcc=gcc-s390x-linux-gnu,libc6-dev-s390x-cross \
        arm-none-eabi-gcc=gcc-arm-none-eabi qemu-s390x=qemu-user qemu-system-arm
}

setup_frama_c() {
    need frama-c=frama-c-base # it depends on a compiler; frama-c-nox does not
    check_version frama-c -version
}

has_flocq() { [[ -f $(coqc -where 2>/dev/null)/user-contrib/Flocq/IEEE754/Binary.vo ]]; }

setup_coq() {
    need coqc=coq coqchk=coq
    has_flocq || install_debian "Flocq not found" libcoq-flocq
    has_flocq || fail "apt-get installed libcoq-flocq, but $(command -v coqc) does not find Flocq." \
        "Is another Coq first on PATH? Debian's is /usr/bin/coqc"
}

# --- Python --------------------------------------------------------------------------------

# Sets python to an interpreter outside any virtual environment; status 1 if none is new enough.
find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        # _base_executable: .venv's own python could not survive the making of a new .venv.
        python=$("$candidate" -c 'import sys
sys.version_info >= (3, 11) or sys.exit(1)
print(sys._base_executable)' 2>/dev/null) && return 0
    done
    return 1
}

has_venv_module() { "$python" -c 'import venv, ensurepip' 2>/dev/null; }

need_python() {
    if ! find_python; then
        [[ -z ${PYTHON:-} ]] || fail "PYTHON=$PYTHON is not Python 3.11 or newer"
        install_debian "no Python 3.11 or newer found" python3 python3-venv
        find_python ||
            fail "Python 3.11 or newer is required and not on PATH; set PYTHON=/path/to/python3"
    fi
    has_venv_module && return
    install_debian "$python has no module venv" python3-venv
    has_venv_module || fail "$python has no module venv, and Debian's python3-venv is not for it." \
        "Choose another: make PYTHON=/usr/bin/python3 …"
}

# Identity of .venv: its path, its Python and the lock. Empty if its Python does not run.
packages_id() {
    local version
    version=$("$venv/bin/python" -S -c 'import sys; print(sys.version_info[:2])' 2>/dev/null) || return 0
    { printf '%s\n' "$PWD" "$version" && cat requirements.lock; } | sha256sum
}

project_id() { { packages_id && cat pyproject.toml sonnx_clip/__init__.py; } | sha256sum; } # __init__.py: version

# once STAMP ID FUNCTION: calls a function unless its stamp in $venv equals the output of ID.
once() {
    local id
    id=$("$2")
    [[ -n $id && -f $venv/$1 && $(<"$venv/$1") == "$id" ]] && return
    "$3"
    "$2" >"$venv/$1" # last, so that interrupted work is repeated
}

quiet_pip() { "$venv/bin/python" -m pip -qq --disable-pip-version-check --no-input "$@"; }

install_packages() {
    need_python
    say "creating $venv with $("$python" --version) and the packages of requirements.lock"
    rm -rf "$venv"
    "$python" -m venv "$venv" || fail "$python could not create $venv (its output is above)"
    quiet_pip install --require-hashes --only-binary :all: -r requirements.lock ||
        fail "pip could not install requirements.lock (its output is above); is a package index reachable?"
}

install_project() {
    say "installing this project into $venv"
    quiet_pip install --no-deps --no-build-isolation -e . ||
        fail "pip could not install this project (its output is above); see pyproject.toml"
}

setup_python() {
    # Two makes at once must not build one .venv; the lock ends with this process.
    exec 9<requirements.lock
    if command -v flock >/dev/null; then flock 9; fi
    once .packages-done packages_id install_packages
    once .project-done project_id install_project
}

# A separate venv with extras: torch is large, and requirements.lock does not pin the extras.
install_extras() {
    say "installing $what into $venv"
    quiet_pip install --no-build-isolation -e ".[$extras]" && return
    say "warning: pip could not install it (its output is above); $otherwise" >&2
    exit 0
}

setup_bench() {
    local extras=bench what=torch otherwise="the benchmarks skip what is missing"
    venv=.venv-bench
    setup_python
    once .bench-done project_id install_extras
}

setup_import() {
    local extras=import what="sphinx-needs and StrictDoc" otherwise="the tests of imports are skipped"
    venv=.venv-import
    setup_python
    once .import-done project_id install_extras
}

setup_runtimes() {
    local extras=onnx,torch,jax,openvino,tract,litert,optimisers what="runtimes and optimisers of models"
    local otherwise="only installed runtimes are judged"
    venv=.venv-runtimes
    setup_python
    once .runtimes-done project_id install_extras
}

# Several are set up side by side: pip waits for one index, apt for another. The first failure is the status.
if [[ $# -gt 1 ]]; then
    running=() status=0
    for what in "$@"; do
        "tools/${BASH_SOURCE[0]##*/}" "$what" &
        running+=($!)
    done
    for process in "${running[@]}"; do
        wait "$process" || status=$((status ? status : $?))
    done
    exit "$status"
fi
setup=setup_${1:-}
declare -F "${setup//-/_}" >/dev/null ||
    fail "usage: tools/setup.sh python|provers|coq|browser|frama-c|c|c-evidence|cross|bench|import|runtimes …"
"${setup//-/_}"
