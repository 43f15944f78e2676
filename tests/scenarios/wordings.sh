#!/bin/sh
# The short form of the sound instrument (tests/sound/run.sh): people with synthetic voices speak over the bot's answers, and it must
# yield to takeovers and not to backchannels. The long form is make conversations-sound.
#
#   tests/scenarios/wordings.sh [build folder]      default: build
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build} exec bash tests/sound/run.sh --half tuned --items 6 --rooms 11 --check
