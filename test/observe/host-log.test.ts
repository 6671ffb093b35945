import t from 'tap';
import type { Event, RequestEvent } from '../../src/base/events.ts';
import { newRequestEvent } from '../../src/listen/request-event.ts';
import { observerFor } from '../../src/observe/host-log.ts';
import { requestLine } from '../../src/observe/log.ts';

/** What the logger of a host program gets of these events. */
function logged(...events: readonly Event[]): readonly object[] {
  const lines: object[] = [];
  const write = (fields: object, msg: string) => void lines.push({ ...fields, msg });
  for (const event of events) observerFor({ info: write, warn: write, error: write })(event);
  return lines;
}

const REQUEST: RequestEvent = {
  ...newRequestEvent('r-1', 'GET', 0),
  path: '/a',
  route: '/',
  credential: 'token',
  status: 200,
  durationMs: 1.23,
};

t.test("a host's logger gets of a request what bearerd's own line has", async (t) => {
  const more: Partial<RequestEvent> = {
    caller: 'ada',
    code: 'rate-limited',
    limitedBy: 'caller',
    aborted: true,
    closedBy: 'idle-timeout',
    scrubbed: true,
    trace: { traceId: 'a1', spanId: 'b2' },
  };
  for (const event of [REQUEST, { ...REQUEST, caller: '' }, { ...REQUEST, ...more }]) {
    const { level: _, ...line } = JSON.parse(requestLine(event, '')) as Record<string, unknown>;
    t.same(logged(event), [line]);
  }
});

t.test("a host's logger is told once of a sink that keeps failing", async (t) => {
  const failed = (again: boolean) =>
    ({ type: 'sink-failed', sink: '/run/token', code: 'EACCES', again }) as const;
  t.equal(logged(failed(false), failed(true), failed(true)).length, 1);
});
