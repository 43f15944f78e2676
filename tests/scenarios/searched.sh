#!/bin/sh
# A question that a text model answers by a search of the web: the call, the request to the search service, and what the model is told. Then
# one that the provider answers by a search of its own.
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

echo 'answer what time => It is noon in Lisbon.' >"$D/responses.script"
start_standin responses
echo '{"providers": [{"name": "own", "dialect": "responses", "url": "http://127.0.0.1:'$port'/v1", "model": "model"}], "roles": {"text": ["own"]}}' >"$D/own.json"
env BIN="$B" OUT="$D/own" CONFIG="$D/own.json" PARLEY_REPLY_PATH=brain PARLEY_SEARCH=provider JOURNAL="$D/journal-own" \
	timeout 60 tests/demo.sh >"$D/own.txt" 2>&1
is "the provider was offered its own search, and no other" "$(record responses | grep -a '"web_search"' | grep -vc '"name": *"web_search"')" 1
is "the turn was answered after it" "$(grep -aE ' turn .*stage=ended' "$D/own/log/control.log" | grep -c 'reason=answered')" 1
is "the search is a row" "$(grep -acE ' tool_called .*name="?web_search"? .*code="?ok' "$D/own/log/control.log")" 1
"$B/control" --log fatal --replay "$D/journal-own.control" >"$D/again" 2>&1
is "a replay of it has the same digest" "$(cat "$D/again")" "$(cat "$D/journal-own.control.digest")"
env PARLEY_REPLY_PATH=brain PARLEY_SEARCH=provider "$B/control" --config "$D/own.json" --check >"$D/check" 2>&1
is "--check tells that the provider searches by itself" "$(grep -c '^ok *web search: provider own searches by itself' "$D/check")" 1
env PARLEY_REPLY_PATH=brain PARLEY_SEARCH=provider PARLEY_TEXT_URL="$model" "$B/control" --check >"$D/check" 2>&1
is "--check tells of a provider without a search of its own" "$(grep -c '^warn.*web search: search is provider, but provider .* has no search of its own' "$D/check")" 1

cat "$D"/*/log/*.log >"$D/all.log"
report
