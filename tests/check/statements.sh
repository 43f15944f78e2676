#!/bin/sh
# Holds the planted edits of tests/mutants/rules against the statements of the room, beside the other static checks.
set -eu
exec "$(dirname "$0")/../mutants/statements.sh"
