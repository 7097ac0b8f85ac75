#!/bin/sh
# Runs the tests against TESTED_BIN, each line of the SDK in a virtual
# environment of its own. Arguments go to pytest of the first.
set -e
cd "$(dirname "$0")"

# environment FOLDER REQUIREMENTS makes the environment when it is missing or
# older than what it must hold.
environment() {
	if test "$1/.installed" -nt "$2"; then
		return
	fi
	rm -rf "$1"
	python3 -m venv "$1"
	"$1/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$2"
	touch "$1/.installed"
}

environment .venv requirements.txt
environment .venv-v3 v3/requirements.txt
.venv/bin/python -m pytest "$@"
.venv-v3/bin/python -m pytest --rootdir v3 -c v3/pytest.ini v3
