#!/bin/sh
# A question that a text model answers by a search of the web: the call, the request to the search service, and what the model is told.
#
#   tests/scenarios/searched.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-searched-XXXXXX)
. tests/scenarios/common

record() { cat "$D/record-$1/events.jsonl"; }

echo 'answer what time => call web_search {"query":"world clock","days":1}
response 2 say Site one says that it is noon in Lisbon.' >"$D/chat.script"
echo 'answer clock => It is noon in Lisbon.' >"$D/searxng.script"
start_standin chat
model=http://127.0.0.1:$port/v1
start_standin searxng
env BIN="$B" OUT="$D/searched" PARLEY_REPLY_PATH=brain PARLEY_TEXT_URL="$model" PARLEY_SEARCH_URL="http://127.0.0.1:$port" \
	JOURNAL="$D/journal" timeout 60 tests/demo.sh >"$D/searched.txt" 2>&1

is "the service was asked once" "$(record searxng | grep -ac 'q=world%20clock')" 1
is "and for a day" "$(record searxng | grep -a 'q=world%20clock' | grep -c 'time_range=day')" 1
is "the model was told the results in a fence" "$(record chat | grep -a 'untrusted id=' | grep -c 'It is noon in Lisbon')" 1
is "the turn was answered" "$(grep -aE ' turn .*stage=ended' "$D/searched/log/control.log" | grep -c 'reason=answered')" 1
"$B/control" --log fatal --replay "$D/journal.control" >"$D/again" 2>&1
is "a replay of the conversation has the same digest" "$(cat "$D/again")" "$(cat "$D/journal.control.digest")"

cat "$D"/*/log/*.log >"$D/all.log"
report
