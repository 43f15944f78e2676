#!/bin/sh
# demo_tools.sh OUT: verifies the scene tools by control's log.
set -eu
out=${1:?usage: demo_tools.sh OUT}
log=$out/log/control.log
fail=0

# said WHAT PATTERN: prints one line and whether the log has it.
said() {
	if grep -aqE "$2" "$log"; then echo "yes  $1"; else
		echo "NO   $1"
		fail=1
	fi
}
grep -a ' tool_called ' "$log" | sed -nE 's/.* name=([a-z_0-9]*) code=([a-z_]*) .*lasted_ms=([0-9]*).*/tool \1: \2 after \3 ms/p'
grep -a ' turn .*stage=ended' "$log" | grep -avE 'reason=(merged|eot_revoked)' |
	sed -nE 's/.* heard="([^"]*)" reason=([a-z_]*) said="([^"]*)".*/heard: \1 (\2)\nsaid: \3/p'
said "the model searched the web" 'tool_called .* name=web_search code=ok'
said "and answered with what it found" 'reason=answered said="Site one says that it is noon in Lisbon'
said "the model called a tool of the MCP server from npm" 'tool_called .* name=everything__echo code=ok'
said "and answered with its result" 'reason=answered said="My server can make echoes'
said "the bot said that the slow task takes a moment" 'said="One moment'
said "the model handed a slow task to a worker" 'reason=answered said="(One moment.*)?A helper looks at it'
said "the task was cancelled by voice" 'tool_called .* name=ask code=cancelled'
said "and the worker was told" 'task_ended task=1 outcome="cancelled"'
exit $fail
