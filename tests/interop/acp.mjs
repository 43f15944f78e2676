// The example agent of the official SDK of the Agent Client Protocol against our client (acp/agent.mjs).
// Every message that our client sends must be valid by the schema that the SDK publishes.
import { check, main } from './lib.mjs';
import { faults, sdk, work } from './acp/agent.mjs';

main(async () => {
  const agent = [`${sdk}/dist/examples/agent.js`];
  const refused = await work(agent, ['mend it', 'and again']);
  check('two tasks in one session, whose edits are refused', refused.status === 0
    && (refused.out.match(/^done: .*I'll help you/gm) ?? []).length === 2 && /progress: Reading project files/.test(refused.out)
    && (refused.out.match(/skip the configuration update/g) ?? []).length === 2, refused.out.slice(-500));
  check('one session for both', refused.sent.filter((m) => m.method === 'session/new').length === 1);
  const allowed = await work(agent, ['mend it'], { permissions: 'all' });
  check('an edit that the record allows', /successfully updated the configuration/.test(allowed.out), allowed.out.slice(-500));
  const stopped = await work(agent, ['cancel:mend it', 'mend it']);
  check('a task that is cancelled, and the next one in the same process', stopped.status === 0 && /^cancelled: /m.test(stopped.out)
    && /^done: /m.test(stopped.out), stopped.out.slice(-500));
  check('the agent was told', stopped.sent.some((m) => m.method === 'session/cancel'));
  for (const [name, run] of Object.entries({ refused, allowed, stopped })) {
    const wrong = faults(run.sent, run.received);
    check(`every message is valid (${name})`, run.sent.length > 3 && wrong.length === 0, wrong[0] ?? '');
  }
  check('the judge of messages finds faults', faults([{ jsonrpc: '2.0', id: 1, method: 'session/prompt', params: { sessionId: 's' } }], []).length === 1);
  const gone = await work([`${sdk}/none.js`], ['mend it']);
  check('an agent that is not there is told', gone.status === 1 && /ended: its program ended/.test(gone.out), gone.out.slice(-300));
}, 120000);
