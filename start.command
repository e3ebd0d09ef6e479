#!/bin/sh
# Double-click to start Allowance on macOS or Linux. The first time it makes an environment in your own folder.
cd "$(dirname "$0")" || exit 1

fail() {
    echo "$1"
    [ -t 0 ] && { printf 'Press Return to close this window. '; read -r _; }
    exit 1
}

case "$(uname)" in
    Darwin) place="$HOME/Library/Application Support/Allowance-program" ;;
    *) place="${XDG_DATA_HOME:-$HOME/.local/share}/Allowance-program" ;;
esac

python=
for name in python3.14 python3.13 python3.12 python3.11 python3 /usr/local/bin/python3 /opt/homebrew/bin/python3; do
    if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        python=$name
        break
    fi
done
[ -n "$python" ] || fail "Allowance needs Python 3.11 or newer: get it from python.org/downloads, then double-click this file again."

wheel=$(ls allowance-*.whl 2>/dev/null | tail -n 1)
if ! { cmp -s requirements.txt "$place/installed.txt" && { [ -z "$wheel" ] || cmp -s "$wheel" "$place/installed.whl"; }; }; then
    echo "Setting up Allowance in $place. This takes a few minutes, once."
    rm -rf "$place"
    { "$python" -m venv "$place" &&
        "$place/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r requirements.txt &&
        { [ -z "$wheel" ] || { "$place/bin/python" -m pip install -q --disable-pip-version-check --no-deps "$wheel" &&
            cp "$wheel" "$place/installed.whl"; }; } &&
        cp requirements.txt "$place/installed.txt"; } || fail "Setting up did not work: close Allowance, connect to the internet and try again."
fi
"$place/bin/python" -m allowance "$@" || fail "Allowance has stopped: read the line above."
